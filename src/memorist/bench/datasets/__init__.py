"""Judged data for the bench: read from disk in one of three layouts, or fetched by name."""

from __future__ import annotations

from pathlib import Path

from memorist.bench.datasets import beir, conversations, known
from memorist.bench.datasets.known import KNOWN, KnownSet, fetch
from memorist.bench.datasets.reading import (
    broken,
    checksum,
    dataset,
    from_space,
    json_document,
    load_space,
    objects,
    read,
)
from memorist.bench.model import Dataset
from memorist.errors import InvalidInput

__all__ = ["KNOWN", "KnownSet", "fetch", "fetched_sets", "from_space", "load"]


def load(where: str | Path, *, qrels: str | None = None) -> Dataset:
    """A folder in BEIR's layout, LoCoMo's or LongMemEval's own file, a space's file, or a known public set by its name.

    What exists on disk goes before a name; `qrels` names another file of judgements in a BEIR folder.
    """
    path = Path(where)
    if path.is_dir():
        return beir.load(path, qrels=qrels)
    if path.is_file():
        return load_space(path) if _is_space(path) else _load_file(path)
    if str(where) in known.KNOWN:
        return load(fetch(str(where), fetched_sets()))
    raise InvalidInput(
        f"There is no dataset at {path}",
        remedy=f"Give a folder, a JSON file, or one of the known sets: {', '.join(known.KNOWN)}.",
    )


def fetched_sets() -> Path:
    """The folder that known sets are fetched into."""
    from platformdirs import user_cache_path

    return user_cache_path("memorist") / "datasets"


def _is_space(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _load_file(path: Path) -> Dataset:
    content = read(path)
    records = objects(json_document(path, content), str(path))
    keys = set(records[0].values) if records else set[str]()
    if "haystack_sessions" in keys:
        groups = conversations.longmemeval_groups(records)
    elif {"conversation", "qa"} <= keys:
        groups = conversations.locomo_groups(records)
    else:
        raise broken(path, "this is neither LoCoMo's nor LongMemEval's list of records")
    return dataset(path.stem, groups, checksum([content]), path)

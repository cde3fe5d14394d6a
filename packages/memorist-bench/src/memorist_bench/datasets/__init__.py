"""Datasets of the bench: read from disk in one of four layouts or from a space, or downloaded by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from memorist.engine.open import open_store
from memorist.errors import InvalidInput
from memorist.model import Filter, Kind, Memory, isoformat
from memorist.upkeep.feedback import JudgedRecall, judged_recalls
from memorist_bench.cache import default_folder
from memorist_bench.datasets import beir, conversations, known
from memorist_bench.datasets.known import KNOWN, KnownSet, fetch
from memorist_bench.datasets.reading import checksum, dataset, json_document, read_bytes
from memorist_bench.model import Dataset, Document, Group, Question
from memorist_import.rows import fields, invalid_data, objects

__all__ = ["KNOWN", "KnownSet", "fetch", "fetched_sets", "from_space", "load"]


def load(where: str | Path, *, qrels: str | None = None) -> Dataset:
    """A folder in BEIR's layout or of worlds, a LoCoMo, LongMemEval or world file, a space, or a known set by name.

    A path that exists takes precedence over a name; `qrels` selects another file of judgements in a BEIR folder.
    """
    path = Path(where)
    if path.is_dir():
        worlds = [] if (path / beir.CORPUS).exists() else sorted(path.glob(WORLDS))
        return _load_worlds(path.resolve().name, worlds, path) if worlds else beir.load_beir(path, qrels=qrels)
    if path.is_file():
        return _load_space(path) if _is_space(path) else _load_file(path)
    if str(where) in known.KNOWN:
        return load(fetch(str(where), fetched_sets()))
    raise InvalidInput(
        f"There is no dataset at {path}",
        remedy=f"Pass a folder, a JSON file, or one of the known sets: {', '.join(known.KNOWN)}.",
    )


def fetched_sets() -> Path:
    """The folder of downloaded sets."""
    return default_folder() / "datasets"


def _is_space(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


WORLDS = "world-*.json"


def _load_worlds(name: str, files: Sequence[Path], path: Path) -> Dataset:
    """Each file is a group."""
    contents = [read_bytes(file) for file in files]
    groups = [
        conversations.world_group(file.stem, fields(json_document(file, content), str(file)))
        for file, content in zip(files, contents, strict=True)
    ]
    return dataset(name, groups, checksum(contents), path)


def _load_file(path: Path) -> Dataset:
    content = read_bytes(path)
    document = json_document(path, content)
    if isinstance(document, dict):
        return _load_worlds(path.stem, [path], path)
    records = objects(document, str(path))
    keys = set(records[0].values) if records else set[str]()
    if "haystack_sessions" in keys:
        groups = conversations.longmemeval_groups(records)
    elif {"conversation", "qa"} <= keys:
        groups = conversations.locomo_groups(records)
    else:
        raise invalid_data(path, "this is neither a LoCoMo nor a LongMemEval file")
    return dataset(path.stem, groups, checksum([content]), path)


EVERYTHING = 10_000_000
TOLD = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL)
"""Kinds of memories that somebody told; derived memories are derived again."""


def _load_space(path: Path) -> Dataset:
    """The memories of a space, judged by the feedback on recalls."""
    store = open_store(str(path), None)
    try:
        page = store.scan(Filter(kinds=TOLD), EVERYTHING)
        memories = [memory for memory in page.items if memory.fact is None and memory.version_of is None]
        recalls = [recall for recall in judged_recalls(store) if recall.useful]
    finally:
        store.close()
    if not recalls:
        raise InvalidInput(f"{path} has no feedback on recalls", remedy="Give some: feedback(id, 'useful', recall).")
    return from_space(path.stem, memories, recalls)


def from_space(name: str, memories: Iterable[Memory], recalls: Iterable[JudgedRecall]) -> Dataset:
    """One group with all memories, in the order they were told; recalls whose useful memories are gone are left out."""
    told = sorted(memories, key=lambda memory: (memory.times.ingested_at, memory.origin.position or 0, memory.id))
    ids = {memory.id for memory in told}
    questions = tuple(
        Question(f"recall-{number}", recall.query, {id: 1.0 for id in sorted(recall.useful & ids)}, at=recall.at)
        for number, recall in enumerate(recalls, 1)
        if recall.useful & ids
    )
    group = Group(name, tuple(_document(memory) for memory in told), questions)
    return dataset(name, [group], checksum(_content(group)), None)


def _document(memory: Memory) -> Document:
    return Document(memory.id, memory.text, memory.times.ingested_at, memory.origin.speaker, memory.origin.session)


def _content(group: Group) -> Iterable[bytes]:
    for document in group.documents:
        yield _line(document.id, document.text, document.at, document.speaker, document.session)
    for question in group.questions:
        yield _line(question.id, question.text, question.at, *question.gold)


def _line(*parts: str | datetime | None) -> bytes:
    written = [isoformat(part) if isinstance(part, datetime) else part for part in parts]
    return json.dumps(written, ensure_ascii=False).encode() + b"\n"

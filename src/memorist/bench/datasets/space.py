"""A user's own memories as a dataset, judged by what they found useful."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from memorist.bench.datasets.reading import checksum, dataset
from memorist.bench.model import Dataset, Document, Group, Question
from memorist.errors import InvalidInput
from memorist.model import Filter, Kind, Memory, isoformat
from memorist.opening import open_store
from memorist.upkeep.feedback import JudgedRecall, judged

EVERYTHING = 10_000_000


TOLD = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL)
"""Kinds that somebody told; what is derived from them is derived again."""


def load_space(path: Path) -> Dataset:
    """The memories of a file, judged by the feedback that was given on recalls."""
    store = open_store(str(path), None)
    try:
        page = store.scan(Filter(kinds=TOLD), EVERYTHING)
        memories = [one for one in page.items if one.fact is None and one.version_of is None]
        recalls = [one for one in judged(store) if one.useful]
    finally:
        store.close()
    if not recalls:
        raise InvalidInput(
            f"{path} has no feedback on a recall to judge by", remedy="Give some: feedback(id, 'useful', recall)."
        )
    return from_space(path.stem, memories, recalls)


def from_space(name: str, memories: Iterable[Memory], recalls: Iterable[JudgedRecall]) -> Dataset:
    """One group of all memories in the order they were told; a recall whose useful ones are gone is left out."""
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
    for one in group.documents:
        yield _line(one.id, one.text, one.at, one.speaker, one.session)
    for one in group.questions:
        yield _line(one.id, one.text, one.at, *one.gold)


def _line(*parts: str | datetime | None) -> bytes:
    written = [isoformat(part) if isinstance(part, datetime) else part for part in parts]
    return json.dumps(written, ensure_ascii=False).encode() + b"\n"

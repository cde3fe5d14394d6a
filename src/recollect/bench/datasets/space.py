"""A user's own memories as a dataset, judged by what they found useful."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.bench.datasets.reading import checksum, dataset
from recollect.bench.model import Dataset, Document, Group, Question
from recollect.model import Memory, isoformat


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A question that was once asked, when, and the ids of the memories that turned out useful."""

    query: str
    at: datetime
    useful: frozenset[str]


def from_space(name: str, memories: Iterable[Memory], judged: Iterable[JudgedRecall]) -> Dataset:
    """One group of all memories in the order they were told; a recall whose useful ones are gone is left out."""
    told = sorted(memories, key=lambda memory: (memory.times.ingested_at, memory.origin.position or 0, memory.id))
    ids = {memory.id for memory in told}
    questions = tuple(
        Question(f"recall-{number}", recall.query, {id: 1.0 for id in sorted(recall.useful & ids)}, at=recall.at)
        for number, recall in enumerate(judged, 1)
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

"""Encoding a batch: everything that can be computed before a store takes its write lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.model import Memory, follows
from memorist.ports import Batch, Vectors
from memorist.stores.index import half_precision
from memorist.stores.rows import Stored, memory_row
from memorist.stores.rules import next_version
from memorist.text.words import analyse

P = TypeVar("P")
Pack = Callable[[NDArray[np.float16]], P]
"""Turns a vector into the value that a database takes."""


class EncodedMemory(NamedTuple, Generic[P]):
    """A memory ready to be written: its columns, and its vectors by view."""

    memory: Memory
    views: Vectors
    columns: Mapping[str, Any]
    vectors: Mapping[str, P]


class EncodedBatch(NamedTuple, Generic[P]):
    """A batch ready to be written."""

    batch: Batch
    put: list[EncodedMemory[P]]
    revised: list[EncodedMemory[P]]


def encode(batch: Batch, pack: Pack[P], draft: EncodedBatch[P] | None = None) -> EncodedBatch[P]:
    """Encode a batch; memories that are the same in an encoded draft are taken from there."""
    ready = {} if draft is None else {item.memory.id: item for item in (*draft.put, *draft.revised)}

    def encoded(memory: Memory) -> EncodedMemory[P]:
        views, known = batch.vectors.get(memory.id, {}), ready.get(memory.id)
        same = known is not None and (known.memory is memory or known.memory == memory)
        if known is not None and same and (known.views is views or not (known.views or views)):
            return known
        return encode_memory(memory, views, pack)

    return EncodedBatch(batch, list(map(encoded, batch.memories)), list(map(encoded, batch.revised)))


def encode_memory(memory: Memory, views: Vectors, pack: Pack[P]) -> EncodedMemory[P]:
    """Analyse a memory's words and pack its vectors."""
    original = None if memory.original is None else analyse(memory.original)
    columns = memory_row(memory, analyse(*memory.worded), original)
    return EncodedMemory(memory, views, columns, {view: pack(half_precision(one)) for view, one in views.items()})


def pack_all(vectors: Mapping[str, Vectors], pack: Pack[P]) -> dict[str, dict[str, P]]:
    """Pack vectors by memory and view."""
    return {id: {view: pack(half_precision(vector)) for view, vector in views.items()} for id, views in vectors.items()}


class Archived(NamedTuple):
    """A row that becomes history in place, and the id that it had."""

    row: int
    past: Memory
    id: str


class Inserted(NamedTuple, Generic[P]):
    """A new row; `first` if there is no earlier version."""

    row: int
    memory: Memory
    item: EncodedMemory[P]
    first: bool


class PutPlan(NamedTuple, Generic[P]):
    """The steps of a put, in order: archive, then insert. `answers` are the memories afterwards."""

    archived: list[Archived]
    inserted: list[Inserted[P]]
    answers: list[Memory]
    rows: dict[str, int]
    """The row of each memory that was put."""


def plan_put(items: Sequence[EncodedMemory[P]], known: Mapping[str, Stored], last: int) -> PutPlan[P]:
    """Insert new memories after the last row, archive those that have a new version, and keep the others.

    A text that is replaced in the same batch is archived as soon as it is inserted.
    """
    current = dict(known)
    plan = PutPlan[P]([], [], [], {})
    for item in items:
        old = current.get(item.memory.id)
        if old is None or follows(old.memory, item.memory):
            memory = item.memory if old is None else next_version(old.memory, item.memory)
            if old is not None:
                plan.archived.append(Archived(old.row, old.memory.archived(memory), old.memory.id))
            last += 1
            current[memory.id] = Stored(last, memory)
            plan.inserted.append(Inserted(last, memory, item, first=old is None))
        stored = current[item.memory.id]
        plan.rows[stored.memory.id] = stored.row
        plan.answers.append(stored.memory)
    return plan

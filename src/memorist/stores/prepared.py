"""What a write needs, computed before any lock is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.model import Memory
from memorist.ports import Batch
from memorist.stores.index import entry_of
from memorist.stores.rows import Row, columns_of

T = TypeVar("T")
Pack = Callable[[NDArray[np.float16]], T]
"""A vector as a database takes it."""


class Prepared(NamedTuple, Generic[T]):
    """A memory ready to be written: its columns and its vectors."""

    memory: Memory
    columns: Row
    vectors: Mapping[str, T]


class Ready(NamedTuple, Generic[T]):
    """A batch with everything computed that needs no lock."""

    batch: Batch
    put: list[Prepared[T]]
    revised: list[Prepared[T]]


def prepared(batch: Batch, pack: Pack[T]) -> Ready[T]:
    """A batch ready to be written."""
    put = [prepared_memory(memory, batch.vectors.get(memory.id, {}), pack) for memory in batch.memories]
    revised = [prepared_memory(memory, batch.vectors.get(memory.id, {}), pack) for memory in batch.revised]
    return Ready(batch, put, revised)


def prepared_memory(memory: Memory, vectors: Mapping[str, NDArray[Any]], pack: Pack[T]) -> Prepared[T]:
    """A memory ready to be written."""
    entry = entry_of(memory, vectors)
    return Prepared(memory, columns_of(memory, entry), {view: pack(one) for view, one in entry.vectors.items()})

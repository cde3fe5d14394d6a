"""What putting memories changes: new rows, and rows that become history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from memorist.model import Memory
from memorist.stores.common import next_version
from memorist.stores.prepared import Prepared
from memorist.stores.rows import Stored

T = TypeVar("T")


class Archived(NamedTuple):
    """A row that becomes history where it stands, and the id it had."""

    row: int
    past: Memory
    id: str


class New(NamedTuple, Generic[T]):
    """A new row; `first` where no version came before it."""

    row: int
    memory: Memory
    item: Prepared[T]
    first: bool


class Putting(NamedTuple, Generic[T]):
    """What a put does, in order: archive, then insert; `answers` are the memories as they are then."""

    archived: list[Archived]
    new: list[New[T]]
    answers: list[Memory]
    rows: dict[str, int]
    """The row of each memory that was put."""


def putting(items: Sequence[Prepared[T]], known: Mapping[str, Stored], last: int) -> Putting[T]:
    """Insert what is new after the last row, archive what has another text, keep what is the same.

    A text that is replaced in the same batch is archived as soon as it is inserted.
    """
    current = dict(known)
    done = Putting[T]([], [], [], {})
    for item in items:
        old = current.get(item.memory.id)
        if old is None or old.memory.text != item.memory.text:
            memory = item.memory if old is None else next_version(old.memory, item.memory)
            if old is not None:
                done.archived.append(Archived(old.row, old.memory.archived(memory), old.memory.id))
            last += 1
            current[memory.id] = Stored(last, memory)
            done.new.append(New(last, memory, item, first=old is None))
        stored = current[item.memory.id]
        done.rows[stored.memory.id] = stored.row
        done.answers.append(stored.memory)
    return done

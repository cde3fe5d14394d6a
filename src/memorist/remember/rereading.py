"""What a write read before it took the lock, read again inside it: what was forgotten meanwhile stays forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from memorist.errors import StoreBusy
from memorist.model import Entity, Memory
from memorist.ports import Entry, Reader
from memorist.remember.journal import EVERY_ENTRY

R = TypeVar("R")
ATTEMPTS = 5
"""How often a write is begun while others change what it is made from."""


class ChangedMeanwhile(StoreBusy):
    """Others changed or forgot what a write was made from; nothing was written."""

    def __init__(self, id: str) -> None:
        super().__init__(f"{id!r} was changed by somebody else meanwhile", remedy="Do it again.")


def until_current(write: Callable[[], R]) -> R:
    """Read and write; if others change what was read before it is written, do both again."""
    for _ in range(ATTEMPTS - 1):
        with suppress(ChangedMeanwhile):
            return write()
    return write()


def is_as_read(memory: Memory, reader: Reader) -> bool:
    """Whether a memory is still in the store as it was read; how often it was recalled does not count."""
    now = reader.get([memory.id]).get(memory.id)
    return now is not None and replace(now, usage=memory.usage) == memory


def check_as_read(memories: Iterable[Memory], reader: Reader) -> None:
    """Refuse to write what was made from memories that others have changed or forgotten since."""
    read = {memory.id: memory for memory in memories}
    now = reader.get(list(read)) if read else {}
    for id, one in read.items():
        if id not in now or replace(now[id], usage=one.usage) != one:
            raise ChangedMeanwhile(id)


def check_names(entities: Iterable[Entity], reader: Reader) -> None:
    """Refuse to write names that were read in the store and forgotten since."""
    read = {entity.id: entity for entity in entities}
    now = {entity.id: {entity.name, *entity.aliases} for entity in reader.entities_by_id(list(read))} if read else {}
    for id, one in read.items():
        if not now.get(id, set[str]()).issuperset((one.name, *one.aliases)):
            raise ChangedMeanwhile(id)


def check_entries(entries: Iterable[Entry], reader: Reader) -> None:
    """Refuse to undo entries of the journal that others have undone, or whose text was forgotten since."""
    for entry in entries:
        if entry not in reader.journal(entry.verb, entry.subjects[0], EVERY_ENTRY):
            raise ChangedMeanwhile(entry.id)

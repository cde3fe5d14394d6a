"""A store behind its gates, as the keeper uses them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Unpack

from memorist.model import Filter, Memory, Remembered
from memorist.ports import Batch, Entry
from memorist.remember.gates import Gates, Policy
from memorist.remember.journal import entry_called, mark_undone, reversal, reversible, withheld_from_data
from memorist.remember.record import Fields, record
from memorist.remember.writer import Writer
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock


class Guarded:
    """Keeps texts through the gates, with their decisions, by the writer."""

    def __init__(self, **policy: Any) -> None:
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.gates = Gates(Policy(**policy), self.clock)

    def keep(self, text: str, **fields: Unpack[Fields]) -> Remembered:
        """What `remember` would return for a text."""
        return self.keep_all([record(text, self.clock.advance(timedelta(minutes=1)), **fields)])[0]

    def keep_all(self, memories: list[Memory]) -> list[Remembered]:
        """The same for a batch."""
        return Writer(self.store, None, self.gates, extract=False).keep(memories).memories

    def texts(self) -> list[str]:
        """All that is kept, in order."""
        return [memory.text for memory in self.store.scan(Filter(), 1000).items]

    def decisions(self) -> list[Entry]:
        """What the gates decided, oldest first."""
        return self.store.journal("gate")[::-1]

    def undo(self, id: str) -> None:
        """Take a decision back."""
        entry = entry_called(self.store, id)
        reversible(entry)
        if "memory" in entry.data:
            memory = withheld_from_data(entry.data["memory"])
            self.store.put(Batch(memories=[memory], journal=[mark_undone(entry, self.clock.now())]))
        else:
            self.store.update(lambda reader: reversal(entry, reader, self.clock.now()))

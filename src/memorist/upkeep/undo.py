"""Undo: whatever the journal tells of can be taken back, one decision or a whole run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from memorist.errors import InvalidInput
from memorist.model import Memory
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.fact_rows import Slot, claim_from_data
from memorist.remember.fact_updates import settle
from memorist.remember.journal import UNDONE, entry_called, reversal, reversible, undone, withheld_from_data

RUN = "run"
"""Where an entry names the run it belongs to, which can be undone as a whole."""
CLAIM, SLOT = "claim", "slot"
"""Where an entry keeps what it claimed, and of what."""
EVERY_ENTRY = 1_000_000
Keep = Callable[[Memory], object]
"""Keeps a memory that a gate had held back."""


def undo(store: Store, id: str, now: datetime, keep: Keep) -> Entry:
    """Take back an entry of the journal, or all entries of a run, the last one first; returns what was undone."""
    run = [entry for entry in store.journal(limit=EVERY_ENTRY) if entry.data.get(RUN) == id]
    if not run:
        entry = entry_called(store, id)
        _undo(store, entry, now, keep)
        return entry
    left = [entry for entry in run if UNDONE not in entry.data]
    if not left:
        raise InvalidInput(f"The run {id!r} was undone already", remedy="There is nothing left to undo.")
    store.update(lambda reader: _Backwards(reader, now).batch(left))
    subjects = tuple(dict.fromkeys(subject for entry in left for subject in entry.subjects))
    return Entry(id, now, left[0].verb, subjects, {"reason": f"{len(left)} changes of {left[0].verb}"})


def _undo(store: Store, entry: Entry, now: datetime, keep: Keep) -> None:
    reversible(entry)
    if "memory" in entry.data:
        keep(withheld_from_data(entry.data["memory"]))
        store.put(Batch(journal=[undone(entry, now)]))
    elif CLAIM in entry.data:
        store.update(lambda reader: _without_claim(entry, reader, now))
    else:
        store.update(lambda reader: reversal(entry_called(reader, entry.id), reader, now))


class _Backwards:
    """Takes back entries one after another, each from what the one before has left, in one write."""

    def __init__(self, reader: Reader, now: datetime) -> None:
        self._reader = reader
        self._now = now
        self._changed: dict[str, Memory] = {}

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Memories as they are by now."""
        known = self._reader.get([id for id in ids if id not in self._changed])
        return {**known, **{id: self._changed[id] for id in ids if id in self._changed}}

    def batch(self, entries: Sequence[Entry]) -> Batch:
        """All of them together."""
        steps = [self._step(entry) for entry in entries]
        counted = {id for step in steps for id in step.usage}
        return Batch(
            revised=list(self._changed.values()),
            usage={id: one.usage for id, one in self._changed.items() if id in counted and one.usage is not None},
            links=[link for step in steps for link in step.links],
            unlinked=[link for step in steps for link in step.unlinked],
            journal=[entry for step in steps for entry in step.journal],
        )

    def _step(self, entry: Entry) -> Batch:
        step = reversal(entry, self, self._now)
        self._changed |= {memory.id: memory for memory in step.revised}
        for id, usage in step.usage.items():
            self._changed[id] = replace(self.get([id])[id], usage=usage)
        return step


def _without_claim(entry: Entry, reader: Reader, now: datetime) -> Batch:
    slot, claim = Slot(**entry.data[SLOT]), claim_from_data(entry.data[CLAIM])
    change = settle({slot: ()}, reader, amend=lambda known: None if known == claim else known)
    return replace(change.batch(reader), journal=[undone(entry, now)])

"""Changes to a store: planned, checked as they are written, journalled, and undone.

`audit`, `tidy`, `feedback` and `invalidate` all write through here, so that one `undo` takes any of them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from memorist.errors import InvalidInput
from memorist.model import Filter, Memory, Usage, fingerprint, from_data
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.fact_rows import Slot
from memorist.remember.fact_updates import settle
from memorist.remember.journal import (
    EVERY_ENTRY,
    FINAL,
    SYNC,
    UNDONE,
    WITHHELD,
    changes,
    entry_called,
    links_made,
    links_removed,
    mark_undone,
    reversal,
    reversible,
    usages,
    withheld_from_data,
)
from memorist.remember.timeline import Claim
from memorist.results.upkeep import Change

T = TypeVar("T")
RUN = "run"
"""The key under which an entry names the run it belongs to; a run can be undone as a whole."""
SLEEP, CONSOLIDATE = "sleep", "consolidate"
"""A run of several verbs, and the verb whose entries are about notes, not about changes of memories."""
CLAIM, SLOT = "claim", "slot"
"""The keys under which an entry keeps a claim that it made, and the slot of that claim."""
Keep = Callable[[Memory, Entry, Entry], object]
"""Stores a memory that a gate had withheld, with the entry that withheld it, before and after."""


def batch_of(change: Change, entry: Entry) -> Batch:
    """A change as a batch; its journal entry is `entry` with what `undo` needs."""
    usage = {after.id: after.usage for before, after in change.pairs if after.usage and after.usage != before.usage}
    return Batch(
        revised=[after for _, after in change.pairs],
        usage=usage,
        links=change.linked,
        unlinked=change.unlinked,
        vectors=change.vectors,
        journal=[replace(entry, data={**entry.data, **_undo_data(change)})],
    )


def _undo_data(change: Change) -> dict[str, Any]:
    if change.final is not None:
        return {FINAL: change.final}
    return {
        **changes(change.pairs),
        **usages(change.pairs),
        **(links_made(change.linked) if change.linked else {}),
        **(links_removed(change.unlinked) if change.unlinked else {}),
    }


class PendingWrite:
    """Batches that a store will write as one; each is planned on the memories as the previous ones leave them."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._known: dict[str, Memory] = {}
        self._batches: list[Batch] = []

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids as they will be; unknown ids are left out."""
        missing = [id for id in ids if id not in self._known]
        if missing:
            self._known |= self.reader.get(missing)
        return {id: self._known[id] for id in ids if id in self._known}

    def allows(self, change: Change) -> bool:
        """Whether the memories of a change are still as they were when it was planned."""
        now = self.get([before.id for before, _ in change.pairs])
        return all(now.get(before.id) == before for before, _ in change.pairs)

    def add(self, batch: Batch) -> None:
        """Add revised memories, usage, links, vectors and journal entries."""
        self._batches.append(batch)
        self._known |= {memory.id: memory for memory in batch.revised}
        for id, usage in batch.usage.items():
            self._known[id] = replace(self.get([id])[id], usage=usage)

    def batch(self) -> Batch:
        """Everything that was added, as one batch."""
        steps = self._batches
        counted = {id for step in steps for id in step.usage}
        ids = {memory.id: None for step in steps for memory in step.revised} | dict.fromkeys(counted)
        usage: dict[str, Usage] = {id: used for id in counted if (used := self._known[id].usage) is not None}
        return Batch(
            revised=[self._known[id] for id in ids],
            usage=usage,
            links=[link for step in steps for link in step.links],
            unlinked=[link for step in steps for link in step.unlinked],
            vectors={id: views for step in steps for id, views in step.vectors.items()},
            journal=[entry for step in steps for entry in step.journal],
        )


def write(store: Store, plan: Callable[[PendingWrite], T]) -> T:
    """Run a plan inside one write of the store, which may run it again; returns what the plan returns."""
    outcome: list[T] = []

    def planned(reader: Reader) -> Batch:
        pending = PendingWrite(reader)
        outcome[:] = [plan(pending)]
        return pending.batch()

    store.update(planned)
    return outcome[0]


def apply_changes(
    store: Store, planned: Sequence[Change], verb: str, now: datetime, run: str | None = None
) -> tuple[tuple[Change, ...], str]:
    """Write the changes whose memories are still as planned; returns those changes and the id of the run.

    They may be part of a greater `run`.
    """
    run = run or fingerprint(verb, now, [change.subjects for change in planned])

    def plan(pending: PendingWrite) -> tuple[Change, ...]:
        pending.get(list({id for change in planned for id in change.subjects}))
        made: list[Change] = []
        for change in planned:
            if pending.allows(change):
                data = {RUN: run, "rule": change.rule, "reason": f"{change.id} {change.reason}"}
                entry = Entry(fingerprint(run, len(made)), now, verb, change.subjects, data)
                pending.add(batch_of(change, entry))
                made.append(change)
        return tuple(made)

    return write(store, plan), run


def undo(
    store: Store, id: str, now: datetime, keep: Keep, cut_notes: Callable[[Sequence[str]], object] = lambda runs: None
) -> Entry:
    """Undo one entry of the journal, or every entry of a run, the newest first; returns what was undone.

    `cut_notes` removes the notes that a run wrote.
    """
    runs = id.split()  # a tidying is one run per classification
    run = [entry for entry in store.journal(limit=EVERY_ENTRY) if entry.data.get(RUN) in runs]
    if run:
        entries = [entry for entry in run if UNDONE not in entry.data]
        if any(entry.verb == CONSOLIDATE for entry in entries):
            cut_notes(runs)
        return _undo_run(store, id, entries, now)
    entry = entry_called(store, id)
    reversible(entry)
    if WITHHELD in entry.data:
        keep(withheld_from_data(entry.data[WITHHELD]), entry, mark_undone(entry, now))
    else:
        _reverse(store, [entry], now)
    return entry


def _undo_run(store: Store, run: str, entries: Sequence[Entry], now: datetime) -> Entry:
    if not entries:
        raise InvalidInput(f"Run {run!r} was undone already", remedy="There is nothing left to undo.")
    _reverse(store, [entry for entry in entries if entry.verb != CONSOLIDATE], now)
    verbs, subjects = {entry.verb for entry in entries}, (subject for entry in entries for subject in entry.subjects)
    verb = SLEEP if len(verbs) > 1 else entries[0].verb
    return Entry(run, now, verb, tuple(dict.fromkeys(subjects)), {"reason": f"{len(entries)} changes of {verb}"})


def _reverse(store: Store, entries: Sequence[Entry], now: datetime) -> None:
    """Reverse entries in one write, as the journal has them then: an entry cannot be undone twice."""

    def plan(reader: Reader) -> Batch:
        pending = PendingWrite(reader)
        journal = {entry.id: entry for entry in reader.journal(limit=EVERY_ENTRY)}
        there = [journal.get(entry.id, entry) for entry in entries]
        for entry in there:
            pending.add(reversal(entry, pending, now))
        return _without_claims([entry for entry in there if CLAIM in entry.data], pending.batch(), reader)

    store.update(plan)


def _without_claims(entries: Sequence[Entry], batch: Batch, reader: Reader) -> Batch:
    """The batch, with the facts settled without the claims that these entries made."""
    if not entries:
        return batch
    slots = {Slot(**entry.data[SLOT]): () for entry in entries}
    claims = [from_data(Claim, entry.data[CLAIM]) for entry in entries]
    settled = settle(slots, reader, amend=lambda known: None if known in claims else known)
    facts = settled.batch(reader, batch)
    return replace(facts, revised=[*batch.revised, *facts.revised])


def end_memory(memory: Memory, at: datetime, now: datetime, superseded_by: str | None = None) -> Memory:
    """The memory, no longer valid after `at`, as known from `now` on; `include_expired` still finds it."""
    times = memory.times  # a clock may have gone back since
    times = replace(times, valid_to=max(at, times.valid_from), expired_at=max(now, times.ingested_at))
    return replace(memory, times=times, superseded_by=superseded_by or memory.superseded_by)


def retract_memory(memory: Memory, now: datetime, superseded_by: str | None = None) -> Memory:
    """The memory, hidden from every recall from `now` on; it stays in the store and in its history."""
    times = replace(memory.times, retracted_at=max(now, memory.times.ingested_at))
    return replace(memory, times=times, superseded_by=superseded_by or memory.superseded_by)


def every_page(store: Store, where: Filter, size: int) -> Iterator[tuple[Memory, ...]]:
    """All memories that a filter admits, in pages of this size, oldest first."""
    cursor = None
    while True:
        page = store.scan(where, size, cursor)
        yield page.items
        if (cursor := page.cursor) is None:
            return


def journal_page(
    store: Store, verb: str | None, subject: str | None, limit: int, cursor: str | None, since: datetime | None
) -> list[Entry]:
    """Entries of the journal, newest first: those after the entry `cursor`, if given, and not before `since`."""
    asked = limit + 1
    while True:
        read = store.journal(verb, subject, asked)
        place = next((place for place, one in enumerate(read, 1) if one.id == cursor), 0 if cursor is None else None)
        after = [] if place is None else read[place:]
        shown = [entry for entry in after if entry.verb != SYNC or verb == SYNC]
        chosen = [entry for entry in shown if since is None or entry.at >= since]
        if len(chosen) >= limit or len(read) < asked or asked == EVERY_ENTRY:
            if place is None:
                raise InvalidInput(f"The journal has no entry {cursor!r}", remedy="Give `cursor` the id of an entry.")
            return chosen[:limit]
        asked = min(EVERY_ENTRY, asked * 4)

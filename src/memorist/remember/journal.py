"""The journal's form of memories and of changes to them, and how a change is undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Protocol, cast

from memorist.errors import InvalidInput, NotFound, Remedy, VerbCall
from memorist.model import (
    Fields,
    GateDecision,
    Link,
    Memory,
    Usage,
    bare_name,
    fields_of,
    fingerprint,
    from_data,
    instant,
    isoformat,
    keywords_of,
    mark_name,
    to_data,
)
from memorist.model.memory import RANGES, RECALL_TIMES_KEPT
from memorist.ports import Batch, Entry, Reader
from memorist.remember.record import record
from memorist.results.upkeep import difference

_KEPT_BY_REMEMBER = ("valid_from", *(name for name in keywords_of(Fields) if name in fields_of(Memory)))
"""The fields of a memory that `remember` takes from its caller."""


def withheld_to_data(memory: Memory) -> dict[str, Any]:
    """A memory that a gate withheld, as JSON: id, text, and each keyword of `remember` that is not at its default."""
    known = memory.times.ingested_at
    shown, usual = to_data(memory), to_data(record(memory.text, known))
    given = {name: shown[name] for name in _KEPT_BY_REMEMBER if shown[name] != usual[name]}
    return {"id": memory.id, "text": memory.text, "ingested_at": isoformat(known), **given}


def withheld_from_data(data: Mapping[str, Any]) -> Memory:
    """The inverse of `withheld_to_data`."""
    fields = dict(data)
    id, text, known = fields.pop("id"), fields.pop("text"), instant(fields["ingested_at"])
    said = fields.pop("valid_from", fields["ingested_at"])
    memory = record(text, known, **cast("Fields", fields))
    return replace(memory, id=id, times=replace(memory.times, valid_from=instant(said)))


def join_usage(one: Usage, other: Usage) -> Usage:
    """The recalls and rewards of both usages together."""
    return Usage(
        recalls=one.recalls + other.recalls,
        last_recall=max(filter(None, (one.last_recall, other.last_recall)), default=None),
        recall_times=tuple(sorted((*one.recall_times, *other.recall_times))[-RECALL_TIMES_KEPT:]),
        reward_count=one.reward_count + other.reward_count,
        reward_total=one.reward_total + other.reward_total,
    )


def taken_back(now: Usage, before: Usage, after: Usage) -> Usage:
    """A usage with a change undone; what was counted since then stays."""
    if now == after:
        return before
    since = tuple(time for time in now.recall_times if time not in after.recall_times)
    return Usage(
        recalls=max(0, now.recalls - after.recalls + before.recalls),
        last_recall=before.last_recall if now.last_recall == after.last_recall else now.last_recall,
        recall_times=(*before.recall_times, *since)[-RECALL_TIMES_KEPT:],
        reward_count=max(0, now.reward_count - after.reward_count + before.reward_count),
        reward_total=now.reward_total - after.reward_total + before.reward_total,
    )


CHANGES, LINKED, UNLINKED, USAGE, UNDONE = "changes", "linked", "unlinked", "usage", "undone"
"""Fields of an entry: changed memories, links made, links removed, changed usage, and when it was undone."""
WITHHELD = "memory"
"""The field of an entry that holds a memory which a gate withheld."""
FINAL = "final"
"""The field that says why an entry cannot be undone."""
_COUNTED = ("relevance", "confidence")
"""Numbers that several decisions change in turn; undoing one reverts its own change."""
EVERY_ENTRY = 1_000_000
SYNC = "sync"
"""The verb of entries about shared folders: they are about one database, and in no export."""


def restored(memory: Memory, difference: Mapping[str, Mapping[str, Any]]) -> Memory:
    """A memory with a change undone; fields that changed again since then stay."""
    before, after, now = difference["before"], difference["after"], to_data(memory)
    wanted = {name: value for name, value in before.items() if now[name] == after[name]}
    moved_on = before.keys() - wanted.keys()
    if "flags" in moved_on:
        wanted["flags"] = _flags(now["flags"], before["flags"], after["flags"])
    for name in moved_on.intersection(_COUNTED):
        low, high = RANGES[name]
        wanted[name] = min(high, max(low, now[name] - (after[name] - before[name])))
    return from_data(Memory, {**now, **wanted})


def _flags(now: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    added, removed = set(after) - set(before), set(before) - set(after)
    return [
        *(flag for flag in now if flag not in added),
        *(earlier for earlier in before if earlier in removed - set(now)),
    ]


def changes(pairs: Iterable[tuple[Memory, Memory]]) -> dict[str, Any]:
    """The part of an entry about the memories that it changed, given before and after."""
    return {CHANGES: {after.id: difference(before, after) for before, after in pairs}}


def links_made(links: Sequence[Link]) -> dict[str, Any]:
    """The part of an entry about the links that it made."""
    return {LINKED: [asdict(link) for link in links]}


def links_removed(links: Sequence[Link]) -> dict[str, Any]:
    """The part of an entry about the links that it removed."""
    return {UNLINKED: [asdict(link) for link in links]}


def usages(pairs: Iterable[tuple[Memory, Memory]]) -> dict[str, Any]:
    """The part of an entry about the usage that it changed, given as memories before and after."""
    changed = {
        after.id: to_data([before.usage, after.usage])
        for before, after in pairs
        if before.usage is not None and after.usage is not None and before.usage != after.usage
    }
    return {USAGE: changed} if changed else {}


def entry_called(reader: Reader, id: str) -> Entry:
    """The journal's entry with an id."""
    for entry in reader.journal(limit=EVERY_ENTRY):
        if entry.id == id:
            return entry
    raise NotFound(f"The journal has no entry {id!r}", remedy=Remedy("Look it up with ", VerbCall("journal"), "."))


def reversible(entry: Entry) -> None:
    """Refuse an entry that was undone already or cannot be undone."""
    if UNDONE in entry.data:
        raise InvalidInput(f"{entry.id!r} was undone at {entry.data[UNDONE]}", remedy="There is nothing left to undo.")
    if FINAL in entry.data:
        raise InvalidInput(
            f"{entry.id!r} cannot be undone: {entry.data[FINAL]}", remedy="Write it again if you need it."
        )
    if not entry.data.keys() & {CHANGES, LINKED, UNLINKED, USAGE, WITHHELD, "claim"}:
        raise InvalidInput(f"{entry.id!r} changed nothing", remedy="Choose an entry that changed a memory.")


def rename_entry(entry: Entry, before: str, after: str) -> Entry:
    """An entry about a memory that is written under another id."""
    subjects = tuple(after if id == before else id for id in entry.subjects)
    data = dict(entry.data)
    if before in data.get(CHANGES, ()):
        data[CHANGES] = {after if id == before else id: change for id, change in data[CHANGES].items()}
    return replace(entry, id=fingerprint(entry.id, after), subjects=subjects, data=data)


def rename_decision(decision: GateDecision, memory: Memory) -> GateDecision:
    """A decision about a memory that was written under another id, with its entry as `rename_entry` names it."""
    if decision.entry is None:
        return decision
    renamed = fingerprint(bare_name(decision.entry), memory.id)
    return replace(decision, entry=mark_name(renamed, memory.worth.classification))


def shared_entry(entry: Entry, id: str, other: str) -> Entry:
    """An entry about a memory that is also about another, which was changed alike."""
    if id not in entry.data.get(CHANGES, ()):
        return entry
    changed = {**entry.data[CHANGES], other: entry.data[CHANGES][id]}
    return replace(entry, subjects=(*entry.subjects, other), data={**entry.data, CHANGES: changed})


def mark_undone(entry: Entry, at: datetime) -> Entry:
    """The entry, marked as undone."""
    return replace(entry, data={**entry.data, UNDONE: isoformat(at)})


class MemoryLookup(Protocol):
    """Gives memories in their current state."""

    def get(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """The memories with these ids; unknown ids are left out."""
        ...


def reversal(entry: Entry, reader: MemoryLookup, at: datetime) -> Batch:
    """The batch that undoes an entry, for those of its memories that still exist."""
    reversible(entry)
    changed = cast("Mapping[str, Mapping[str, Mapping[str, Any]]]", entry.data.get(CHANGES, {}))
    there = reader.get(list(changed))
    return Batch(
        revised=[restored(memory, changed[id]) for id, memory in there.items()],
        usage=_usages(entry, reader),
        links=[Link(**link) for link in entry.data.get(UNLINKED, ())],
        unlinked=[Link(**link) for link in entry.data.get(LINKED, ())],
        journal=[mark_undone(entry, at)],
    )


def _usages(entry: Entry, reader: MemoryLookup) -> dict[str, Usage]:
    changed = cast("Mapping[str, Sequence[Mapping[str, Any]]]", entry.data.get(USAGE, {}))
    known = {id: memory.usage for id, memory in reader.get(list(changed)).items() if memory.usage is not None}
    return {id: taken_back(usage, *(from_data(Usage, data) for data in changed[id])) for id, usage in known.items()}

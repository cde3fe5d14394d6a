"""Changes that can be undone: what a memory was before and after, kept in the journal beside the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, Protocol, cast

from memorist.errors import InvalidInput, NotFound
from memorist.model import Link, Memory, Tier, Times, Usage, Worth, instant, isoformat
from memorist.model.memory import RANGES
from memorist.ports import Batch, Entry, Reader
from memorist.remember.usages import taken_back, usage_from_data, usage_to_data

CHANGES, LINKED, UNLINKED, USAGE, UNDONE = "changes", "linked", "unlinked", "usage", "undone"
"""Where an entry keeps what its memories and their usage were, the links it made and took out, and its undoing."""
FINAL = "final"
"""Says why an entry cannot be undone, where it cannot."""
_FIELDS = ("tier", "superseded_by")
_TIMES = tuple(field.name for field in fields(Times))
_WORTH = tuple(field.name for field in fields(Worth))
_COUNTED = ("relevance", "confidence")
"""What several decisions move one after another; each is taken back by as much as it moved."""
_EVERY_ENTRY = 1_000_000


def difference(before: Memory, after: Memory) -> dict[str, dict[str, Any]]:
    """What two states of a memory differ in, each state's own values, as JSON."""
    old, new = _flat(before), _flat(after)
    differing = [name for name in old if old[name] != new[name]]
    return {"before": {name: old[name] for name in differing}, "after": {name: new[name] for name in differing}}


def restored(memory: Memory, difference: Mapping[str, Mapping[str, Any]]) -> Memory:
    """A memory as it was before a change; what has changed again since then stays."""
    before, after, now = difference["before"], difference["after"], _flat(memory)
    wanted = {name: value for name, value in before.items() if now[name] == after[name]}
    moved_on = before.keys() - wanted.keys()
    if "flags" in moved_on:
        wanted["flags"] = _flags(now["flags"], before["flags"], after["flags"])
    for name in moved_on.intersection(_COUNTED):
        low, high = RANGES[name]
        wanted[name] = min(high, max(low, now[name] - (after[name] - before[name])))
    return _with(memory, wanted)


def _flags(now: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    added, removed = set(after) - set(before), set(before) - set(after)
    return [*(flag for flag in now if flag not in added), *(one for one in before if one in removed - set(now))]


def changes(pairs: Iterable[tuple[Memory, Memory]]) -> dict[str, Any]:
    """What an entry keeps of the memories it changed, given as before and after."""
    return {CHANGES: {after.id: difference(before, after) for before, after in pairs}}


def linked(links: Sequence[Link]) -> dict[str, Any]:
    """What an entry keeps of the links it made."""
    return {LINKED: [asdict(link) for link in links]}


def unlinked(links: Sequence[Link]) -> dict[str, Any]:
    """What an entry keeps of the links it took out."""
    return {UNLINKED: [asdict(link) for link in links]}


def usages(pairs: Iterable[tuple[Memory, Memory]]) -> dict[str, Any]:
    """What an entry keeps of the usage it changed, given as memories before and after."""
    changed = {
        after.id: [usage_to_data(before.usage), usage_to_data(after.usage)]
        for before, after in pairs
        if before.usage is not None and after.usage is not None and before.usage != after.usage
    }
    return {USAGE: changed} if changed else {}


def entry_called(reader: Reader, id: str) -> Entry:
    """The journal's entry with an id."""
    for entry in reader.journal(limit=_EVERY_ENTRY):
        if entry.id == id:
            return entry
    raise NotFound(f"The journal has no entry {id!r}", remedy="Look it up in the journal; erased memories leave it.")


def reversible(entry: Entry) -> None:
    """Refuse an entry that was undone already, or whose change is for good."""
    if UNDONE in entry.data:
        raise InvalidInput(f"{entry.id!r} was undone at {entry.data[UNDONE]}", remedy="There is nothing left to undo.")
    if FINAL in entry.data:
        raise InvalidInput(f"{entry.id!r} cannot be undone: {entry.data[FINAL]}", remedy="Write it again if you must.")
    if not entry.data.keys() & {CHANGES, LINKED, UNLINKED, USAGE, "memory", "claim"}:
        raise InvalidInput(f"{entry.id!r} changed nothing", remedy="Choose an entry that changed a memory.")


def undone(entry: Entry, at: datetime) -> Entry:
    """The entry, marked as undone."""
    return replace(entry, data={**entry.data, UNDONE: isoformat(at)})


class Known(Protocol):
    """What is asked of the store as it stands."""

    def get(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """The memories with these ids; unknown ids are left out."""
        ...


def reversal(entry: Entry, reader: Known, at: datetime) -> Batch:
    """The batch that takes an entry's change back, as far as its memories are still there."""
    reversible(entry)
    changed = cast("Mapping[str, Mapping[str, Mapping[str, Any]]]", entry.data.get(CHANGES, {}))
    there = reader.get(list(changed))
    return Batch(
        revised=[restored(memory, changed[id]) for id, memory in there.items()],
        usage=_usages(entry, reader),
        links=[Link(**link) for link in entry.data.get(UNLINKED, ())],
        unlinked=[Link(**link) for link in entry.data.get(LINKED, ())],
        journal=[undone(entry, at)],
    )


def _usages(entry: Entry, reader: Known) -> dict[str, Usage]:
    changed = cast("Mapping[str, Sequence[Mapping[str, Any]]]", entry.data.get(USAGE, {}))
    known = {id: memory.usage for id, memory in reader.get(list(changed)).items() if memory.usage is not None}
    return {id: taken_back(usage, *map(usage_from_data, changed[id])) for id, usage in known.items()}


def _flat(memory: Memory) -> dict[str, Any]:
    parts = [(memory, _FIELDS), (memory.times, _TIMES), (memory.worth, _WORTH)]
    return {name: _json(getattr(part, name)) for part, names in parts for name in names}


def _with(memory: Memory, values: Mapping[str, Any]) -> Memory:
    own: dict[str, Any] = {name: values[name] for name in _FIELDS if name in values}
    if "tier" in own:
        own["tier"] = Tier(own["tier"])
    times: dict[str, Any] = {name: values[name] and instant(values[name]) for name in _TIMES if name in values}
    worth: dict[str, Any] = {name: values[name] for name in _WORTH if name in values}
    worth |= {name: tuple(worth[name]) for name in ("emotion_tags", "flags") if name in worth}
    return replace(
        memory, **own, times=replace(memory.times, **times) if times else memory.times,
        worth=replace(memory.worth, **worth) if worth else memory.worth,
    )  # fmt: skip


def _json(value: object) -> object:
    if isinstance(value, datetime):
        return isoformat(value)
    if isinstance(value, Tier):
        return value.value
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value

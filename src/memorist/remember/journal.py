"""The journal's form of memories and of changes to them, and how a change is undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, Protocol, cast

from memorist.errors import InvalidInput, NotFound
from memorist.model import Link, Memory, Tier, Times, Usage, Worth, fingerprint, instant, isoformat
from memorist.model.memory import RANGES, RECALL_TIMES_KEPT
from memorist.ports import Batch, Entry, Reader
from memorist.remember.record import WORTH, Fields, record

_LISTS = ("emotion_tags", "flags")
_PLAIN = ("kind", "scope", "topic", "tier", "original")
_ORIGIN = ("source", "session", "position", "speaker", "key")


def withheld_to_data(memory: Memory) -> dict[str, Any]:
    """A memory that a gate withheld, as JSON: id, text, and each keyword of `remember` that is not at its default."""
    usual = _keywords(record(memory.text, memory.times.ingested_at))
    given = {name: value for name, value in _keywords(memory).items() if value != usual[name]}
    return {"id": memory.id, "text": memory.text, "ingested_at": isoformat(memory.times.ingested_at), **given}


def _keywords(memory: Memory) -> dict[str, Any]:
    times, worth = memory.times, memory.worth
    return {
        "valid_from": isoformat(times.valid_from),
        "expires_at": times.expires_at and isoformat(times.expires_at),
        "keywords": list(memory.keywords),
        "metadata": dict(memory.metadata),
        **{name: (value := getattr(memory, name)) and str(value) for name in _PLAIN},
        **{name: getattr(worth, name) for name in WORTH},
        **{name: list(getattr(worth, name)) for name in _LISTS},
        **{name: getattr(memory.origin, name) for name in _ORIGIN},
    }


def withheld_from_data(data: Mapping[str, Any]) -> Memory:
    """The inverse of `withheld_to_data`."""
    fields = dict(data)
    id, text, known = fields.pop("id"), fields.pop("text"), instant(fields["ingested_at"])
    said = fields.pop("valid_from", fields["ingested_at"])
    memory = record(text, known, **cast("Fields", fields))
    return replace(memory, id=id, times=replace(memory.times, valid_from=instant(said)))


def joined(one: Usage, other: Usage) -> Usage:
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


def usage_to_data(usage: Usage) -> dict[str, Any]:
    """A usage as JSON."""
    return {
        "recalls": usage.recalls,
        "last_recall": usage.last_recall and isoformat(usage.last_recall),
        "recall_times": [isoformat(time) for time in usage.recall_times],
        "reward_count": usage.reward_count,
        "reward_total": usage.reward_total,
    }


def usage_from_data(data: Mapping[str, Any]) -> Usage:
    """The inverse of `usage_to_data`."""
    times = tuple(instant(time) for time in data["recall_times"])
    last = data["last_recall"] and instant(data["last_recall"])
    return Usage(data["recalls"], last, times, data["reward_count"], data["reward_total"])


CHANGES, LINKED, UNLINKED, USAGE, UNDONE = "changes", "linked", "unlinked", "usage", "undone"
"""Fields of an entry: changed memories, links made, links removed, changed usage, and when it was undone."""
WITHHELD = "memory"
"""The field of an entry that holds a memory which a gate withheld."""
FINAL = "final"
"""The field that says why an entry cannot be undone."""
_FIELDS = ("tier", "superseded_by")
_TIMES = tuple(field.name for field in fields(Times))
_WORTH = tuple(field.name for field in fields(Worth))
_COUNTED = ("relevance", "confidence")
"""Numbers that several decisions change in turn; undoing one reverts its own change."""
_EVERY_ENTRY = 1_000_000


def difference(before: Memory, after: Memory) -> dict[str, dict[str, Any]]:
    """The fields in which two states of a memory differ, with the values of both, as JSON."""
    old, new = _flat(before), _flat(after)
    differing = [name for name in old if old[name] != new[name]]
    return {"before": {name: old[name] for name in differing}, "after": {name: new[name] for name in differing}}


def restored(memory: Memory, difference: Mapping[str, Mapping[str, Any]]) -> Memory:
    """A memory with a change undone; fields that changed again since then stay."""
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
    """The part of an entry about the memories that it changed, given before and after."""
    return {CHANGES: {after.id: difference(before, after) for before, after in pairs}}


def linked(links: Sequence[Link]) -> dict[str, Any]:
    """The part of an entry about the links that it made."""
    return {LINKED: [asdict(link) for link in links]}


def unlinked(links: Sequence[Link]) -> dict[str, Any]:
    """The part of an entry about the links that it removed."""
    return {UNLINKED: [asdict(link) for link in links]}


def usages(pairs: Iterable[tuple[Memory, Memory]]) -> dict[str, Any]:
    """The part of an entry about the usage that it changed, given as memories before and after."""
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
    raise NotFound(f"The journal has no entry {id!r}", remedy="Look it up with journal().")


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


def renamed_entry(entry: Entry, before: str, after: str) -> Entry:
    """An entry about a memory that is written under another id."""
    subjects = tuple(after if id == before else id for id in entry.subjects)
    data = dict(entry.data)
    if before in data.get(CHANGES, ()):
        data[CHANGES] = {after if id == before else id: change for id, change in data[CHANGES].items()}
    return replace(entry, id=fingerprint(entry.id, after), subjects=subjects, data=data)


def undone(entry: Entry, at: datetime) -> Entry:
    """The entry, marked as undone."""
    return replace(entry, data={**entry.data, UNDONE: isoformat(at)})


class Known(Protocol):
    """Gives memories in their current state."""

    def get(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """The memories with these ids; unknown ids are left out."""
        ...


def reversal(entry: Entry, reader: Known, at: datetime) -> Batch:
    """The batch that undoes an entry, for those of its memories that still exist."""
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

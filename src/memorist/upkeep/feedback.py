"""Feedback and pinning: the user says what a memory is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast, get_args

from memorist.errors import InvalidInput, Remedy, VerbCall
from memorist.model import DOUBTED, Memory, Recall, Tier, fingerprint, instant, isoformat
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.gates.verdict import with_flag
from memorist.remember.journal import UNDONE
from memorist.results.upkeep import Change
from memorist.upkeep.change import EVERY_ENTRY, batch_of, retract_memory
from memorist.upkeep.ending import end_of, entry_about, existing_memory
from memorist.validate import validate

Verdict = Literal["useful", "wrong", "outdated", "hide"]
FEEDBACK, JUDGED, PIN = "feedback", "judged", "pin"
"""The verbs of the journal entries: feedback, the recall that it is about, and pinning or unpinning."""
MOST = 5.0
"""The bound of a memory's relevance under feedback, in either direction."""
DOUBT = 0.25
"""How much each "wrong" lowers a memory's confidence; not below 0."""
HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class RecallSeen:
    """The recall that feedback is about: its query, its time and the ids it returned."""

    id: str
    query: str
    at: datetime
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A query, the ids that the recall returned, and those that were called useful or wrong."""

    query: str
    at: datetime
    shown: tuple[str, ...]
    useful: frozenset[str]
    wrong: frozenset[str]


def recall_seen(recall: Recall | Mapping[str, Any], clean: Callable[[str], str] = str) -> RecallSeen:
    """What feedback keeps of a recall, given as a `Recall` or as its JSON; `clean` passes texts through the gates."""
    if isinstance(recall, Recall):
        return RecallSeen(recall.id, clean(recall.query), recall.now, tuple(item.memory.id for item in recall.items))
    try:
        ids = tuple(clean(_text(item["id"])) for item in recall["items"])
        return RecallSeen(clean(_text(recall["id"])), clean(_text(recall["query"])), instant(recall["now"]), ids)
    except (KeyError, TypeError, InvalidInput):
        raise InvalidInput(
            "Invalid recall", remedy=Remedy("Pass what ", VerbCall("recall"), " returned, or its JSON.")
        ) from None


def _text(value: object) -> str:
    return cast("str", validate(value, str, "recall"))


def feedback(store: Store, id: str, verdict: str, now: datetime, recall: RecallSeen | None = None) -> Memory:
    """Apply a verdict to a memory; if the recall that returned it is given, keep its query too."""
    if verdict not in get_args(Verdict):
        raise InvalidInput(f"Unknown verdict {verdict!r}", remedy=f"Choose {', '.join(get_args(Verdict))}.")
    if recall is not None and id not in recall.ids:
        raise InvalidInput(f"That recall did not return {id!r}", remedy="Give feedback without it.")

    def plan(reader: Reader) -> Batch:
        batch = _judge(reader, id, cast("Verdict", verdict), now)
        judged = [] if recall is None else [_judged_entry(batch.journal[0], verdict, recall)]
        return replace(batch, journal=[*batch.journal, *judged])

    store.update(plan)
    return existing_memory(store, id)


def judged_recalls(store: Store) -> Iterator[JudgedRecall]:
    """Every recall with feedback that was not undone, oldest first; benchmarks use it."""
    undone = {entry.id for entry in store.journal(FEEDBACK, limit=EVERY_ENTRY) if UNDONE in entry.data}
    recalls: dict[str, list[Entry]] = {}
    for entry in reversed(store.journal(JUDGED, limit=EVERY_ENTRY)):
        if entry.data["feedback"] not in undone:
            recalls.setdefault(entry.data["recall"], []).append(entry)
    for entries in recalls.values():
        data = entries[0].data
        verdicts = {entry.data["memory_id"]: entry.data["verdict"] for entry in entries}
        useful, wrong = (
            frozenset(id for id, one in verdicts.items() if one == verdict) for verdict in ("useful", "wrong")
        )
        yield JudgedRecall(data["query"], instant(data["at"]), tuple(data["shown"]), useful, wrong)


def _judge(reader: Reader, id: str, verdict: Verdict, now: datetime) -> Batch:
    memory = existing_memory(reader, id)
    reason = f"{id} was called {verdict}"
    entry = entry_about(reader, FEEDBACK, id, now, {"verdict": verdict, "reason": reason})
    if verdict == "outdated":
        return end_of(reader, memory, None, now, entry)
    after = _VERDICTS[verdict](memory, now)
    return batch_of(Change(verdict, id, reason, ((memory, after),)), entry)


def _judged_entry(entry: Entry, verdict: str, recall: RecallSeen) -> Entry:
    """Records the query and all ids that the recall returned; erasing any of them erases this entry."""
    data = {
        "feedback": entry.id,
        "memory_id": entry.subjects[0],
        "verdict": verdict,
        "recall": recall.id,
        "query": recall.query,
        "at": isoformat(recall.at),
        "shown": list(recall.ids),
    }
    return Entry(fingerprint(JUDGED, entry.id), entry.at, JUDGED, recall.ids, data)


def _useful(memory: Memory, now: datetime) -> Memory:
    return replace(memory, worth=replace(memory.worth, relevance=min(MOST, memory.worth.relevance + 1)))


def _wrong(memory: Memory, now: datetime) -> Memory:
    worth = memory.worth
    relevance, confidence = max(-MOST, worth.relevance - 1), max(0.0, worth.confidence - DOUBT)
    return with_flag(replace(memory, worth=replace(worth, relevance=relevance, confidence=confidence)), DOUBTED)


def _hide(memory: Memory, now: datetime) -> Memory:
    """Retracted: only a recall that asks for an earlier state of knowledge returns it."""
    if memory.times.retracted_at is not None:
        raise InvalidInput(f"{memory.id!r} is hidden already", remedy="There is nothing left to hide.")
    return with_flag(retract_memory(memory, now), HIDDEN)


_VERDICTS: Mapping[str, Callable[[Memory, datetime], Memory]] = {"useful": _useful, "wrong": _wrong, "hide": _hide}


def pin(store: Store, id: str, now: datetime, *, on: bool = True) -> Memory:
    """Pin a memory, or unpin it: it then has the tier of a new memory. A second time changes nothing."""

    def plan(reader: Reader) -> Batch:
        memory = existing_memory(reader, id)
        if (memory.tier is Tier.PINNED) == on:
            return Batch()
        if on:
            _check_current(memory)
        reason = f"{id} was {'pinned' if on else 'unpinned'}"
        after = replace(memory, tier=Tier.PINNED if on else Tier.WORKING)
        return batch_of(
            Change(PIN, id, reason, ((memory, after),)), entry_about(reader, PIN, id, now, {"reason": reason})
        )

    store.update(plan)
    return existing_memory(store, id)


def _check_current(memory: Memory) -> None:
    if memory.version_of is not None or memory.times.valid_to is not None or memory.times.retracted_at is not None:
        raise InvalidInput(f"{memory.id!r} is no longer true", remedy="Pin what is true instead.")

"""Feedback: what a recalled memory was worth, told by whoever used it; it moves ranking within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast, get_args

from memorist.errors import InvalidInput, NotFound
from memorist.model import Memory, Recall, fingerprint, instant, isoformat
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.fact_updates import DOUBTED
from memorist.remember.journal import UNDONE, changes
from memorist.upkeep.invalidate import ending, entry_id
from memorist.upkeep.undo import EVERY_ENTRY

Verdict = Literal["useful", "wrong", "outdated", "hide"]
VERB, JUDGED = "feedback", "judged"
"""The verbs of the journal's entries: about the memory, and about the recall that gave it."""
MOST = 5.0
"""How far feedback moves a memory's relevance from 0, either way."""
DOUBT = 0.25
"""How much a memory's confidence falls each time it is called wrong; not below 0."""
HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Asked:
    """The recall that feedback is about: its question, moment and the ids it gave."""

    id: str
    query: str
    at: datetime
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A question that somebody asked, what the recall gave, and what of it was called useful or wrong."""

    query: str
    at: datetime
    shown: tuple[str, ...]
    useful: frozenset[str]
    wrong: frozenset[str]


def asked(recall: Recall | Mapping[str, Any], clean: Callable[[str], str] = str) -> Asked:
    """What feedback keeps of a recall, given as such or as the JSON of one; `clean` passes texts through the gates."""
    if isinstance(recall, Recall):
        return Asked(recall.id, clean(recall.query), recall.now, tuple(item.memory.id for item in recall.items))
    try:
        ids = tuple(clean(str(item["id"])) for item in recall["items"])
        return Asked(clean(str(recall["id"])), clean(str(recall["query"])), instant(recall["now"]), ids)
    except (KeyError, TypeError):
        raise InvalidInput(
            "The recall has not the form of one", remedy="Give a Recall, or the JSON that `recall --json` prints."
        ) from None


def feedback(store: Store, id: str, verdict: str, now: datetime, recall: Asked | None = None) -> Memory:
    """Move a memory by a verdict, and keep the question that it was given for, if that is told."""
    if verdict not in get_args(Verdict):
        raise InvalidInput(f"{verdict!r} is no verdict", remedy=f"Choose {', '.join(get_args(Verdict))}.")
    if recall is not None and id not in recall.ids:
        raise InvalidInput(f"That recall did not give {id!r}", remedy="Give feedback without it.")

    def plan(reader: Reader) -> Batch:
        batch = _moved(reader, id, cast("Verdict", verdict), now)
        judged = [] if recall is None else [_judged(batch.journal[0], verdict, recall)]
        return replace(batch, journal=[*batch.journal, *judged])

    store.update(plan)
    return store.get([id])[id]


def judged(store: Store) -> Iterator[JudgedRecall]:
    """Every recall that feedback was given on and that was not undone, the oldest first; for benchmarks."""
    undone = {entry.id for entry in store.journal(VERB, limit=EVERY_ENTRY) if UNDONE in entry.data}
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


def _moved(reader: Reader, id: str, verdict: Verdict, now: datetime) -> Batch:
    memory = reader.get([id]).get(id)
    if memory is None:
        raise NotFound(f"There is no memory {id!r}", remedy="Look it up with list().")
    told: dict[str, Any] = {"verdict": verdict, "reason": f"{id} was called {verdict}"}
    if verdict == "outdated":
        return ending(reader, id, max(now, memory.times.valid_from), now, verb=VERB, more=told)
    after = _MOVES[verdict](memory, now)
    entry = Entry(entry_id(reader, VERB, id, now), now, VERB, (id,), {**told, **changes([(memory, after)])})
    return Batch(revised=[after], journal=[entry])


def _judged(entry: Entry, verdict: str, recall: Asked) -> Entry:
    """The question and all ids that it was answered with: erasing any of them erases this entry."""
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
    lowered = replace(
        worth,
        relevance=max(-MOST, worth.relevance - 1),
        confidence=max(0.0, worth.confidence - DOUBT),
        flags=_flagged(worth.flags, DOUBTED),
    )
    return replace(memory, worth=lowered)


def _hide(memory: Memory, now: datetime) -> Memory:
    """Taken back: no recall sees it, unless it asks for what was known before."""
    if memory.times.retracted_at is not None:
        raise InvalidInput(f"{memory.id!r} is hidden already", remedy="There is nothing left to hide.")
    worth = replace(memory.worth, flags=_flagged(memory.worth.flags, HIDDEN))
    return replace(memory, worth=worth, times=replace(memory.times, retracted_at=now))


def _flagged(flags: tuple[str, ...], flag: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*flags, flag)))


_MOVES: Mapping[str, Callable[[Memory, datetime], Memory]] = {"useful": _useful, "wrong": _wrong, "hide": _hide}

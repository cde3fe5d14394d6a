"""How people look at a memory: what there is, the newest first, and what has certain words.

They take an engine, so that its cap holds: what is above it neither shows nor counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Unpack, cast

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, no_memory
from memorist.model import Filters, Hit, Memory
from memorist.model.request import listing_filter
from memorist.ports import Entry, Page, Tally
from memorist.remember.journal import CHANGES, FINAL, LINKED, UNDONE, UNLINKED, USAGE, WITHHELD
from memorist.text.patterns import lazy
from memorist.upkeep.ending import INVALIDATE
from memorist.upkeep.feedback import FEEDBACK, JUDGED, PIN

MOST_FOUND = 500
"""How many memories a search by words returns at most."""
_ID = lazy(r"\b[0-9a-f]{32}\b")
_UNDOABLE = {CHANGES, LINKED, UNLINKED, USAGE, WITHHELD, "claim"}


def now_of(engine: Engine) -> datetime:
    """The time by the engine's clock."""
    return engine._clock.now()  # pyright: ignore[reportPrivateUsage]


def tally(engine: Engine, **filters: Unpack[Filters]) -> Tally:
    """How many memories the filters choose, by kind, tier, scope, classification and day."""
    return engine.store.view().tally(listing_filter(filters, now_of(engine)))


def newest(engine: Engine, limit: int, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
    """The memories that became known last, newest first; pass the `cursor` of a page to get the next one."""
    where, after = listing_filter(filters, now_of(engine)), None if cursor is None else _hit(cursor)
    hits = engine.store.view().newest(where, limit + 1, after)
    found = _memories(engine, hits[:limit])
    return Page(found, f"{hits[limit - 1].score:.0f}-{hits[limit - 1].id}" if len(hits) > limit else None)


def with_words(engine: Engine, query: str, limit: int, skip: int = 0, **filters: Unpack[Filters]) -> Page:
    """The memories with the words of a query, or words that contain them, best first by BM25; typos are forgiven.

    The cursor of a page is the number of memories up to its end.
    """
    view, where = engine.store.view(), listing_filter(filters, now_of(engine))
    best: dict[str, float] = {}
    for search in (view.search_text, view.search_substring):
        for hit in search(query, where, MOST_FOUND):
            best[hit.id] = max(hit.score, best.get(hit.id, 0.0))
    ranked = [Hit(id, score) for id, score in sorted(best.items(), key=lambda one: (-one[1], one[0]))][:MOST_FOUND]
    found = _memories(engine, ranked[skip : skip + limit])
    return Page(found, str(skip + limit) if len(ranked) > skip + limit else None)


def _memories(engine: Engine, hits: list[Hit]) -> tuple[Memory, ...]:
    known = engine.store.get([hit.id for hit in hits])
    return tuple(known[hit.id] for hit in hits if hit.id in known)


def _hit(cursor: str) -> Hit:
    moment, _, id = cursor.partition("-")
    if not moment.isdecimal() or len(moment) > 18 or not id:
        raise InvalidInput("The cursor is not one that a page gave", remedy="Begin with the first page.")
    return Hit(id, int(moment))


@dataclass(frozen=True, slots=True)
class JournalItem:
    """An entry of the journal as people read it: what was done, about which memories, and whether it can be undone."""

    id: str
    at: datetime
    verb: str
    reason: str
    subjects: tuple[str, ...]
    data: dict[str, Any]
    undone_at: str | None
    undoable: bool


def changes(
    engine: Engine, subject: str | None = None, limit: int = 20, verb: str | None = None, cursor: str | None = None
) -> list[JournalItem]:
    """Entries of the journal, newest first: all, those of a verb, or those about one memory."""
    return [_change(entry) for entry in engine.journal(verb, subject, limit, cursor)]


BY_PEOPLE = (FEEDBACK, JUDGED, INVALIDATE, PIN)
"""The verbs of entries that somebody asked for; all others were decided by gates, jobs and upkeep."""


def decisions(engine: Engine, limit: int, within: int = 200) -> list[JournalItem]:
    """What was decided without anybody asking, newest first, as far as the newest `within` entries tell."""
    return [_change(entry) for entry in engine.store.journal(limit=within) if entry.verb not in BY_PEOPLE][:limit]


def changes_called(engine: Engine, ids: list[str], within: int = 1000) -> list[JournalItem]:
    """The entries with these ids, if they are among the newest `within` of the journal."""
    wanted = set(ids)
    return [_change(entry) for entry in engine.store.journal(limit=within) if entry.id in wanted] if wanted else []


def _change(entry: Entry) -> JournalItem:
    data = dict(entry.data)
    undone = data.get(UNDONE)
    able = undone is None and FINAL not in data and bool(data.keys() & _UNDOABLE)
    reason = str(data.get("reason") or data.get("verdict") or data.get(FINAL) or "")
    for subject in entry.subjects[:1]:
        reason = reason.replace(subject, "it")
    reason = _ID.sub(lambda found: f"{found[0][:8]}…", reason)
    return JournalItem(entry.id, entry.at, entry.verb, reason, entry.subjects, data, cast("str | None", undone), able)


def known(engine: Engine, id: str) -> Memory:
    """The memory with an id."""
    memory = engine.get(id)
    if memory is None:
        raise no_memory(id)
    return memory

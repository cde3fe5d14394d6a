"""The memories that go into a note, and the lines that are written from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256

from memorist.asking import LLMAsker, Source
from memorist.asking.facts import MOST_TEXTS, note
from memorist.asking.query import citations
from memorist.errors import ModelUnavailable
from memorist.model import Filter, Kind, Memory
from memorist.ports import Store
from memorist.remember.fact_rows import CLAIMS
from memorist.text.labels import label
from memorist.text.patterns import lazy
from memorist.text.phrases import salient
from memorist.upkeep.change import every_page
from memorist.upkeep.consolidate.notes import RULES, NoteItem, NoteLine

KINDS = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL)
MOST_CLASSIFIED = 2
"""Memories above this classification, which a recall does not return by default, are in no note."""
UNFIT = frozenset(("noise", "loop", "instructions", "contradicted", "doubted"))
"""Flags that keep a memory out of notes."""
PAGE = 1000


@dataclass(slots=True)
class SurveyedDay:
    """The memories of a day, and a digest that changes with any of them."""

    ids: list[str] = field(default_factory=list[str])
    _digest: int = 0

    def add(self, memory: Memory) -> None:
        """Add a memory; the order does not matter for the digest."""
        self.ids.append(memory.id)
        content = f"{memory.id}\0{memory.text}".encode("utf-8", "surrogatepass")
        self._digest ^= int.from_bytes(sha256(content).digest()[:16])

    @property
    def digest(self) -> str:
        """The digest of all memories."""
        return f"{self._digest:032x}"


def survey(store: Store, now: datetime) -> dict[date, SurveyedDay]:
    """The past days, in order, each with the memories that were said or learnt on it and may appear in notes."""
    days: dict[date, SurveyedDay] = {}
    today = now.astimezone(UTC).date()
    where = Filter(kinds=KINDS, known_at=now, max_classification=MOST_CLASSIFIED)
    for page in every_page(store, where, PAGE):
        for memory in page:
            day = memory.times.valid_from.astimezone(UTC).date()
            if day < today and _fit(memory, now):
                days.setdefault(day, SurveyedDay()).add(memory)
    return dict(sorted(days.items()))


def items_of(store: Store, day: SurveyedDay) -> list[NoteItem]:
    """The memories of a day, in chronological order."""
    memories = sorted(
        store.get(day.ids).values(), key=lambda one: (one.times.valid_from, one.origin.position or 0, one.id)
    )
    return [
        NoteItem(
            text=memory.text,
            scope=memory.scope,
            at=memory.times.valid_from,
            cites=(memory.id,),
            speaker=memory.origin.speaker,
            weight=0.5 + memory.worth.importance * memory.worth.confidence,
            trust=memory.worth.trust,
            classification=memory.worth.classification,
        )
        for memory in memories
    ]


def _fit(memory: Memory, now: datetime) -> bool:
    """Whether a memory may appear in notes: verbatim or learnt, unexpired and trusted.

    A memory that is no longer valid may appear: it was still said that day.
    """
    expires = memory.times.expires_at
    return (
        memory.version_of is None
        and (expires is None or expires > now)
        and CLAIMS not in memory.metadata
        and memory.worth.trust > 0
        and UNFIT.isdisjoint(memory.worth.flags)
    )


MOST_LINES = {"daily": 12, "weekly": 15, "quarterly": 20}
_CITATION = lazy(r"(?<!\s)\s*+\[\d{1,6}(?:\s*,\s*\d{1,6})*\]")
_BULLET = lazy(r"^\s*(?:[-*+]|\d+[.)])\s+")


def compose(kind: str, subject: str, items: Sequence[NoteItem], asker: LLMAsker | None) -> tuple[list[NoteLine], str]:
    """The lines of a note on items of one scope, and their author; if the model fails, rules write them."""
    if asker is not None and asker.model_for("note") is not None:
        try:
            lines = _by_model(subject, items, asker)
        except ModelUnavailable:
            lines = []
        if lines:
            return lines, asker.model_for("note") or RULES
    return _by_rules(items, MOST_LINES[kind]), RULES


def _by_rules(items: Sequence[NoteItem], most: int) -> list[NoteLine]:
    chosen = salient([item.text for item in items], most, [item.weight for item in items])
    return [_line(statement.text, [items[place] for place in statement.sources]) for statement in chosen]


def _line(text: str, items: Sequence[NoteItem]) -> NoteLine:
    said_by = " and ".join(filter(None, dict.fromkeys(label(item.speaker) for item in items)))
    named = not said_by or text.startswith(f"{said_by}:")
    return NoteLine(text if named else f"{said_by}: {text}", tuple(items))


def _by_model(subject: str, items: Sequence[NoteItem], asker: LLMAsker) -> list[NoteLine]:
    shown = list(_few_enough(items))
    sources = [Source(number, one.text, one.at, one.speaker) for number, one in enumerate(shown, 1)]
    return list(_cited_lines(note(asker, subject, sources).text, shown))


def _few_enough(items: Sequence[NoteItem]) -> Iterator[NoteItem]:
    """The items; if there are too many, those with the most salient sentences."""
    if len(items) <= MOST_TEXTS:
        yield from items
        return
    chosen = salient([item.text for item in items], MOST_TEXTS, [item.weight for item in items])
    places = sorted({place for statement in chosen for place in statement.sources})
    yield from (items[place] for place in places[:MOST_TEXTS])


def _cited_lines(markdown: str, shown: Sequence[NoteItem]) -> Iterator[NoteLine]:
    """The lines with citations; headings and other lines without any are left out."""
    for written in markdown.splitlines():
        items = tuple(shown[number - 1] for number in citations(written))
        text = _CITATION.sub("", _BULLET.sub("", written)).strip()
        if items and text:
            yield NoteLine(text, items)

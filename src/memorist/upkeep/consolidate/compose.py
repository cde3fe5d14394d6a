"""Compose a note: by a language model where there is one, else of the most telling sentences; every line cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memorist.asking import Asker, Source
from memorist.asking.notes import MOST_TEXTS, note
from memorist.asking.source import citations
from memorist.errors import ModelUnavailable
from memorist.text.salient import salient
from memorist.upkeep.consolidate.model import RULES, Item, Line

MOST_LINES = {"daily": 12, "weekly": 15, "quarterly": 20}
_CITATION = re.compile(r"\s*\[\d{1,6}(?:\s*,\s*\d{1,6})*\]")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def compose(kind: str, subject: str, items: Sequence[Item], asker: Asker | None) -> tuple[list[Line], str]:
    """The lines of a note on items of one scope, and who wrote them; rules stand in for a model that fails."""
    if asker is not None and asker.model_for("note") is not None:
        try:
            lines = _by_model(subject, items, asker)
        except ModelUnavailable:
            lines = []
        if lines:
            return lines, asker.model_for("note") or RULES
    return _by_rules(items, MOST_LINES[kind]), RULES


def _by_rules(items: Sequence[Item], most: int) -> list[Line]:
    chosen = salient([item.text for item in items], most, [item.weight for item in items])
    return [_line(one.text, [items[place] for place in one.sources]) for one in chosen]


def _line(text: str, items: Sequence[Item]) -> Line:
    speakers = dict.fromkeys(item.speaker for item in items if item.speaker)
    said_by = " and ".join(speakers)
    named = not said_by or text.startswith(f"{said_by}:")
    return Line(text if named else f"{said_by}: {text}", tuple(items))


def _by_model(subject: str, items: Sequence[Item], asker: Asker) -> list[Line]:
    shown = list(_few_enough(items))
    sources = [Source(number, one.text, one.at, one.speaker) for number, one in enumerate(shown, 1)]
    return list(_cited_lines(note(asker, subject, sources).text, shown))


def _few_enough(items: Sequence[Item]) -> Iterator[Item]:
    """The items, or of too many those that the most telling sentences come from."""
    if len(items) <= MOST_TEXTS:
        yield from items
        return
    chosen = salient([item.text for item in items], MOST_TEXTS, [item.weight for item in items])
    places = sorted({place for one in chosen for place in one.sources})
    yield from (items[place] for place in places[:MOST_TEXTS])


def _cited_lines(markdown: str, shown: Sequence[Item]) -> Iterator[Line]:
    """The lines that say what they rest on; headings and whatever else does not are left out."""
    for written in markdown.splitlines():
        items = tuple(shown[number - 1] for number in citations(written))
        text = _CITATION.sub("", _BULLET.sub("", written)).strip()
        if items and text:
            yield Line(text, items)

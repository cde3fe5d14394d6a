"""The entities and dates that a text names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from memorist.model import Entity, Mention, instant
from memorist.remember.extract.clause_subjects import LONGEST_TEXT, MASK
from memorist.remember.extract.lexicon import FIRST_NAMES, PLACES, kind_of, word_set
from memorist.remember.extract.names import Dictionary, NameRun, name_runs
from memorist.remember.extract.spans import Named, patterned
from memorist.text.dates import DateSpan, find_dates
from memorist.text.patterns import lazy

MOST_MENTIONS = 20
"""Kept of one text; a calendar would mention every day."""

_SECOND = timedelta(seconds=1)
_CODE = lazy(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def date_spans(text: str, at: datetime) -> list[DateSpan]:
    """The dates of a text's beginning, without those in code and without `right now`, which tells nothing."""
    head = text[:LONGEST_TEXT]
    if "`" in head:
        head = _CODE.sub(lambda found: MASK * len(found[0]), head)
    this_very_second = instant(at).replace(microsecond=0)
    found = (span for span in find_dates(head, at) if span.start != this_very_second or span.end - span.start > _SECOND)
    return list(islice(found, MOST_MENTIONS))


def mentions(text: str, at: datetime, *, dates: Sequence[DateSpan] | None = None) -> tuple[Mention, ...]:
    """The dates that a text names, as said at a moment: `yesterday`, `last Friday`, `上周三`."""
    spans = date_spans(text, at) if dates is None else dates
    return tuple(dict.fromkeys(Mention(span.text, span.start, span.end) for span in spans))


Known = Callable[[Sequence[str]], Iterable[Entity]]
"""The store's dictionary: entities by name or alias; a `Dictionary` also knows first names and misspellings."""

_ANY_DAY = datetime(2001, 1, 1, tzinfo=UTC)
_ALSO_WORDS = word_set("will mark may grace hope rose joy faith bill dean drew penny iris ivy holly amber jean")


def nobody(names: Sequence[str]) -> Iterable[Entity]:
    """A dictionary that knows no name yet."""
    return ()


def entities(text: str, known: Known = nobody, *, dates: Sequence[DateSpan] | None = None) -> list[Named]:
    """What a text names, in order and without overlap; `dates` spares finding them again."""
    head = text[:LONGEST_TEXT]
    spans = date_spans(head, _ANY_DAY) if dates is None else dates
    taken = [*patterned(head), *(Named(span.text, "date", span.begin, span.stop) for span in spans)]
    free = _apart(taken)
    runs = [run for run in name_runs(head) if not any(run.begin < one.stop and one.begin < run.stop for one in free)]
    meant = _meant(runs, known)
    found = [*free, *_named(head, runs, meant), *_handles_known(free, known)]
    return sorted({(one.begin, one.stop): one for one in found}.values(), key=lambda one: (one.begin, one.stop))


def _apart(found: Iterable[Named]) -> list[Named]:
    """The first and longest of those that overlap."""
    kept: list[Named] = []
    for one in sorted(found, key=lambda one: (one.begin, -one.stop)):
        if not kept or one.begin >= kept[-1].stop:
            kept.append(one)
    return kept


def _meant(runs: Sequence[NameRun], known: Known) -> dict[str, Entity]:
    names = list(dict.fromkeys(run.text for run in runs))
    entities = list(known(names)) if names else []
    if not entities:
        return {}
    dictionary = Dictionary(entities)
    sure = {run.text for run in runs if not run.opens}
    return {name: entity for name in names if (entity := dictionary.find(name, misspelt=name in sure))}


def _named(text: str, runs: Sequence[NameRun], meant: dict[str, Entity]) -> Iterator[Named]:
    sure = {run.text for run in runs if not run.opens}
    for run in runs:
        entity = meant.get(run.text)
        if run.opens and entity is None and run.text not in sure and not _common(run.text):
            continue
        kind = (entity.kind if entity else None) or kind_of(run.text, text[max(0, run.begin - 40) : run.begin])
        yield Named(text[run.begin : run.stop], kind, run.begin, run.stop, entity)


def _common(name: str) -> bool:
    """Whether a word that opens a sentence is a name by itself: Anna, Oslo, but not Will or Mark."""
    lower = name.lower()
    return (lower in FIRST_NAMES or lower in PLACES) and lower not in _ALSO_WORDS


def _handles_known(found: Sequence[Named], known: Known) -> Iterator[Named]:
    """Handles and addresses that are somebody's alias."""
    asked = [one for one in found if one.kind in {"handle", "email"}]
    dictionary = {name.casefold(): entity for entity in known([one.text for one in asked]) if asked
                  for name in (entity.name, *entity.aliases)} if asked else {}  # fmt: skip
    for one in asked:
        if entity := dictionary.get(one.text.casefold()):
            yield replace(one, entity=entity)

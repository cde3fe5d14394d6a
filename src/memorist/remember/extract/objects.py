"""Matchers for the objects of statements: places, people, employers, things."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice

from memorist.remember.extract.lexicon import (
    BELONGINGS,
    CLUBS,
    FIRST_NAMES,
    IDENTITIES,
    JOBS,
    LANGUAGES,
    PLACES,
    PLAYED,
    SCHOOLS,
    WORKPLACES,
)
from memorist.remember.extract.spans import (
    CAPITAL,
    LIST,
    POINTING,
    RESTRICTED,
    WORD,
    Matcher,
    Spans,
    ends_well,
    is_possessor,
    listed,
    name_at,
    noun_phrase,
    object_end,
    trimmed,
)
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

_BEFORE_PLACE = lazy(
    r"(?:the\s+)?(?:(?:downtown|central|northern|southern|eastern|western|north|south|east|west|rural|upstate|nearby"
    r"|sunny|beautiful)\s+)?(?:(?:city|town|state|suburbs|outskirts|middle|heart)\s+of\s+)?(?:the\s+)?"
)
_NEXT_PLACE = lazy(rf",\s+(?={CAPITAL})")
_DETERMINER = lazy(r"(?:an?|the|my|our|his|her|their)\s+", re.IGNORECASE)
_VAGUE_VERB = lazy(r"(?:to\s+)?(?:think|know|say|be|see|hear|believe|have|get|do|make|go|come|keep|feel|imagine)\b")
# `a bike for my son` is not the speaker's.
_GIVEN = lazy(r"\bfor\s+(?:my|his|her|their|our)\b|\bgift\b", re.IGNORECASE)
_NEW = lazy(r"(?:an?|the|my|our|some)\s+(?:new\s+)?|new\s+", re.IGNORECASE)
_BEFORE_ITEM = lazy(r"(?:the|a\s+(?:little|bit)(?:\s+of)?|an?|both|some|fluent|my)\s+")
_FILLERS = lazy(r"(?:(?:probably|definitely|actually|always|still|the|an?|my|our|to)\s+)+")
_ARTICLES = lazy(r"(?:an?|the|to|some|actually|just|really|all\s+kinds\s+of|any\s+kind\s+of)\s+")
_ANY_DAY = datetime(2001, 1, 1, tzinfo=UTC)
_AGE = lazy(r"(\d{1,3})(?=\s*(?:years?[\s-]+old|yrs?\s+old|y/?o)\b|\s*$|\s*(?:now|and|but)\b|\s*[,.!](?!\d))")
_EMAIL = lazy(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?<!\.)")
_PHONE = lazy(r"\+?\(?\d[\d\s().-]{5,18}\d")
_HANDLE = lazy(r"@?[\w.-]{2,40}(?<![.-])")


def place(text: str, begin: int, stop: int) -> Spans:
    """A place: a capitalised name, with a region after a comma, or a well-known place in any case."""
    begin = _after(_BEFORE_PLACE, text, begin, stop)
    span = name_at(text, begin, stop)
    if span is None:
        return _known_place(text, begin, stop)
    if is_possessor(text, span[1]) or not ends_well(text, span[1], stop):
        return []
    comma = _NEXT_PLACE.match(text, span[1], stop)
    region = name_at(text, comma.end(), stop) if comma else None
    named = text[region[0] : region[1]] if region else ""
    if region and len(named.split()) <= 2 and named.lower() not in FIRST_NAMES:
        return [(span[0], region[1])]
    return [span]


def _known_place(text: str, begin: int, stop: int) -> Spans:
    words = [found.span() for found in islice(WORD.finditer(text, begin, min(stop, begin + 60)), 3)]
    for _, end in reversed(words):
        if text[begin:end].lower() in PLACES and ends_well(text, end, stop):
            return [(begin, end)]
    return []


def person(text: str, begin: int, stop: int) -> Spans:
    """A person's or animal's name: one to three capitalised words."""
    span = name_at(text, begin, stop)
    if span is None or is_possessor(text, span[1]) or text[span[0] : span[1]].lower() in PLACES - FIRST_NAMES:
        return []
    return [span] if len(text[span[0] : span[1]].split()) <= 3 else []


def people(text: str, begin: int, stop: int) -> Spans:
    """A list of names: `Ada, Bo and Cy`."""
    return listed(text, begin, stop, person)


def organisation(text: str, begin: int, stop: int) -> Spans:
    """A capitalised name, or a common noun for a workplace: `a local comic shop`."""
    lead = _DETERMINER.match(text, begin, stop)
    after = lead.end() if lead else begin
    span = name_at(text, after, stop)
    if span and not is_possessor(text, span[1]):
        noun = noun_phrase(text, span[1], stop, WORKPLACES) if lead else None
        if noun:
            return [(span[0], noun[1])]
        return [span] if ends_well(text, span[1], stop) else []
    noun = noun_phrase(text, after, stop, WORKPLACES) if lead else None
    return [noun] if noun else []


def school(text: str, begin: int, stop: int) -> Spans:
    """A capitalised name, or a common noun for a school."""
    after = _after(_DETERMINER, text, begin, stop)
    span = name_at(text, after, stop)
    noun = None if span else noun_phrase(text, after, stop, SCHOOLS)
    return [one for one in (span or noun,) if one]


def named_school(text: str, begin: int, stop: int) -> Spans:
    """A name that contains a word for a school: `Lund University`."""
    return [one for one in school(text, begin, stop) if SCHOOLS & set(text[one[0] : one[1]].lower().split())]


def capitalised(text: str, begin: int, stop: int) -> Spans:
    """Any capitalised name, with or without an article."""
    span = name_at(text, _after(_DETERMINER, text, begin, stop), stop)
    return [span] if span and not is_possessor(text, span[1]) and ends_well(text, span[1], stop) else []


def company(text: str, begin: int, stop: int) -> Spans:
    """A capitalised name that is not a place, a first name or a club."""
    spans = capitalised(text, begin, stop)
    named = [text[slice(*one)].lower() for one in spans]
    return [] if any(name in PLACES | FIRST_NAMES or CLUBS & set(name.split()) for name in named) else spans


def club(text: str, begin: int, stop: int) -> Spans:
    """A capitalised name that contains a word for a club, such as `church` or `team`."""
    return [one for one in capitalised(text, begin, stop) if CLUBS & set(text[slice(*one)].lower().split())]


def job(text: str, begin: int, stop: int) -> Spans:
    """A profession: a noun phrase that ends in one of `JOBS`."""
    noun = noun_phrase(text, _after(_DETERMINER, text, begin, stop), stop, JOBS)
    return [noun] if noun else []


def identity(text: str, begin: int, stop: int) -> Spans:
    """What somebody is, apart from a profession: `vegetarian`, `retired`."""
    noun = noun_phrase(text, _after(_DETERMINER, text, begin, stop), stop, IDENTITIES, most=2)
    return [noun] if noun else []


def thing(text: str, begin: int, stop: int) -> Spans:
    """One or several general things; nothing that refers to what was said before."""
    return listed(text, begin, stop, _plain_thing)


def one_thing(text: str, begin: int, stop: int) -> Spans:
    """One thing, up to the next comma or `and`."""
    end = object_end(text, begin, stop, commas=True)
    parted = LIST.search(text, begin, end)
    if not parted and RESTRICTED.match(text, end, stop):
        return []
    return _plain_thing(text, begin, parted.start() if parted else end)


def value(text: str, begin: int, stop: int) -> Spans:
    """A favourite: a quoted title, a name, or a thing with any article."""
    if text[begin : begin + 1] in {'"', "“"}:
        return _plain_thing(text, begin, stop)
    span = name_at(text, begin, stop)
    if span and not is_possessor(text, span[1]) and ends_well(text, span[1], stop):
        return [span]
    end = object_end(text, begin, stop, commas=True)
    return trimmed(text, _after(_FILLERS, text, begin, end), end, pointing=True)


def _plain_thing(text: str, begin: int, stop: int) -> Spans:
    if text[begin : begin + 1] in {'"', "“"}:
        closing = text.find('"' if text[begin] == '"' else "”", begin + 1, stop)
        return trimmed(text, begin + 1, closing, pointing=False) if closing > 0 else []
    said = text[begin:stop]
    if _VAGUE_VERB.match(said):
        return []
    if said.lower().startswith("the ") and name_at(text, begin + 4, stop) is None:
        return []
    return trimmed(text, _after(_ARTICLES, text, begin, stop), stop, pointing=True)


def belonging(text: str, begin: int, stop: int) -> Spans:
    """Possessions worth remembering: animals, children, vehicles, instruments."""
    if _GIVEN.search(text, begin, stop):
        return []
    return listed(text, begin, stop, _belonging)


def _belonging(text: str, begin: int, stop: int) -> Spans:
    noun = noun_phrase(text, _after(_NEW, text, begin, stop), stop, BELONGINGS, most=4)
    return [noun] if noun and not POINTING.search(text, noun[0], noun[1]) else []


def language(text: str, begin: int, stop: int) -> Spans:
    """One or several languages."""
    return listed(text, begin, stop, _one_of(LANGUAGES))


def played(text: str, begin: int, stop: int) -> Spans:
    """One or several instruments, sports or games."""
    return listed(text, begin, stop, _one_of(PLAYED))


def _one_of(known: frozenset[str]) -> Matcher:
    def matcher(text: str, begin: int, stop: int) -> Spans:
        begin = _after(_BEFORE_ITEM, text, begin, stop)
        words = [found.span() for found in islice(WORD.finditer(text, begin, stop), 3)]
        ends = [end for start, end in words if text[start:end].lower() in known]
        return [(begin, ends[-1])] if ends else []

    return matcher


def age(text: str, begin: int, stop: int) -> Spans:
    """An age from 1 to 120."""
    found = _AGE.match(text, begin, stop)
    return [found.span(1)] if found and 1 <= int(found[1]) <= 120 else []


def email(text: str, begin: int, stop: int) -> Spans:
    """An e-mail address."""
    return _matched(_EMAIL, text, begin, stop)


def phone(text: str, begin: int, stop: int) -> Spans:
    """A telephone number."""
    return _matched(_PHONE, text, begin, stop)


def handle(text: str, begin: int, stop: int) -> Spans:
    """A user name on some service."""
    return _matched(_HANDLE, text, begin, stop)


def date(text: str, begin: int, stop: int) -> Spans:
    """A date with a digit, at this place; the moment it refers to does not matter here."""
    found = next(iter(find_dates(text[begin:stop], _ANY_DAY)), None)
    if found is None or found.begin > len("the ") or not any(sign.isdigit() for sign in found.text):
        return []
    return [(begin + found.begin, begin + found.stop)]


def _after(pattern: re.Pattern[str], text: str, begin: int, stop: int) -> int:
    found = pattern.match(text, begin, stop)
    return found.end() if found else begin


def _matched(pattern: re.Pattern[str], text: str, begin: int, stop: int) -> Spans:
    found = pattern.match(text, begin, stop)
    return [found.span()] if found else []

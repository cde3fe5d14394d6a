"""Statements and names as extraction finds them, and matchers for objects: places, people, employers, jobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from memorist.model import Entity, Fact
from memorist.remember.extract.lexicon import (
    ALLERGENS,
    FAVOURITE_KINDS,
    FIRST_NAMES,
    JOB_MODIFIERS,
    JOBS,
    KIN,
    LANGUAGES,
    NOT_NAMES,
    PASTIMES,
    PLACES,
    TOOLS,
    word_set,
)
from memorist.text.patterns import lazy
from memorist.text.words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact stated in a text, with its validity as stated there."""

    fact: Fact
    quote: str
    """The words of the text that state it."""
    negated: bool = False
    """The text says that the fact does not hold, or no longer holds."""
    update: bool = False
    """The text says it as a change: actually, now, moved, 搬到."""
    since: datetime | None = None
    until: datetime | None = None
    confidence: float = 1.0
    rule: str = ""
    """The rule that found it."""


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """A name, date, amount or identifier in a text: `text[begin:stop]`."""

    text: str
    kind: str
    begin: int
    stop: int
    entity: Entity | None = None
    """The known entity that the name refers to, if there is exactly one."""


CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪİŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽ]"
_GOES_ON = r"(?:[\w&]|['’.-](?=\w)){0,63}"
CAPITALISED = rf"{CAPITAL}{_GOES_ON}"
CAPITALISED_ALONE = rf"{CAPITAL}(?<![\w@#/\\]{CAPITAL}){_GOES_ON}"
"""A capitalised word that is no part of another one; a search skips to its capital at once."""
WORD = lazy(r"[\w&]+(?:['’./-][\w&]+)*")
_NAME = lazy(rf"{CAPITALISED}(?:\s+(?:(?:of|de|del|la|le|van|von|der|da|di)\s+(?:the\s+)?)?{CAPITALISED}){{0,4}}")
_POSSESSIVE = lazy(r"['’]s?$|['’]s?(?=\s)")


def name_at(text: str, begin: int, stop: int) -> tuple[int, int] | None:
    """The run of capitalised words at a place, without a possessive ending; None if it is not a name."""
    found = _NAME.match(text, begin, stop)
    if not found:
        return None
    end = begin
    for word in WORD.finditer(text, begin, found.end()):
        if word[0][0].isupper() and word[0].lower() in NOT_NAMES:
            break
        end = word.end()
    run = _POSSESSIVE.split(text[begin:end], maxsplit=1)[0].rstrip()
    while run and not run.rsplit(None, 1)[-1][0].isupper():  # an incomplete "Bank of"
        run = run.rpartition(" ")[0].rstrip()
    return (begin, begin + len(run)) if len(run) > 1 else None


Spans = list[tuple[int, int]]
Matcher = Callable[[str, int, int], Spans]
"""Finds the objects at the beginning of `text[begin:stop]`; none if the text may mean something else."""

_TITLE_WORD = rf"{CAPITAL}[a-zà-öø-ÿāăąćčďđēęěğīıłńňōőœřśşšťūůűźżž]+"
_PERSON = lazy(
    rf"(?P<title>(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor)\.?\s+)?(?P<first>(?:(?:Mc|Mac|O['’]|D['’]){CAPITAL}[a-z]+"
    rf"|{_TITLE_WORD}(?:-\w+)?))(?P<last>(?:\s+(?:(?:van|von|de|der|da|di|al)\s+)?{_TITLE_WORD}(?:-{_TITLE_WORD})?){{0,2}})"
)
_DEMONYM = lazy(r"\w+(?:ish|ese|ian|ean|can|lic|ist)", re.IGNORECASE)
_NO_PERSON = word_set(
    """
    dutch french greek german swiss czech thai iraqi israeli pakistani turk muslim jewish hindu sikh vegan aries taurus
    gemini cancer virgo libra scorpio sagittarius capricorn aquarius pisces labrador poodle beagle husky siamese
    persian dachshund satan santa jesus god karma minister president senator sister brother father mother uncle aunt
    captain king queen prince princess lord lady sir chair mag inigo legion earl bond alexa siri mode company video
    mosque church cathedral hospital museum restaurant theatre airport station stadium university academy"""
)


def person(text: str, begin: int, stop: int) -> Spans:
    """A person's or animal's name, with a title such as `Mrs`; no nationality, no place and no thing."""
    found = _PERSON.match(text, begin, stop)
    if not found or text[found.end() : found.end() + 1].isalnum():
        return []
    end = found.end("first")
    for word in WORD.finditer(text, end, found.end()):
        if word[0].lower() in NOT_NAMES:
            break
        end = word.end()
    first = found["first"].lower()
    last = text[begin:end].lower().split()[-1]
    named = {first, last}.isdisjoint(_NO_PERSON) and first not in NOT_NAMES and first not in KIN and first not in TOOLS
    known = first in FIRST_NAMES or bool(found["title"])
    nobody = first.endswith("ed") or first in PLACES or first in LANGUAGES or _DEMONYM.fullmatch(first)
    return [(begin, end)] if named and (known or not nobody) else []


def known_person(text: str, begin: int, stop: int) -> Spans:
    """A common first name alone: a whole name may be a joke (`My neighbour is Peter Pan`)."""
    spans = person(text, begin, stop)
    return spans if spans and text[slice(*spans[0])].lower() in FIRST_NAMES - {"leo"} else []


_BEFORE_PLACE = lazy(r"(?:the\s+)?", re.IGNORECASE)
_REGION = lazy(rf",\s+(?={CAPITAL})")


def place(text: str, begin: int, stop: int) -> Spans:
    """A well-known place in any case, or a capitalised name with a well-known region after a comma."""
    spans = _place(text, begin, stop)
    known = [part.strip().lower() in PLACES for span in spans for part in text[slice(*span)].split(",")]
    return spans if any(known) else []


def _place(text: str, begin: int, stop: int) -> Spans:
    lead = _BEFORE_PLACE.match(text, begin, stop)
    after = lead.end() if lead else begin
    for start in dict.fromkeys((begin, after)):
        ends = [found.end() for found in islice(WORD.finditer(text, start, min(stop, start + 60)), 3)]
        known = next((end for end in reversed(ends) if text[start:end].lower() in PLACES), None)
        if known is not None and not text[start].isupper():
            return [(start, known)]
    span = name_at(text, after, stop) or name_at(text, begin, stop)
    if span is None:
        return []
    comma = _REGION.match(text, span[1], stop)
    region = name_at(text, comma.end(), stop) if comma else None
    said = text[slice(*region)].lower() if region else ""
    return [(span[0], region[1])] if region and (said in PLACES or text[slice(*region)].isupper()) else [span]


def organisation(text: str, begin: int, stop: int) -> Spans:
    """The capitalised name of an employer: no person, no place and no day."""
    after = begin + 4 if text[begin : begin + 4].lower() == "the " else begin
    span = name_at(text, after, stop)
    words = text[slice(*span)].lower().split() if span else [""]
    nobody = (words[0] in FIRST_NAMES and len(words) < 3) or " ".join(words) in PLACES or words[0] in KIN
    return [] if span is None or nobody or words[-1] in _NO_EMPLOYER else [span]


_NO_EMPLOYER = word_set(
    "choir club band league team home night scale church mass camp weekends scouts guides pilates yoga gym school"
)


def job(text: str, begin: int, stop: int) -> Spans:
    """A profession: a noun for one after words that belong to it: `primary school teacher`."""
    return _job(text, begin, stop, JOBS - PASTIMES)


def paid_job(text: str, begin: int, stop: int) -> Spans:
    """What somebody works as: any profession."""
    return _job(text, begin, stop, JOBS)


def _job(text: str, begin: int, stop: int, heads: frozenset[str]) -> Spans:
    end = begin
    for word in islice(WORD.finditer(text, begin, stop), 4):
        if text[end : word.start()].strip():
            break
        lower = word[0].lower()
        end = word.end()
        if lower in heads and not _goes_on(text, end, stop):
            return [(begin, end)]
        if lower not in JOB_MODIFIERS and lower not in JOBS:
            break
    return []


def _goes_on(text: str, end: int, stop: int) -> bool:
    """Whether another word of a job follows."""
    after = WORD.match(text, end + 1, stop) if text[end : end + 1] == " " else None
    return bool(after) and after[0].lower() in JOBS


_LIST = lazy(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+", re.IGNORECASE)
_ITEM_ENDS = lazy(
    r"\s*(?:$|[.!,;:()…—–\x1f]|\s-)|\s+(?:and|or|but|so|too|as\s+well|since|btw|which|because)\b", re.IGNORECASE
)
_ANOTHER = lazy(
    r"\s*,?\s*(?:and|or|&)\s+(?!(?:i|i['’]\w+|my|please|pls|it|it['’]s|we|he|she|they|need|needs|can['’]?t|have|has|also)\b)",
    re.IGNORECASE,
)
"""A list that goes on with something else: `nuts and bolts`."""


def allergens(text: str, begin: int, stop: int) -> Spans:
    """The allergens of a list, as far as each is a known one: `nuts and birch pollen`."""
    spans: Spans = []
    while begin < stop:
        words = list(islice(WORD.finditer(text, begin, stop), 3))
        known = 0
        while (
            known < len(words)
            and words[known][0].lower() in ALLERGENS
            and words[known].start() <= (words[known - 1].end() + 1 if known else begin)
        ):
            known += 1
        if not known or not _ITEM_ENDS.match(text, words[known - 1].end(), stop):
            break
        spans.append((begin, words[known - 1].end()))
        parted = _LIST.match(text, words[known - 1].end(), stop)
        if not parted:
            break
        begin = parted.end()
    return [] if spans and _ANOTHER.match(text, spans[-1][1], stop) else spans


_NO_KIND = (
    STOP_WORDS["en"]
    | NOT_NAMES
    | word_set(
        """
    back bad best better boring broken cheap closed cold delicious dead different dirty done dry empty expensive
    extinct fine fresh free full funny gone hard healthy homemade humble hot huge late long lost new old open overrated
    perfect rare ready short sick simple small sold sour spicy sweet tasty terrible tiny ugly underrated unhealthy
    vegan warm weird worse seasonal safe loud tricky near nearby popular pricey probably hardly whatever anything
    everything nothing something none like always see creamy crispy crunchy fizzy fruity juicy moldy mouldy salty
    smelly tangy"""
    )
)
_ADJECTIVE = lazy(r"\w+(?:ed|able|ible|ful|ous|ive|less|est|ly)", re.IGNORECASE)


def favourite(text: str, begin: int, stop: int, topic: str) -> Spans:
    """A favourite: a name, or where the kind has no names a common noun of at most three words."""
    after = begin + 4 if text[begin : begin + 4].lower() == "the " else begin
    if text[after : after + 1].isupper():
        span = name_at(text, after, stop)
        said = text[slice(*span)].lower() if span else ""
        origin = (said in LANGUAGES or _DEMONYM.fullmatch(said)) and topic not in _ORIGINS
        return [span] if span and said not in NOT_NAMES and not origin else []
    if topic not in FAVOURITE_KINDS:
        return []
    words = list(islice(WORD.finditer(text, after, stop), 4))
    kept = 0
    while kept < len(words) and words[kept].start() == (words[kept - 1].end() + 1 if kept else after):
        lower = words[kept][0].lower()
        doing = lower.endswith("ing") and lower not in _NOUNS_IN_ING
        if (lower in _NO_KIND and lower not in _SEASONS) or not lower.isalpha() or _ADJECTIVE.fullmatch(lower) or doing:
            break
        kept += 1
    return [(after, words[kept - 1].end())] if 0 < kept <= 3 else []


_ORIGINS = word_set("cuisine food language music genre")
_SEASONS = word_set("spring summer autumn fall winter")
_NOUNS_IN_ING = word_set("spring pudding icing stuffing herring dumpling ling dressing")

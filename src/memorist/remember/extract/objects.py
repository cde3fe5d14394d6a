"""Statements and names as extraction finds them, and matchers for objects: places, people, employers, things."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from memorist.model import Entity, Fact
from memorist.remember.extract.lexicon import (
    BELONGINGS,
    FIRST_NAMES,
    IDENTITIES,
    JOBS,
    LANGUAGES,
    NOT_NAMES,
    PLACES,
    PLAYED,
    WORKPLACES,
    word_set,
)
from memorist.text.dates import find_dates
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
    """The text says it as a change: actually, now, no longer, moved, 不再."""
    since: datetime | None = None
    until: datetime | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Named:
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
"""Finds the objects at the beginning of `text[begin:stop]`."""
MOST_WORDS = 8
"""The longest object; longer ones are whole sentences."""
_LEAD = lazy(
    r"(?:(?:a\s+(?:little|bit)(?:\s+of)?|an?|the|my|our|his|her|their|some|new|both|fluent|actually|probably|definitely"
    r"|always|still|to)\s+)*"
)
"""Words before an object that are no part of it."""
_END = lazy(
    r"\s*(?:[;:!?()\[\]{}<>…—–\n\"“”\x1f。！？，；、]|\.(?!\w)|\s-+\s|[^\x00-\u24ff\u2c00-\ud7ff\uf900-\ufaff])"
    r"|\s+(?:because|since|but|so|which|who|that|when|where|while|if|after|before|until|though|as|for|with|without"
    r"|during|by|from|than|now|anymore|too|currently|today|yesterday|last|this|next|every|each|lol|haha|i|we|it|is|are"
    r"|in\s+(?:my|\d{4})|these\s+days|right\s+now)\b",
    re.IGNORECASE,
)
"""The end of an object: punctuation, or a word that begins something else."""
_LIST = lazy(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|or|&)\s+", re.IGNORECASE)
# `people who …`: the noun alone would be too general.
_RESTRICTED = lazy(r"\s+(?:who|that|it|is|are|i|we)\b", re.IGNORECASE)
_POINTING = lazy(
    r"\b(?:its?|this|that|these|those|them|they|your?|he|him|his|she|hers?|me|us|ones?|how|what|why|where|who"
    r"|(?:some|any|every|no)(?:thing|one|body)|things?|stuff|my|our|here|there|all|the\s+(?!\w+\s+in\b)[a-z]+$)\b",
    re.IGNORECASE,
)
_GIVEN = lazy(r"\bfor\s+(?:my|his|her|their|our)\b|\bgift\b", re.IGNORECASE)
_BEFORE_PLACE = lazy(r"(?:(?:the|downtown|(?:north|south|east|west)(?:ern)?|(?:city|town|suburbs)\s+of)\s+)*")
_NEXT_PLACE = lazy(rf",\s+(?={CAPITAL})")
_AFTER_NAME = word_set("anymore alone together ago area city too full part years year months month weeks week")
_PREPOSITIONS = word_set("at in of for on by with near to from and or")
_ANY_DAY = datetime(2001, 1, 1, tzinfo=UTC)
_AGE = lazy(r"(\d{1,3})(?=\s*(?:years?[\s-]+old|yrs?\s+old|y/?o)\b|\s*$|\s*(?:now|and|but)\b|\s*[,.!](?!\d))")
_EMAIL = lazy(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?<!\.)")
_PHONE = lazy(r"\+?\(?\d[\d\s().-]{5,18}\d")


def place(text: str, begin: int, stop: int) -> Spans:
    """A place: a capitalised name, with a region after a comma, or a well-known place in any case."""
    begin = _after_lead(text, begin, stop, _BEFORE_PLACE)
    span = name_at(text, begin, stop)
    if span is None:
        ends = [found.end() for found in islice(WORD.finditer(text, begin, min(stop, begin + 60)), 3)]
        known = (end for end in reversed(ends) if text[begin:end].lower() in PLACES and _ends(text, end, stop))
        return [(begin, end) for end in islice(known, 1)]
    comma = _NEXT_PLACE.match(text, span[1], stop)
    region = name_at(text, comma.end(), stop) if comma else None
    if region and len(text[slice(*region)].split()) <= 2 and text[slice(*region)].lower() not in FIRST_NAMES:
        return [(span[0], region[1])]
    return [span] if _ends(text, span[1], stop) else []


def name(text: str, begin: int, stop: int) -> Spans:
    """A person's or animal's name: one to three capitalised words."""
    span = name_at(text, begin, stop)
    if span is None or text[span[1] : span[1] + 1] in {"'", "’"}:
        return []
    said = text[slice(*span)]
    return [span] if len(said.split()) <= 3 and said.lower() not in PLACES - FIRST_NAMES else []


def capitalised(text: str, begin: int, stop: int) -> Spans:
    """Any capitalised name, with or without an article."""
    span = name_at(text, _after_lead(text, begin, stop), stop)
    return [span] if span and _ends(text, span[1], stop) else []


def company(text: str, begin: int, stop: int) -> Spans:
    """A capitalised name that is neither a place nor a first name."""
    spans = capitalised(text, begin, stop)
    return [one for one in spans if text[slice(*one)].lower() not in PLACES | FIRST_NAMES]


def organisation(text: str, begin: int, stop: int) -> Spans:
    """A capitalised name, or after an article a common noun for a workplace: `a local comic shop`."""
    after = _after_lead(text, begin, stop)
    noun = _noun_phrase(text, after, stop, WORKPLACES) if after > begin else []
    return noun or capitalised(text, begin, stop)


def job(text: str, begin: int, stop: int) -> Spans:
    """A profession: a noun phrase that ends in one of `JOBS`."""
    return _noun_phrase(text, _after_lead(text, begin, stop), stop, JOBS)


def identity(text: str, begin: int, stop: int) -> Spans:
    """A lasting property other than a profession: `vegetarian`, `retired`."""
    return _noun_phrase(text, _after_lead(text, begin, stop), stop, IDENTITIES)


def thing(text: str, begin: int, stop: int) -> Spans:
    """One thing of at most eight words, up to the next comma or `and`; nothing that refers to what was said before."""
    if text[begin : begin + 1] in {'"', "“"}:
        closing = text.find('"' if text[begin] == '"' else "”", begin + 1, stop)
        return [(begin + 1, closing)] if closing - begin > 0 and text[begin + 1 : closing].strip() else []
    end = _object_end(text, begin, stop)
    begin = _after_lead(text, begin, end)
    said = text[begin:end].rstrip(" \t,.!*~")
    words = [word.lower() for word in WORD.findall(said)]
    if not 1 <= len(words) <= MOST_WORDS or _POINTING.search(said) or _RESTRICTED.match(text, end, stop):
        return []
    unfinished = words[0] in _PREPOSITIONS or words[-1] in _PREPOSITIONS or STOP_WORDS["en"].issuperset(words)
    return [] if unfinished or len(said) < 2 else [(begin, begin + len(said))]


def favourite(text: str, begin: int, stop: int) -> Spans:
    """A name, or a thing with any article."""
    return capitalised(text, begin, stop) or thing(text, begin, stop)


def general_thing(text: str, begin: int, stop: int) -> Spans:
    """A thing that is not definite: `the colours` refers to some that were mentioned before."""
    return [] if text[begin:stop].lower().startswith("the ") else thing(text, begin, stop)


def belonging(text: str, begin: int, stop: int) -> Spans:
    """A possession worth remembering, unless it is for somebody else: `a bike for my son`."""
    if _GIVEN.search(text, begin, stop):
        return []
    return _noun_phrase(text, _after_lead(text, begin, stop), stop, BELONGINGS)


def language(text: str, begin: int, stop: int) -> Spans:
    """A language."""
    return _known(text, begin, stop, LANGUAGES)


def activity(text: str, begin: int, stop: int) -> Spans:
    """Something that people do: a word in -ing with at most three words after it, or one plain noun."""
    spans = general_thing(text, begin, stop)
    words = text[slice(*spans[0])].split() if spans else []
    doing = words[:1] and words[0].endswith("ing") and words[0].lower() not in _NOT_DONE
    return spans if (doing and len(words) <= 4) or (len(words) == 1 and words[0].lower() not in _NOT_DONE) else []


_NOT_DONE = word_set(
    """
    going being having trying getting thinking laughing crying doing talking seeing coming space time room office arms
    hope"""
)


def played(text: str, begin: int, stop: int) -> Spans:
    """An instrument, sport or game."""
    return _known(text, begin, stop, PLAYED)


def age(text: str, begin: int, stop: int) -> Spans:
    """An age from 1 to 120."""
    found = _AGE.match(text, begin, stop)
    return [found.span(1)] if found and 1 <= int(found[1]) <= 120 else []


def email(text: str, begin: int, stop: int) -> Spans:
    """An e-mail address."""
    found = _EMAIL.match(text, begin, stop)
    return [found.span()] if found else []


def phone(text: str, begin: int, stop: int) -> Spans:
    """A telephone number."""
    found = _PHONE.match(text, begin, stop)
    return [found.span()] if found else []


def date(text: str, begin: int, stop: int) -> Spans:
    """A date with a digit, at this place; the moment it refers to does not matter here."""
    found = next(iter(find_dates(text[begin:stop], _ANY_DAY)), None)
    if found is None or found.begin > len("the ") or not any(sign.isdigit() for sign in found.text):
        return []
    return [(begin + found.begin, begin + found.stop)]


_TITLED = lazy(rf"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor)\.?\s+)?(?={CAPITAL})")
_DEMONYM = lazy(r"\w+(?:ish|ese|ian|ean|can)", re.IGNORECASE)
_AMOUNT = lazy(r"(?:about |around )?([£$€¥]?\s?\d[\w.,%/-]*(?:\s+(?!(?:on|in|at|and|now|from|by|for)\b)[\w%/-]+){0,4})")
_CODE = lazy(r"(?=[\w.-]{0,20}\d)([\w.-]*\w(?:\s(?=\S{0,6}\d)[\w-]*\w)?)")
_HOUSE = r"(?:(?:flat|unit|apartment|apt|number|no\.?|house)\s+)?\d+[a-z]?"
_ADDRESS = lazy(rf"{_HOUSE}(?:,?\s+(?:\d\w{{0,5}}|(?-i:{CAPITALISED})|of|the)(?!\w))+", re.IGNORECASE)
_BEFORE_NAME = lazy(rf"(?:(?:an?|the)\s+)(?:[a-z][a-z-]+\s+){{0,2}}?(?={CAPITAL}|\d)")


def person(text: str, begin: int, stop: int) -> Spans:
    """A person's name, with a title such as `Mrs`; no nationality and no place."""
    after = _after_lead(text, begin, stop, _TITLED)
    spans = name(text, after, stop)
    said = text[slice(*spans[0])].lower() if spans else ""
    named = said in FIRST_NAMES or " " in said or not (said in LANGUAGES or _DEMONYM.fullmatch(said))
    return [(begin, spans[0][1])] if spans and named and _ends(text, spans[0][1], stop) else []


def amount(text: str, begin: int, stop: int) -> Spans:
    """A number with its unit: `£900 a month`."""
    found = _AMOUNT.match(text, begin, stop)
    return [found.span(1)] if found else []


def code(text: str, begin: int, stop: int) -> Spans:
    """A word with a digit, or two: `BJ20 VHF`."""
    found = _CODE.match(text, begin, stop)
    return [found.span(1)] if found else []


def address(text: str, begin: int, stop: int) -> Spans:
    """A house number and the capitalised words after it."""
    found = _ADDRESS.match(text, begin, stop)
    named = found and any(word[0].isupper() for word in found[0].split()[1:])
    return [found.span()] if found and named else []


def dated(text: str, begin: int, stop: int) -> Spans:
    """A date with a digit, with or without `on`."""
    return date(text, _after_lead(text, begin, stop, _ON), stop)


def named_thing(text: str, begin: int, stop: int) -> Spans:
    """A quoted title, or a thing with a name: `a second-hand Skoda`."""
    if text[begin : begin + 1] in {'"', "“"}:
        return thing(text, begin, stop)
    lead = _BEFORE_NAME.match(text, begin, stop)
    if not lead and not (text[begin : begin + 1].isupper() or text[begin : begin + 1].isdigit()):
        return []
    span = name_at(text, lead.end() if lead else begin, stop)
    words = text[begin : lead.end()].split() if lead else []
    plain = span is not None and not _PREPOSITIONS.intersection(words) and _ends(text, span[1], stop)
    said = text[slice(*span)].lower() if span else ""
    begin = _after_lead(text, begin, stop)
    return [(begin, span[1])] if plain and span and said not in LANGUAGES else []


def job_title(text: str, begin: int, stop: int) -> Spans:
    """A title in capitals: `Head of Sales`."""
    span = name_at(text, begin, stop)
    first = text[slice(*span)].split(maxsplit=1)[0].lower() if span else ""
    return [span] if span and first in TITLES and " " in text[slice(*span)] else []


_ON = lazy(r"(?:on|by)\s+")
TITLES = word_set("head director chief vice deputy senior lead managing assistant executive general")
"""The first words of titles."""


def listed(matcher: Matcher) -> Matcher:
    """A matcher for a list, `cats, dogs and a horse`, as long as every item matches."""

    def items(text: str, begin: int, stop: int) -> Spans:
        spans: Spans = []
        while begin < stop:
            parted = _LIST.search(text, begin, stop)
            item = matcher(text, begin, parted.start() if parted else stop)
            if not item or (spans and len(text[slice(*item[0])].split()) > 4):
                break
            spans += item
            begin = parted.end() if parted else stop
        return spans

    return items


def _noun_phrase(text: str, begin: int, stop: int, heads: frozenset[str]) -> Spans:
    """Up to five words that end in one of `heads`; the last such word before the end of the object."""
    end, found = _object_end(text, begin, stop), begin
    for word in islice(WORD.finditer(text, begin, end), 5):
        lower = word[0].lower()
        if (lower in NOT_NAMES and lower != "and") or lower in _PREPOSITIONS:
            break
        found = word.end() if lower in heads or lower.removesuffix("s") in heads else found
    return [(begin, found)] if found > begin and _ends(text, found, end) else []


def _known(text: str, begin: int, stop: int, known: frozenset[str]) -> Spans:
    begin = _after_lead(text, begin, stop)
    words = islice(WORD.finditer(text, begin, stop), 3)
    ends = [found.end() for found in words if found[0].lower() in known]
    return [(begin, ends[-1])] if ends else []


def _object_end(text: str, begin: int, stop: int) -> int:
    """Where an object ends: at punctuation, a comma, `and`, or a word that begins something else."""
    found = _END.search(text, begin, stop)
    parted = _LIST.search(text, begin, found.start() if found else stop)
    return parted.start() if parted else found.start() if found else stop


def _ends(text: str, place: int, stop: int) -> bool:
    """Whether the object ends here: it is not possessive and not a modifier, as in `a Boston apartment`."""
    if text[place : place + 1] in {"'", "’"}:
        return False
    after = WORD.match(text, place + 1, stop) if text[place : place + 1] == " " else None
    word = after[0].lower() if after else ""
    known = word in NOT_NAMES or word in _AFTER_NAME or word in _PREPOSITIONS
    return not word or known or word.endswith("ly") or word.isdigit()


def _after_lead(text: str, begin: int, stop: int, lead: re.Pattern[str] = _LEAD) -> int:
    found = lead.match(text, begin, stop)
    return found.end() if found else begin

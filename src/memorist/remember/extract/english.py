"""The English rules: home, work, family, origin, birthday, allergies, favourites and ways to reach somebody.

A rule is a predicate between a subject and an object, and what may follow the object. Each has earned its place: the
table of docs/explanation/extraction.md shows how often it was right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from memorist.remember.extract import objects
from memorist.remember.extract.clauses import Subjects
from memorist.remember.extract.lexicon import JOBS, KIN, word_set
from memorist.text.change import changes
from memorist.text.dates import find_dates
from memorist.text.patterns import LIKE_ASCII, lazy

Times = Literal["state", "event", "always"]
"""Of a rule: a present state, a past change (moved), or a fact that stays true (born)."""

_END = (
    r"\s*(?:$|[.!…]+\s*$|[;:()—–\x1f]|[^\x00-\u24ff\u2c00-\ud7ff]"
    r"|,(?!\s*(?:and\s+|or\s+)?(?-i:[A-Z])|\s*(?:as\s+in|at\s+least|sort\s+of|kind\s+of|or|no\s+wait|wait|scratch\s+that|i\s+mean)\b|\s*no\s*,))"
)
_NEXT = (
    r"\s+(?:but|so|because|now|too|as\s+well|btw|these\s+days|at\s+the\s+moment|right\s+now|and(?!\s+(?-i:[A-Z])(?!\s)"
    r"|\s+(?:the|a|an|sometimes|often|also\s+(?-i:[A-Z]))\b))\b"
)
_SINCE = (
    r"\s+(?:since|for\s+(?:(?:about|over|almost|nearly|more\s+than|the\s+(?:past|last))\s+)?(?:\w+|\d+)\s+years?)\b"
    r"|\s+with\s+(?:my|our|his|her)\b"
)
_MOVED = (
    r"\s+(?:from|for\s+(?:work|my|a\s+(?:new\s+)?job|university|uni|college|school)|last\s+\w+|this\s+\w+|yesterday"
    r"|(?:a|two|three|four|five|six|\d+)\s+(?:days|weeks?|months?)\s+ago|in\s+(?:early\s+|late\s+)?(?:january|february"
    r"|march|april|may|june|july|august|september|october|november|december|20\d\d)|on\s+\d|with\s+(?:my|our|his|her))\b"
)
_EMPLOYED = r"\s+(?:in\s+(?-i:[A-Z])|as\s+an?\s|full[- ]time|since|for\s+(?:\w+|\d+)\s+years?)"


def _tail(*more: str) -> re.Pattern[str]:
    """What may follow an object; anything else may change what it means."""
    return lazy("|".join((_END, _NEXT, *more)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the relation, the words between subject and object, the object, and what may follow it."""

    name: str
    relation: str
    pattern: re.Pattern[str]
    matcher: objects.Matcher
    tail: re.Pattern[str]
    subjects: Subjects = "person"
    times: Times = "state"


_ADVERBS = r"(?:\s+(?:currently|now|still|also|both|actually|officially|originally))*"
_BE = rf"(?:['’](?:m|s|re)|\s+(?:am|is|are)|(?<=\bim)){_ADVERBS}"
_AM = rf"(?:['’](?:m|s)|\s+(?:am|is)|(?<=\bim)){_ADVERBS}"


def _rule(
    name: str, relation: str, pattern: str, matcher: objects.Matcher, *tails: str,
    subjects: Subjects = "person", times: Times = "state",
) -> Rule:  # fmt: skip
    words = pattern.replace(" ", r"\s+")
    return Rule(name, relation, lazy(words, re.IGNORECASE), matcher, _tail(*tails), subjects, times)


PREDICATES = (
    _rule("lives in", "lives_in", rf"(?:{_ADVERBS} lives?|{_BE} (?:living|based)) in ", objects.place, _SINCE,
          subjects="named"),
    _rule("moved to", "lives_in", r"(?: (?:just|recently|finally|have|has)|['’](?:ve|s))* (?:moved|relocated)"
          r"(?: back| over| down| up)?(?: from (?-i:[A-Z])[\w-]*(?: (?-i:[A-Z])[\w-]*)?)? to ",
          objects.place, _MOVED, times="event"),
    _rule("works at", "works_at", rf"(?:{_ADVERBS} works?|{_BE} working) at ", objects.organisation, _EMPLOYED),
    _rule("works as", "works_as", rf"(?:{_ADVERBS} works?|{_BE} working)(?: full[- ]time| part[- ]time)? as an? ",
          objects.paid_job, r"\s+(?:at|for|in)\s", _SINCE),
    _rule("works as", "works_as", rf"{_BE} an? ", objects.job, r"\s+(?:at|in)\s+(?:the\s+)?(?-i:[A-Z])", _SINCE),
    _rule("from", "from", rf"{_BE} from ", objects.place, r"\s+originally"),
    _rule("from", "born_in", r" was born(?: and (?:raised|bred))? in ", objects.place, r"\s+(?:in|on)\s+\d",
          times="always"),
    _rule("years old", "age", rf"{_AM} (?=\d{{1,3}} (?:years|yrs) old\b)", lambda text, begin, stop: _age(text, begin),
          r"\s+(?:years|yrs)\s+old(?=\s*(?:$|[.!,;:)…]|and\b|but\b|now\b))"),
    _rule("allergic to", "allergic_to", rf"{_BE}(?: (?:very|severely|highly|deathly|really|seriously))? allergic to ",
          objects.allergens, r"\s+\w", subjects="anyone"),
)  # fmt: skip
"""What follows a subject."""

_NAMED = r"(?:['’]?s name is| is called| is named|['’]s called) "
OWNED = (
    _rule("my sister is called Anna", "", _NAMED, objects.person),
    _rule("my sister is called Anna", "", r" is (?:now )?", objects.known_person),
)
"""What follows somebody's relative, with the name."""
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = lazy(rf"(?:the\s+)?(?:{_DAY}\s+(?:of\s+)?{_MONTH}|{_MONTH}\s+{_DAY})\b(?:,?\s+(?:19|20)\d\d)?", re.IGNORECASE)
_EMAIL = lazy(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?<!\.)")
_PHONE = lazy(r"(?!(?:19|20)\d\d-\d\d-\d\d(?!\d))\+?\(?\d[\d\s().-]{5,18}\d")


def _at(pattern: re.Pattern[str]) -> objects.Matcher:
    def matcher(text: str, begin: int, stop: int) -> objects.Spans:
        found = pattern.match(text, begin, stop)
        return [found.span()] if found else []

    return matcher


def _age(text: str, begin: int) -> objects.Spans:
    end = begin
    while text[end : end + 1].isdigit():
        end += 1
    return [(begin, end)] if 0 < int(text[begin:end]) <= 120 else []


OWN = (
    _rule("my name is", "name", r"(?:full |first )?name(?:['’]s| is) ", objects.person, subjects="speaker"),
    _rule("birthday", "birthday", r"birthday(?:['’]s| is)(?: on)? ", _at(_DATE)),
    _rule("e-mail and telephone", "email", r"(?:new )?e-?mail(?: address)? is(?: now)? ", _at(_EMAIL),
          subjects="speaker"),
    _rule("e-mail and telephone", "phone", r"(?:new )?(?:(?:phone|mobile|cell|telephone)(?: phone)?(?: number)?|number)"
          r" is(?: now)? ",
          _at(_PHONE), subjects="speaker"),
)  # fmt: skip
"""What follows `my` or another possessor."""
FAVOURITE = lazy(
    r"(?:all[- ]time\s+)?favou?rite\s+(?P<topic>[a-z-]+(?:\s+[a-z-]+){0,3}?)\s+(?:is|has\s+always\s+been)\s+"
    r"(?:now\s+|still\s+)?",
    re.IGNORECASE,
)
"""What follows a possessor and says a favourite."""
FAVOURITE_TAIL = lazy(rf"{_END}|\s+(?:but|because|btw|and\s+(?:i|we|my|it|he|she|they)\b)", re.IGNORECASE)

_WORD = lazy(r"\w+")
_HINTS = word_set(
    """
    live lives living based moved relocated work works working from born old allergic name s birthday email mail phone
    mobile cell telephone number favourite favorite"""
).union(*(_WORD.findall(word) for word in (*JOBS, *KIN)))


def may_state(sentence: str) -> bool:
    """Whether a sentence has the words of any rule; False only if it surely states nothing."""
    if not sentence.isascii() and LIKE_ASCII.search(sentence):
        return True
    return not _HINTS.isdisjoint(_WORD.findall(sentence.lower()))


_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_RECENT = timedelta(days=3 * 365)
"""Who moved longer ago may have moved again."""
_DURATION = lazy(
    r"\bfor\s+(?:(?:about|over|around|more\s+than|the\s+(?:past|last))\s+)?"
    r"(?P<number>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)\s+"
    r"(?P<unit>month|year|decade)s?\b",
    re.IGNORECASE,
)
_SINCE_WHEN = lazy(r"\bsince\b", re.IGNORECASE)
_NEWLY = lazy(
    r"\b(?:actually|now|these\s+days|nowadays|moved|relocated|recently|just\s+(?:started|moved))\b", re.IGNORECASE
)
"""Words that say that something is new, beside those that announce a change."""
_LATELY = lazy(r"\s+(?:now(?!\s+that)|these\s+days|nowadays|actually)\b", re.IGNORECASE)
_BESIDE = lazy(
    r"\b(?:also|too|as\s+well|both|still|another|second|other|besides|mostly|sometimes|often|part[- ]time|half|during"
    r"|weekdays?|weekends?|week)\b",
    re.IGNORECASE,
)
"""Words that say that something else is true as well."""


@dataclass(frozen=True, slots=True)
class Validity:
    """When a fact holds; the fields mean the same as in `Statement`."""

    update: bool = False
    since: datetime | None = None


def validity(times: Times, clause: str, stop: int, at: datetime) -> Validity | None:
    """When the fact of a matched rule holds; None if its dates lie ahead or say that it may be over.

    `stop` is where its object ends. A word of change counts before that or right behind it: in `I work at Acme, where
    the canteen moved` something else has changed. `I now also work at Bosch` ends nothing.
    """
    update = bool(_LATELY.match(clause, stop) or _NEWLY.search(clause, 0, stop) or changes(clause[:stop]) is not None)
    update = update and _BESIDE.search(clause) is None
    if times == "always":
        return Validity(update)
    lasted = _DURATION.search(clause)
    if lasted and times == "state":
        ago = find_dates(f"{lasted['number']} {lasted['unit']}s ago", at)
        return Validity(update, ago[0].start if ago else None)
    spans = find_dates(clause, at)
    if any(span.start > at for span in spans):
        return None
    dates = [span for span in spans if span.start > _FIRST]
    if times == "event":
        if len(dates) > 1 or any(at - span.start > _RECENT for span in dates):
            return None
        return Validity(True, dates[0].start if dates else None)
    return Validity(update, dates[0].start if len(dates) == 1 and _SINCE_WHEN.search(clause) else None)

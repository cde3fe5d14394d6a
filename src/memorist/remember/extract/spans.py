"""Spans of a text and patterns over them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from memorist.model import Entity, Fact
from memorist.remember.extract.lexicon import NOT_NAMES, word_set
from memorist.text.patterns import lazy
from memorist.text.words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that a text states, and what it says of when and whether it still holds."""

    fact: Fact
    quote: str
    """The words of the text that say it."""
    negated: bool = False
    """It is said not to hold, or to hold no longer."""
    update: bool = False
    """It is said as a change: actually, now, no longer, moved, 不再."""
    since: datetime | None = None
    until: datetime | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody or something named in a text, from the character `begin` up to, and without, `stop`."""

    text: str
    kind: str
    begin: int
    stop: int
    entity: Entity | None = None
    """The known entity that is meant, if exactly one is."""


_UNITS = (
    r"km|cm|mm|m|miles?|mi|feet|foot|ft|inch(?:es)?|kg|g|grams?|lbs?|pounds?|oz|ounces?|tons?|l|ml|lit(?:er|re)s?|gallons?"
    r"|°[CF]|degrees?|mph|km/h|kmh|kwh|kw|watts?|volts?|gb|mb|tb|kb|hz|mhz|ghz|acres?|hectares?|calories|kcal|percent"
    r"|公里|千米|厘米|米|公斤|千克|斤|克|升|毫升|平方米|度|吨"
)
_CURRENCIES = (
    r"dollars?|bucks|euros?|pounds sterling|yen|yuan|rmb|rupees?|kronor|kroner|usd|eur|gbp|cny|jpy|sek|nok|chf"
)
_PATTERN = lazy(
    r"(?P<url>\b(?:https?://|www\.)[^\s<>\"'“”，。）)\]]+[^\s<>\"'“”，。）)\].,;:!?])"
    r"|(?P<email>\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}\b)"
    r"|(?P<handle>(?<![\w@.])@[\w](?:[\w.-]{0,38}\w)?)"
    r"|(?P<path>(?<![\w/.:])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*\w(?=[\s,;:.!?)\"']|$)|\b[A-Za-z]:\\[^\s:;,*?\"<>|]+)"
    r"|(?P<isbn>\b(?:ISBN(?:-1[03])?:?\s*)?97[89][- ]?(?:\d[- ]?){9}\d\b|\bISBN(?:-10)?:?\s*(?:\d[- ]?){9}[\dXx]\b)"
    r"|(?P<ticket>\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|(?<![\w&])#\d{1,6}\b)"
    r"|(?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b)"
    rf"|(?P<money>[$€£¥₹]\s?\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?|\b\d+(?:,\d{{3}})*(?:\.\d+)?\s?(?:k\s)?"
    rf"(?:{_CURRENCIES})\b|\d+(?:,\d{{3}})*(?:\.\d+)?(?:元|块钱|美元|欧元|万元|英镑|日元))"
    r"|(?P<phone>(?<![\w.-])(?:\+\d{1,3}[-. ]?)?(?:\(\d{2,4}\)[-. ]?|\d{2,4}[-. ])\d{3,4}[-. ]\d{3,4}(?![\w-])"
    r"|(?<!\d)1[3-9]\d{9}(?!\d))"
    rf"|(?P<measure>\b\d+(?:,\d{{3}})*(?:\.\d+)?\s?(?:(?:{_UNITS})(?!\w)|%))",
    re.IGNORECASE,
)
_CASED = {"ticket": lazy(r"[A-Z#]"), "hash": lazy(r"[0-9a-f]+$")}
_HINT = lazy(r"[\d@/\\]|www\.")


def patterned(text: str) -> Iterator[Named]:
    """Addresses, handles, paths, tickets, hashes, sums and measures, in order and without overlap."""
    if not _HINT.search(text):
        return
    for found in _PATTERN.finditer(text):
        kind = found.lastgroup or ""
        if kind not in _CASED or _CASED[kind].match(found[0]):
            yield Named(found[0], kind, found.start(), found.end())


Spans = list[tuple[int, int]]
Shape = Callable[[str, int, int], Spans]
MOST_WORDS = 8
"""Longer objects are sentences of their own."""
CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪİŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽ]"
CAPITALISED = rf"{CAPITAL}(?:[\w&]|['’.-](?=\w))*"
NAME = rf"{CAPITALISED}(?:\s+(?:(?:of|de|del|la|le|van|von|der|da|di)\s+(?:the\s+)?)?{CAPITALISED}){{0,4}}"
_NAME = lazy(NAME)
_POSSESSIVE = lazy(r"['’]s?$|['’]s?(?=\s)")
WORD = lazy(r"[\w&]+(?:['’./-][\w&]+)*")
_GOES_ON = word_set("anymore alone together ago area city region too full part years year months month weeks week")
# Where the words of an object end: a sign, or a word that begins something else.
_CUT = lazy(
    r"\s*(?:[;:!?()\[\]{}<>…—–\n\"“”\x1f。！？，；、]|\.(?!\w)|\s-+\s|[^\x00-\u24ff\u2c00-\ud7ff\uf900-\ufaff])"
    r"|\s+(?:because|cause|cuz|since|but|so|which|who|whom|whose|that|when|whenever|where|while|if|after|before|until|till"
    r"|though|although|as|for|with|without|during|by|from|than|lately|now|nowadays|anymore|any\s?more|too+|theyre|they['’]re"
    r"|currently|right\s+now|at\s+the\s+moment|these\s+days|today|yesterday|tonight|tomorrow|last|this|next|every|each|lol|haha"
    r"|recently|already|again|either|very|really|still|ever|a\s+lot|so\s+much|as\s+well|the\s+most|more|most|best|and\s+then"
    r"|btw|tbh|honestly|actually|you\s+know|i|i['’]m|we|it|it['’]s|is|are|was|were|have|has|had|will|would|can|just|once"
    r"|due\s+to|in\s+order\s+to|ago|back\s+then|together|in\s+(?:general|particular|my|\d{4})|on\s+(?:my|the\s+weekends?|weekends?))\b",
    re.IGNORECASE,
)
LIST = lazy(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|or|&|as\s+well\s+as)\s+", re.IGNORECASE)
# `people who …`, `music that …`: not all of them are meant.
RESTRICTED = lazy(
    r"\s*[\"“\x1f]|\s+(?:who|that|whose|whom|this|it|each|every|all|is|are|was|were|have|has|had|will|would|can|i|we)\b",
    re.IGNORECASE,
)
# `a safe, inviting place` is no list.
_ADJECTIVES = lazy(r"\ban?\s+\w+,\s+(?!an?\b|and\b|or\b|the\b|\w+ing\s+(?:an?|the)\b)", re.IGNORECASE)
_ATTACHED = lazy(r"\s(?:about|of|in|on|to|from|at)\s")
_GERUND = lazy(r"\w+ing\s+\w")
POINTING = lazy(
    r"\b(?:it|its|it['’]s|lots?|often|usually|sometimes|this|that|these|those|them|they|their|you|your|yours|you['’]re|he"
    r"|him+|his|she|her|hers|me|us|mine"
    r"|one|ones|such|same|how|what|why|where|who|something|anything|everything|everyone|someone|nothing|things?|stuff|way"
    r"|idea|u|ur|ya|em|ok|okay|my|our|etc|like|even|hence|especially|particularly|mostly|including|also|sound|looks?|part"
    r"|vibes?|others?|being|having|all|both|not|here|there|everybody|somebody)\b|#|['’]s\s+[a-z]",
    re.IGNORECASE,
)
_PREPOSITIONS = word_set("at in of for on by with near to from and or")
_PARTICLES = _PREPOSITIONS | word_set("about out up as off into over down around")
_UNFINISHED = _PARTICLES | word_set("the a an my new other different such own very going doing getting")


def name_at(text: str, begin: int, stop: int) -> tuple[int, int] | None:
    """The run of capitalised words at a place, without a possessive; None if it is no name."""
    found = _NAME.match(text, begin, stop)
    if not found:
        return None
    end = begin
    for word in WORD.finditer(text, begin, found.end()):
        if word[0][0].isupper() and word[0].lower() in NOT_NAMES:
            break
        end = word.end()
    run = _POSSESSIVE.split(text[begin:end], maxsplit=1)[0].rstrip()
    while run and not run.rsplit(None, 1)[-1][0].isupper():  # "Bank of" without what follows
        run = run.rpartition(" ")[0].rstrip()
    return (begin, begin + len(run)) if len(run) > 1 else None


def is_possessor(text: str, stop: int) -> bool:
    """Whether the word that stops here owns what follows: `Oslo's`."""
    return text[stop : stop + 1] in {"'", "’"}


def ends_well(text: str, place: int, stop: int) -> bool:
    """Not followed by a noun that the name only describes: `a Boston apartment`, `the Google office`."""
    after = WORD.match(text, place + 1, stop) if text[place : place + 1] == " " else None
    word = after[0].lower() if after else ""
    return not word or word in NOT_NAMES or word in _GOES_ON or word.endswith("ly") or word.isdigit()


def noun_phrase(text: str, begin: int, stop: int, heads: frozenset[str], most: int = 5) -> tuple[int, int] | None:
    """Up to `most` words that end in one of `heads`; the last such word of the run before the cut."""
    end, found = cut(text, begin, stop, commas=True), None
    for count, word in enumerate(WORD.finditer(text, begin, end)):
        lower = word[0].lower()
        if count == most or (lower in NOT_NAMES and lower not in {"senior", "and"}) or lower in _PREPOSITIONS:
            break
        found = word.end() if lower in heads or lower.removesuffix("s") in heads else found
    after = WORD.search(text, found, end) if found else None
    if found and after and after[0].lower() not in NOT_NAMES | _PREPOSITIONS and after.start() == found + 1:
        return None
    return (begin, found) if found else None


def cut(text: str, begin: int, stop: int, *, commas: bool) -> int:
    """Where the words of an object end, at a comma too if `commas`."""
    found = _CUT.search(text, begin, stop)
    end = found.start() if found else stop
    comma = text.find(",", begin, end) if commas else -1
    return comma if comma >= 0 else end


def bounded(text: str, begin: int, stop: int, *, pointing: bool) -> Spans:
    """A span without blanks and stops at its end, if it has one to eight words and points at nothing."""
    said = text[begin:stop].rstrip(" \t,.!*~")
    words = WORD.findall(said)
    if not 1 <= len(words) <= MOST_WORDS or (pointing and POINTING.search(said)):
        return []
    lower = [word.lower() for word in words]
    if lower[0] in _PARTICLES or lower[-1] in _UNFINISHED or STOP_WORDS["en"].issuperset(lower) or len(said) < 2:
        return []
    return [(begin, begin + len(said))]


def listed(text: str, begin: int, stop: int, shape: Shape) -> Spans:
    """Items of a list as long as each has the shape; a title in quotes stands alone."""
    if text[begin : begin + 1] in {'"', "“"}:
        return shape(text, begin, stop)
    end = cut(text, begin, stop, commas=False)
    if RESTRICTED.match(text, end, stop) or _ADJECTIVES.search(text, begin, end):
        return []
    spans: Spans = []
    while begin < end:
        parted = LIST.search(text, begin, end)
        item = shape(text, begin, parted.start() if parted else end)
        if not item or (spans and not _goes_with(text, spans[0], item[0])):
            break
        spans += item
        begin = parted.end() if parted else end
    return spans


def _goes_with(text: str, first: tuple[int, int], item: tuple[int, int]) -> bool:
    """Whether an item of a list is short, and a pastime where the first is one: not `reading books and films`."""
    words = text[item[0] : item[1]].split()
    head = text[first[0] : first[1]]
    return len(words) <= 4 and (words[0].endswith("ing") or not (_GERUND.match(head) or _ATTACHED.search(head)))

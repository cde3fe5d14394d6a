"""Results of extraction, and the phrases from which objects are cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memorist.model import Entity, Fact
from memorist.remember.extract.lexicon import NOT_NAMES, word_set
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


Spans = list[tuple[int, int]]
Matcher = Callable[[str, int, int], Spans]
"""Finds the objects at the beginning of `text[begin:stop]`."""
MOST_WORDS = 8
"""The longest object; longer ones are whole sentences."""
CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪİŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽ]"
CAPITALISED = rf"{CAPITAL}(?:[\w&]|['’.-](?=\w))*"
NAME = rf"{CAPITALISED}(?:\s+(?:(?:of|de|del|la|le|van|von|der|da|di)\s+(?:the\s+)?)?{CAPITALISED}){{0,4}}"
_NAME = lazy(NAME)
_POSSESSIVE = lazy(r"['’]s?$|['’]s?(?=\s)")
WORD = lazy(r"[\w&]+(?:['’./-][\w&]+)*")
_GOES_ON = word_set("anymore alone together ago area city region too full part years year months month weeks week")
# The end of an object: punctuation, or a word that begins something else.
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
# `people who …`, `music that …`: the noun alone would be too general.
RESTRICTED = lazy(
    r"\s*[\"“\x1f]|\s+(?:who|that|whose|whom|this|it|each|every|all|is|are|was|were|have|has|had|will|would|can|i|we)\b",
    re.IGNORECASE,
)
# `a safe, inviting place` is not a list.
_ADJECTIVES = lazy(r"\ban?\s+\w+,\s+(?!an?\b|and\b|or\b|the\b|\w+ing\s+(?:an?|the)\b)", re.IGNORECASE)
_ATTACHED = lazy(r"\s(?:about|of|in|on|to|from|at)\s")
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


def is_possessor(text: str, stop: int) -> bool:
    """Whether the name that ends here is possessive: `Oslo's`."""
    return text[stop : stop + 1] in {"'", "’"}


def ends_well(text: str, place: int, stop: int) -> bool:
    """Whether the name is not a modifier of the next noun: `a Boston apartment`, `the Google office`."""
    after = WORD.match(text, place + 1, stop) if text[place : place + 1] == " " else None
    word = after[0].lower() if after else ""
    return not word or word in NOT_NAMES or word in _GOES_ON or word.endswith("ly") or word.isdigit()


def noun_phrase(text: str, begin: int, stop: int, heads: frozenset[str], most: int = 5) -> tuple[int, int] | None:
    """Up to `most` words that end in one of `heads`; the last head noun before the end of the object."""
    end, found = object_end(text, begin, stop, commas=True), None
    for count, word in enumerate(WORD.finditer(text, begin, end)):
        lower = word[0].lower()
        if count == most or (lower in NOT_NAMES and lower not in {"senior", "and"}) or lower in _PREPOSITIONS:
            break
        found = word.end() if lower in heads or lower.removesuffix("s") in heads else found
    after = WORD.search(text, found, end) if found else None
    if found and after and after[0].lower() not in NOT_NAMES | _PREPOSITIONS and after.start() == found + 1:
        return None
    return (begin, found) if found else None


def object_end(text: str, begin: int, stop: int, *, commas: bool) -> int:
    """Where an object ends; with `commas`, at a comma too."""
    found = _CUT.search(text, begin, stop)
    end = found.start() if found else stop
    comma = text.find(",", begin, end) if commas else -1
    return comma if comma >= 0 else end


def trimmed(text: str, begin: int, stop: int, *, pointing: bool) -> Spans:
    """The span trimmed, if it has one to eight words; with `pointing`, none may be a pronoun or the like."""
    said = text[begin:stop].rstrip(" \t,.!*~")
    words = WORD.findall(said)
    if not 1 <= len(words) <= MOST_WORDS or (pointing and POINTING.search(said)):
        return []
    lower = [word.lower() for word in words]
    if lower[0] in _PARTICLES or lower[-1] in _UNFINISHED or STOP_WORDS["en"].issuperset(lower) or len(said) < 2:
        return []
    return [(begin, begin + len(said))]


def listed(text: str, begin: int, stop: int, matcher: Matcher) -> Spans:
    """The items of a list, as long as each one matches; a quoted title stands alone."""
    if text[begin : begin + 1] in {'"', "“"}:
        return matcher(text, begin, stop)
    end = object_end(text, begin, stop, commas=False)
    if RESTRICTED.match(text, end, stop) or _ADJECTIVES.search(text, begin, end):
        return []
    spans: Spans = []
    while begin < end:
        parted = LIST.search(text, begin, end)
        item = matcher(text, begin, parted.start() if parted else end)
        if not item or (spans and _is_clause(text, spans[0], item[0])):
            break
        spans += item
        begin = parted.end() if parted else end
    return spans


def _is_clause(text: str, first: tuple[int, int], item: tuple[int, int]) -> bool:
    """Whether an item is too long for a list, or may belong to a phrase in the first: `a house in Oslo and …`."""
    return len(text[slice(*item)].split()) > 4 or bool(_ATTACHED.search(text, *first))

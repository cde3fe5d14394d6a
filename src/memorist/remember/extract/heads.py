"""The beginning of a clause: who it is about, and in which tense and mood its verb stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memorist.remember.extract.lexicon import KIN, word_set
from memorist.remember.extract.spans import CAPITALISED, name_at

_TIME = (
    r"(?:in|on|since|back\s+in|last|this|early|late|around|yesterday|today|a\s+few|two|three|\d+)\b"
    r"[^,;.!?\x1f]{0,30}?,?\s+"
)
_CALENDAR = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn"
    r"|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_OPENER = re.compile(
    r"[\s,.!\"“”\x1f]*(?:(?:and|but|so|also|well|yeah|yes|yep|yup|no|nope|nah|oh|ah|hey|hi|hello|btw|by\s+the\s+way|actually"
    r"|honestly|basically|anyway|fyi|ok|okay|now|currently|these\s+days|nowadays|lately|recently|right\s+now|today"
    r"|at\s+the\s+moment|as\s+for\s+me|for\s+me|personally|in\s+fact|to\s+be\s+honest|tbh|fun\s+fact|update|guess\s+what"
    r"|you\s+know|i\s+mean|plus|luckily|sadly|unfortunately|fortunately|finally|then|wow|thanks|haha|lol|sure|because|cuz"
    r"|though|correction|sorry|then|of\s+course|as\s+you\s+know|still)\b[\s,!:.-]*)*"
    rf"(?:{_TIME}(?=(?:i|we|he|she|my|our)\b|(?!{_CALENDAR})(?-i:{CAPITALISED})\s))?",
    re.IGNORECASE,
)
_KIN_WORD = "|".join(sorted(KIN, key=len, reverse=True))
_OLDER = (
    r"(?:(?:older|elder|younger|little|big|baby|twin|best|new|old|late|eldest|oldest|youngest|dear|good|close)\s+)*"
)
KIN_NAMED = re.compile(
    rf"(?P<owner>\b(?:[Mm]y|[Oo]ur)|\b{CAPITALISED}['’]s)\s+(?P<ex>ex[-\s])?{_OLDER}(?P<kin>{_KIN_WORD})\b"
    rf"(?P<own>['’]s)?(?:(?P<comma>,)?\s+(?:(?:named|called)\s+)?(?P<name>{CAPITALISED}(?:\s+{CAPITALISED})?))?",
)
_PRONOUN = re.compile(
    r"(?:(?P<and>(?:my\s+[\w-]+|[A-Z][\w’'-]+)\s+and\s+)?(?P<i>i)|(?P<we>we)|(?P<he>he)|(?P<she>she))"
    r"(?P<clitic>['’]?m\b|['’](?:ve|s|re|d|ll)\b)?(?=\s)",
    re.IGNORECASE,
)
_OWN = re.compile(r"(?P<mine>my|our)\s+|(?P<his>his|her)\s+", re.IGNORECASE)
_WORD = re.compile(r"\s*([a-zA-Z]+(?:['’][a-zA-Z]+)?),?(?=\s|$)")

_BE = word_set("am is are was were been be 'm 's 're m")
_PAST = word_set("was were did had didn't didnt wasn't weren't hadn't")
_HAVE = word_set("have has 've had haven't hasn't hadn't")
_DO = word_set("do does did don't dont doesn't doesnt didn't didnt")
_NOT = word_set(
    """
    not never don't dont doesn't doesnt didn't didnt isn't isnt aren't wasn't weren't haven't hasn't"""
)
_MODAL = word_set(
    "will would could should might may must shall 'll 'd won't wouldn't couldn't shouldn't gonna can't cannot can"
)
_ADVERBS = word_set(
    """
    really actually currently now still just also recently finally always absolutely totally both only
    definitely truly personally especially particularly simply mostly mainly generally usually often sometimes
    already officially happily proudly originally previously formerly even all genuinely honestly normally
    obviously basically lately permanently temporarily primarily quite so very pretty super kind"""
)
_PARTICIPLES = word_set("been lived worked moved always got had gone visited become never just recently only")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a clause is about, and how sure that is."""

    name: str
    confidence: float = 1.0
    plural: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    """What stands between a subject and the word that carries the meaning."""

    place: int
    be: bool = False
    have: bool = False
    past: bool = False
    negated: bool = False
    ended: bool = False
    used_to: bool = False
    modal: bool = False
    do: bool = False

    @property
    def perfect(self) -> bool:
        """Have been, have lived."""
        return self.have and not self.past


def after_opener(text: str, begin: int, stop: int) -> int:
    """Where a clause's subject may stand: after `well, actually,` and `last week,`."""
    found = _OPENER.match(text, begin, stop)
    return found.end() if found else begin


def pronoun_at(text: str, begin: int, stop: int) -> re.Match[str] | None:
    """`I`, `we`, `he` or `she`, with what is stuck to it."""
    return _PRONOUN.match(text, begin, stop)


def own_at(text: str, begin: int, stop: int) -> re.Match[str] | None:
    """`my`, `our`, `his` or `her`."""
    return _OWN.match(text, begin, stop)


def possessor_at(text: str, begin: int, stop: int) -> tuple[str, int] | None:
    """`Anna's `, and where what is hers begins."""
    span = name_at(text, begin, stop)
    if span and text[span[1] : span[1] + 3] in {"'s ", "’s "}:
        return text[span[0] : span[1]], span[1] + 3
    return None


def verb_at(text: str, place: int, stop: int, clitic: str = "") -> Verb:
    """The auxiliaries, adverbs and negations from a place on."""
    verb = Verb(place)
    if clitic:
        verb = _taken(verb, clitic.lower().replace("’", "'"), text, place, stop)
    while found := _WORD.match(text, verb.place, stop):
        word = found[1].lower().replace("’", "'")
        if word in {"no", "used"}:
            verb, more = _two_words(verb, word, text, found.end(), stop)
            if not more:
                return verb
            continue
        if not (
            word in _ADVERBS
            or (word == "got" and verb.have)
            or word in _BE
            or word in _HAVE
            or word in _DO
            or word in _NOT
            or word in _MODAL
        ):
            return verb
        if word in _ADVERBS and "," in found[0]:
            return verb
        verb = replace(_taken(verb, word, text, found.end(), stop), place=found.end())
    return verb


def _two_words(verb: Verb, word: str, text: str, place: int, stop: int) -> tuple[Verb, bool]:
    """`no longer`, `used to`."""
    found = _WORD.match(text, place, stop)
    second = found[1].lower() if found else ""
    if found and word == "no" and second == "longer":
        return replace(verb, negated=True, ended=True, place=found.end()), True
    if found and word == "used" and second == "to":
        return replace(verb, past=True, used_to=True, place=found.end()), True
    return verb, False


def _taken(verb: Verb, word: str, text: str, place: int, stop: int) -> Verb:
    if word == "'s":
        after = _WORD.match(text, place, stop)
        word = "has" if after and after[1].lower() in _PARTICIPLES else "is"
    return replace(
        verb,
        be=verb.be or word in _BE or word in {"isn't", "isnt", "aren't", "wasn't", "weren't"},
        have=verb.have or word in _HAVE,
        past=verb.past or word in _PAST,
        negated=verb.negated or word in _NOT,
        modal=verb.modal or word in _MODAL,
        do=verb.do or word in _DO,
    )

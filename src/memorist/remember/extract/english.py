"""The English rules: homes, work, family, personal details and favourites.

A group of a pattern is named after the relation of the object in it. `not_` before the name negates the fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memorist.remember.extract import objects
from memorist.remember.extract.lexicon import ATTRIBUTES, BELONGINGS, IDENTITIES, JOBS, KIN, word_set
from memorist.remember.extract.tense import Tense
from memorist.text.patterns import LIKE_ASCII, lazy


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern of a predicate, matched where the predicate begins, and its tense."""

    pattern: re.Pattern[str]
    tense: Tense


def rule(pattern: str, tense: Tense = "state") -> Rule:
    """A rule; a space in the pattern matches any whitespace."""
    return Rule(lazy(pattern.replace(" ", r"\s+"), re.IGNORECASE), tense)


def _event(*patterns: str) -> tuple[Rule, ...]:
    return tuple(rule(pattern, "event") for pattern in patterns)


def _plan(*patterns: str) -> tuple[Rule, ...]:
    return tuple(rule(pattern, "plan") for pattern in patterns)


def _by_word(table: Mapping[str, Iterable[Rule]]) -> dict[str, tuple[Rule, ...]]:
    return {word: tuple(rules) for words, rules in table.items() for word in words.split()}


OBJECTS: Mapping[str, objects.Matcher] = {
    "lives_in": objects.place,
    "from": objects.place,
    "grew_up_in": objects.place,
    "born_in": objects.place,
    "visited": objects.place,
    "works_at": objects.organisation,
    "works_at_company": objects.company,
    "works_as": objects.job,
    "studies": objects.thing,
    "studies_at": objects.capitalised,
    "studied_at": objects.capitalised,
    "member_of": objects.capitalised,
    "married_to": objects.name,
    "partner": objects.name,
    "kin": objects.listed(objects.person),
    "name": objects.name,
    "is": objects.identity,
    "age": objects.age,
    "born_on": objects.date,
    "birthday": objects.date,
    "email": objects.email,
    "phone": objects.phone,
    "allergic_to": objects.listed(objects.general_thing),
    "speaks": objects.listed(objects.language),
    "plays": objects.listed(objects.played),
    "has": objects.listed(objects.belonging),
    "favourite": objects.favourite,
    "boss": objects.person,
    "address": objects.address,
    "works_as_title": objects.job_title,
    "uses": objects.capitalised,
    "does": objects.activity,
    "person": objects.person,
    "amount": objects.amount,
    "code": objects.code,
    "time": objects.dated,
    "thing": objects.named_thing,
}
"""The matcher of each relation; `works_at_company` is `works_at` with a name that is surely a company. The last
five are kinds of attributes, whose relation is the noun."""
PERSONAL = word_set("works_as is age born_on married_to partner name")
"""Relations that `we` do not have, and whose plain negation states nothing: `not 22` is not an age."""

_IN = r"(?:in|near|around|over in|out in|here in|down in|up in|back in)"
_TO = r"(?:back |over |down |up |out |here |all the way )*to"
_AT = r"(?:at|for|with)"
_WORKS = (
    rf"(?:full[- ]time |part[- ]time |remotely )*as (?P<works_as>[^,;]+?)(?: {_AT} (?P<works_at>.+))?$",
    rf"(?:full[- ]time |part[- ]time |remotely )*{_AT} (?P<works_at>.+?)(?: as (?P<works_as>.+))?$",
)
_STUDIES = (r"(?P<studies>[^,;]+?)(?: at (?P<studies_at>.+))?$", r"at (?P<studies_at>.+)")
_PLURAL_KIN = {"kids": "child", "children": "child", "sons": "child", "daughters": "child", "brothers": "brother",
               "sisters": "sister", "siblings": "sibling", "dogs": "pet", "cats": "pet", "pets": "pet",
               "friends": "friend", "parents": "parent", "roommates": "roommate"}  # fmt: skip
RELATIONS = {**KIN, **_PLURAL_KIN}
"""The relation for each kinship word."""
_KIN_WORDS = "|".join(sorted(RELATIONS, key=len, reverse=True))
_KIN_CALLED = (
    rf"(?:an?|another|the|two|three|four|\d) (?:[\w-]+ ){{0,3}}?(?P<word>{_KIN_WORDS}),? (?:named|called) (?P<kin>.+)"
)
_VAGUE = r"(?!parts?\b|things?\b|ones?\b|bits?\b|ways?\b|moments?\b|memor|of\b|to\b|kinds?\b|types?\b)"
_TOPIC = rf"(?P<topic>{_VAGUE}[\w-]+(?: (?!is\b|are\b|was\b|to\b|of\b|for\b|in\b|ever\b|so\b|right\b)[\w-]+){{0,2}})"
FAVOURITE_CALLED = rule(rf"\bmy (?:all[- ]time )?(?:favou?rite|fave) {_TOPIC},? (?:called|named) (?P<favourite>[^\n]+)")
"""A favourite with its name, anywhere in a sentence: `my favourite game called Go`."""

_MOVES = (
    rf" {_TO} (?P<address>(?:flat |number |no\.? )?\d.+)",
    rf" {_TO} (?P<lives_in>.+?)(?: from (?P<not_lives_in>.+))?$",
    rf" (?:away )?from (?P<not_lives_in>.+?)(?: {_TO} (?P<lives_in>.+))?$",
    r" out of (?P<not_lives_in>.+)",
)
_LEAVES = (
    rf" (?:my job|working) {_AT} (?P<not_works_at>.+)",
    r" (?P<not_works_at_company>[A-Z].+)",
    r" (?:my|being) (?:job as )?(?P<not_works_as>.+)",
)
_JOINS = (r" (?:the (?P<member_of>.+)|(?P<works_at_company>.+))",)
_NO_TRIP = r"(?:(?!\b(?:on|at|by|next|this|tomorrow|today|tonight)\b)[^\d])"
_STARTS = tuple(f" (?:(?:a |my )?new job|a job|working) {pattern}" for pattern in _WORKS)
_PRACTISES = r" (?:playing )?(?:the )?(?P<plays>.+)"
_I_START = (r" as (?P<works_as>[^,;]+?)(?: at (?P<works_at>.+))?$", r" at (?P<works_at_company>.+)")

VERBS = _by_word({
    "live lives reside resides": (
        rule(r" at (?P<address>.+)"),
        rule(rf" (?:alone |together |with [\w ]{{2,20}} )?{_IN} (?P<lives_in>.+)"),
    ),
    "lived resided": (rule(rf" {_IN} (?P<lives_in>.+)", "past"),),
    "moved relocated": _event(*_MOVES),
    "move moves moving relocate relocates relocating": _plan(*_MOVES),
    "come comes": (rule(rf" (?:originally )?from (?P<from>{_NO_TRIP}+)$"),),
    "grew": (rule(r" up (?:just )?(?:in|near|outside) (?P<grew_up_in>.+)", "always"),),
    "visited": _event(r" (?P<visited>.+)"),
    "went travelled traveled flew": _event(r" (?:back |over )?to (?P<visited>.+)"),
    "work works": [rule(f" {pattern}") for pattern in _WORKS],
    "worked": [rule(f" {pattern}", "past") for pattern in _WORKS],
    "joined": _event(*_JOINS),
    "join joins joining": _plan(*_JOINS),
    "started began": _event(*_STARTS, _PRACTISES),
    "starts begins": (*_plan(*_STARTS), rule(_PRACTISES)),
    "start starting begin beginning": (*_plan(*_STARTS, *_I_START), rule(_PRACTISES)),
    "became": _event(r" (?P<works_as>.+)"),
    "become becomes becoming": _plan(r" (?P<works_as>.+)"),
    "left quit": _event(*_LEAVES),
    "leave leaves leaving": _plan(*_LEAVES),
    "lost": _event(rf" my (?:\w+ )?job (?:as (?P<not_works_as>.+)|{_AT} (?P<not_works_at>.+))"),
    "stopped": _event(
        rf" working {_AT} (?P<not_works_at>.+)",
        r" (?:playing )(?P<not_plays>.+)",
        r" using (?P<not_uses>.+)",
        r" (?P<not_does>.+)",
    ),
    "gave given": _event(r" up (?:playing )?(?:the )?(?P<not_plays>.+)", r" up (?P<not_does>.+)"),
    "took taken": _event(r" up (?:playing )?(?:the )?(?P<plays>.+)", r" up (?P<does>.+)"),
    "switched migrated": _event(r" (?:over )?(?:from (?P<not_uses>.+?) )?to (?P<uses>.+)"),
    "switch switches switching migrate migrates migrating": _plan(
        r" (?:over )?(?:from (?P<not_uses>.+?) )?to (?P<uses>.+)"
    ),
    "replaced": _event(r" (?P<not_uses>.+?) (?:by|with) (?P<uses>.+)"),
    "use uses": (rule(r" (?P<uses>.+)"),),
    "report reports": (rule(r" (?:directly )?to (?P<boss>.+)"),),
    "study": [rule(f" {pattern}") for pattern in _STUDIES],
    "graduated": (rule(r" from (?P<studied_at>.+)", "always"),),
    "married": _event(r" (?P<married_to>[A-Z].+)"),
    "marry marries marrying": _plan(r" (?P<married_to>[A-Z].+)"),
    "got adopted bought": _event(
        f" {_KIN_CALLED}",
        *(f" (?:a|the|my) (?:new )?(?:job|position) {pattern}" for pattern in _WORKS),
        r" (?:promoted to|hired as) (?P<works_as>.+)",
        r" married to (?P<married_to>.+)",
        r" engaged to (?P<partner>.+)",
        r" (?P<has>(?:an?|two|three|my|\d+) .+)",
    ),
    "divorced": _event(r" (?P<not_married_to>[A-Z].+)"),
    "turned": _event(r" (?P<age>\d.*)"),
    "turn turns turning": _plan(r" (?P<age>\d+)(?= )"),
    "speak speaks": (rule(r" (?P<speaks>.+)"),),
    "play plays": (rule(r" (?P<plays>.+)"),),
    "can": (rule(r" (?:speak (?P<speaks>.+)|play (?P<plays>.+))"),),
    "own owns": (rule(r" (?P<has>(?:an?|two|three|\d+) .+)"),),
})  # fmt: skip
"""Rules for what follows a verb, by the verb's forms."""

BE = (
    rule(rf"(?:living|based|residing) (?:alone |together |with [\w ]{{2,20}} )?{_IN} (?P<lives_in>.+)"),
    rule(r"(?:originally )?from (?P<from>.+)"),
    rule(r"born(?: and (?:raised|bred))? (?:in|near) (?P<born_in>.+)", "always"),
    rule(r"born (?:on|in) (?P<born_on>.+)", "always"),
    *(rule(f"working {pattern}") for pattern in _WORKS),
    *(rule(f"(?:studying|majoring in) {pattern}") for pattern in _STUDIES),
    rule(r"at (?P<address>(?:flat |unit |number |no\.? )?\d.+)"),
    rule(r"(?P<does>\w+ing(?: [^,;]+)?) again\b"),
    rule(r"(?:the )?(?P<works_as_title>.+)"),
    rule(rf"(?:the|an?) (?P<works_as>[^,;]+?)(?: (?:of|{_AT}) (?P<works_at>.+))?$"),
    rule(r"an? (?:[\w-]+ ){0,3}student (?:at|of) (?P<studies_at>.+)"),
    rule(r"at (?P<works_at_company>.+? for .+)"),
    rule(r"(?:happily )?married to (?P<married_to>.+)"),
    rule(r"(?:engaged to|dating|in a relationship with) (?P<partner>[A-Z].+)"),
    rule(r"(?P<age>\d.*)"),
    rule(r"(?:severely |deathly |very |highly )?(?:allergic|intolerant) to (?P<allergic_to>.+)"),
    rule(r"(?P<allergic_to>lactose|gluten)[ -]intolerant"),
    rule(r"fluent in (?P<speaks>.+)"),
    rule(r"(?:called|named) (?P<name>.+)"),
    rule(r"(?P<is>.+)"),
)
"""Rules for what follows a form of `to be`."""

HAVE = (
    *_event(r"to (?P<visited>.+)"),
    rule(_KIN_CALLED),
    rule(r"(?P<has>(?:an?|two|three|four|five|six|\d+|several|some|type \d) .+)"),
    rule(r"an? (?:severe |bad )?(?:(?P<allergic_to>[\w ]{3,30}?) allergy|allergy to (?P<allergic_to_>.+))"),
)
"""Rules for what follows `have` or `have got`."""

OWN = _by_word({
    "hometown": (rule(r",? (?:is )?(?P<from>.+)"),),
    "job": (rule(r" (?:title )?is (?P<works_as>.+)"),),
    "employer company": (rule(r" is (?P<works_at>.+)"),),
    "major": (rule(r" (?:is|was) (?P<studies>.+)"),),
    " ".join(RELATIONS): (rule(r"(?:['’]s?)?(?: names?)? (?:is|are|called|named) (?P<kin>[A-Z].+)"),),
    "name": (rule(r"(?:['’]s| is) (?P<name>.+)"),),
    "full first": (rule(r" name is (?P<name>.+)"),),
    "age": (rule(r" is (?P<age>.+)"),),
    "birthday": (rule(r"(?:['’]s| is| falls) (?:on |in )?(?P<birthday>.+)"),),
    "email e-mail": (rule(r"(?: address)? is:? (?P<email>.+)"),),
    "phone mobile cell number": (rule(r"(?: phone)?(?: number)? is:? (?P<phone>.+)"),),
    "favourite favorite fave all-time": (
        rule(rf"(?: (?:favou?rite|fave))? {_TOPIC} (?:is|are|has always been|has to be) (?P<favourite>.+)"),
    ),
})  # fmt: skip
"""Rules for what follows `my` or another possessor, by the noun that is owned."""

_NOUNS = "|".join(sorted({noun for nouns in ATTRIBUTES.values() for noun in nouns}, key=len, reverse=True))
_PLAIN = r"(?!(?:old|former|previous|last|next|first|only|whole|total|other|real|own|main|ex)\b)"
ATTRIBUTE = rule(
    rf"(?:(?:new|current) )?(?P<noun>(?:{_PLAIN}[\w-]+ ){{0,2}}?(?:{_NOUNS}))"
    r"(?: for (?:the )?(?P<of>[\w-]+(?: [\w-]+)?))?\b"
)
"""What somebody or something has one of, as far as its verb: `rent`, `piano teacher`, `PIN for the key safe`."""
VALUES = {kind: (rule(rf"(?:called |named )?(?P<{kind}>.+)"),) for kind in ATTRIBUTES}
"""Rules for what follows an attribute and a form of `to be`, by the kind of the attribute."""
_THEN = r"(?: then| now)?: "
NEW = rule(
    rf"(?:(?:my|our) )?new (?:(?:home )?address{_THEN}(?P<address>.+)|e-?mail(?: address)?{_THEN}(?P<email>.+)"
    rf"|(?:phone |mobile )?(?:number|phone|mobile){_THEN}(?P<phone>.+))"
)
"""A new address or number after a label."""
THING_OF = rule(rf"(?:the|our) (?P<thing>(?:{_PLAIN}[\w-]+ ){{1,2}}?)(?={_NOUNS})")
"""The thing that has an attribute: `the gate code`."""

WHOLE = (
    rule(rf"(?P<kin>[^,;]{{2,40}}?) is (?:my|our) (?:\w+ )?(?P<word>{_KIN_WORDS})\W*$"),
    rule(
        r"(?P<favourite>[^,;]{2,60}?) (?:is|are) (?:definitely |still |by far )?my (?:all[- ]time )?"
        rf"(?:favou?rite|fave) {_TOPIC}(?: ever| of all time)?\W*$"
    ),
)
"""Rules for whole clauses about the speaker."""

# Most sentences state nothing. Every rule above needs one of these words, or two of a pair.
_NEEDED = word_set(
    """
    living based residing from born working studying majoring again student married engaged dating relationship
    allergic intolerant fluent called named allergy job position promoted hired speak play address
    favourite favorite fave"""
)
_NEEDS_MORE = word_set("can got adopted bought come comes all-time")
"""Verbs and nouns whose rules all need a word of the others."""
_HEADS = JOBS | IDENTITIES | BELONGINGS
_WORD, _DIGIT = lazy(r"\w+"), lazy(r"\d")
_HINTS = frozenset(
    _WORD.findall(word)[-1]
    for word in (
        *_NEEDED,
        *(VERBS.keys() | OWN.keys()) - _NEEDS_MORE,
        *(form for head in _HEADS for form in (head, f"{head}s")),
        *objects.TITLES,
        *RELATIONS,
        *_NOUNS.split("|"),
    )
)
_PAIRS = (
    (word_set("at"), word_set("for")),
    (word_set("to"), word_set("have has had haven hasn hadn ve s")),
    (word_set("all"), word_set("time")),
)


def may_state(sentence: str) -> bool:
    """Whether a sentence has the words of any rule; False only if it surely states nothing."""
    if not sentence.isascii() and LIKE_ASCII.search(sentence):
        return True
    words = set(_WORD.findall(sentence.lower()))
    if not _HINTS.isdisjoint(words) or _DIGIT.search(sentence):
        return True
    return any(not one.isdisjoint(words) and not other.isdisjoint(words) for one, other in _PAIRS)

"""Facts in words: one sentence per relation.

A relation that the table does not know is read by its form: a verb in the third person, a past tense, an adjective with
a preposition, or a noun. So names that callers and language models make up become sentences too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memorist.text.words import has_chinese, snake


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for lookups."""
    return frozenset(text.split())


SENTENCES = {
    "from": "{s} is from {o}",
    "name": "{s}'s name is {o}",
    "age": "{s} is {o}",
    "born_on": "{s} was born on {o}",
    "born_in": "{s} was born in {o}",
    "works_as": "{s} works as {a}",
    "is_a": "{s} is {a}",
    "is": "{s} is {o}",
    "instance_of": "{s} is {a}",
    "part_of": "{s} is part of {o}",
    "member_of": "{s} is a member of {o}",
    "child_of": "{s} is a child of {o}",
    "parent_of": "{s} is a parent of {o}",
    "friend_of": "{s} is a friend of {o}",
    "capital_of": "{s} is the capital of {o}",
    "due_on": "{s} is due on {o}",
    "has": "{s} has {h}",
    "same_as": "{s} is the same as {o}",
    "years_at": "{s} has spent {y} there",
}
"""Sentences of relations whose form misleads; {a}, and {h} for one thing, have an article, {y} its unit."""
ROLES = word_set(
    """
    husband wife spouse partner fiance fiancee boyfriend girlfriend mother mum mom father dad parent son
    daughter child baby brother sister sibling twin uncle aunt cousin niece nephew grandmother grandfather
    grandma grandpa grandson granddaughter friend neighbour neighbor colleague coworker flatmate roommate boss
    manager supervisor assistant employee mentor teacher tutor coach trainer student landlord landlady tenant
    owner doctor gp dentist vet therapist lawyer solicitor accountant babysitter nanny cleaner plumber pet dog
    cat puppy kitten horse rabbit hamster
    """
)
"""Who or what somebody is to somebody else: `Grace is Frank's boss.`"""
_PREPOSITIONS = word_set(
    """
    at in on to of for with from by as into about after under over near against since than
    inside outside behind beside within without during through towards
    """
)
_ADJECTIVES = word_set(
    """
    allergic afraid fond proud good bad responsible interested married engaged related located based named known
    famous keen intolerant addicted divorced separated subscribed dedicated attached next close similar identical
    equal opposite senior junior loyal sensitive available ready made born
    """
)
_VERBS = word_set(
    """
    like love hate want need use own know prefer speak study play drive teach read write work live belong report
    contain support depend manage lead visit enjoy collect drink eat wear run deploy start end open close cost
    """
)
_AUXILIARIES = word_set(
    """
    is are was were has have had can could will would should must may might do does did cannot
    never always often usually currently formerly previously
    """
)
"""Words that a verb follows, or that make the relation a verb."""
_PAST = word_set(
    """
    been bought sold met wrote won lost left went became began read built taught saw has had was is
    """
)


def sentence(subject: str, relation: str, object: str) -> str:
    """A fact in words: `Alice lives in Stockholm.`, `Grace is Frank's boss.`"""
    relation = relation.strip().strip("_")
    if has_chinese(relation):
        return f"{subject}的{relation}是{object}。"
    relation = _spelt(relation)
    known = SENTENCES.get(relation) or _made(relation)
    owned = object if _is_many(object) else _with_article(object)
    said = known.format(s=subject, o=object, a=_with_article(object), h=owned, y=_in_years(object))
    return said if said.endswith((".", "!", "?", "。", "！", "？")) else f"{said}."


def reword(text: str, subject: str, relation: str, object: str) -> str:
    """The text of a fact as a reader should see it: one that was stored before relations had sentences gets its own."""
    former = f"{subject} {relation.replace('_', ' ')} {object}."
    return sentence(subject, relation, object) if text == former else text


def _spelt(relation: str) -> str:
    """A relation in words joined by `_`: also `worksAt` and `WORKS_AT`."""
    relation = re.sub(r"[^\w']|[{}]", "_", relation).strip("_")
    shouted = relation.isupper() and ("_" in relation or relation.lower().removesuffix("s") in _VERBS)
    if shouted:
        return relation.lower()
    return relation if "_" in relation or relation.isupper() else snake(relation)


def _made(relation: str) -> str:
    """The sentence of a relation that the table does not know."""
    parts = [part for part in relation.split("_") if part] or ["related", "to"]
    first, last, said = parts[0].lower(), parts[-1].lower(), " ".join(parts)
    if relation.startswith("years_at_"):
        return f"{{s}} has spent {{y}} at {' '.join(parts[2:])}"
    if first in _AUXILIARIES:
        return _with_auxiliary(first, parts[1:], said)
    if last in ROLES:
        return f"{{o}} is {{s}}'s {said}"
    if last == "of" and parts[-2:-1] and parts[-2].lower() in ROLES:
        return f"{{s}} is {{o}}'s {' '.join(parts[:-1])}"
    if _is_state(first, last, alone=len(parts) == 1):
        return f"{{s}} is {said} {{o}}"
    if first in _VERBS:
        return f"{{s}} {' '.join([_third_person(parts[0]), *parts[1:]])} {{o}}"
    if first in _PAST or _is_verb(first, last, alone=len(parts) == 1):
        return f"{{s}} {said} {{o}}"
    return _with_noun(parts, last, said)


def _is_state(first: str, last: str, *, alone: bool) -> bool:
    """Whether a relation follows `is`: an adjective, a participle, a comparison, a place or `not`."""
    if first in _ADJECTIVES or first == "not" or last == "than" or (alone and first in _PREPOSITIONS):
        return True
    return (last == "by" and not first.endswith("s")) or (first.endswith("ing") and last in _PREPOSITIONS)


def _with_noun(parts: Sequence[str], last: str, said: str) -> str:
    """`March 3 is the deadline for …`, `Ann's trip is to …` or `Ann's hobby is …`."""
    if last in ("of", "for"):
        return f"{{s}} is the {said} {{o}}"
    noun, place = (parts[:-1], f" {last}") if last in _PREPOSITIONS else (parts, "")
    return f"{{s}}'s {' '.join(noun)} {'are' if noun[-1].lower() in _PLURALS else 'is'}{place} {{o}}"


def _with_auxiliary(first: str, rest: Sequence[str], said: str) -> str:
    """The sentence of `can_play`, `has_been_to` and `was_born_in`, and of `has_pet`, whose second word is a noun."""
    verb = not rest or first not in ("has", "have", "had") or rest[0] in _PAST or rest[0].endswith(("ed", "en"))
    if verb:
        return f"{{s}} {said} {{o}}"
    article = "a" if rest[-1] in _PREPOSITIONS else "the"
    return f"{{s}} {first} {article} {' '.join(rest)} {{o}}"


def _is_verb(first: str, last: str, *, alone: bool) -> bool:
    """Whether a relation reads as a verb: in the third person or the past, alone or before a preposition."""
    inflected = first.endswith("ed") or (first.endswith("s") and not first.endswith(("ss", "us", "is", "ess")))
    if first in _PLURALS and last == "to":
        return True
    return inflected and first not in _PLURALS | _SINGULARS and (alone or last in _PREPOSITIONS or first[:-1] in _VERBS)


_PLURALS = word_set("hours glasses sales plans goals kids terms")
_SINGULARS = word_set("status address series species news")


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "ch", "sh", "o")) else f"{verb}s"


_DETERMINERS = word_set(
    """
    a an the my our his her their its your this that one two three four five six seven eight nine ten no some any many
    several few both all each every lots plenty much more head
    """
)
_UNCOUNTED = word_set(
    """
    money time access asthma insomnia cancer anaemia anemia hair experience news information advice homework furniture
    luggage equipment trouble help permission eyesight autism dyslexia adhd work fun pain
    """
)


def _is_many(thing: str) -> bool:
    """Whether what somebody has is several things, or nothing that can be counted."""
    last = thing.rsplit(" ", 1)[-1].lower()
    return last in _UNCOUNTED or (last.endswith("s") and not last.endswith(("ss", "us"))) or last.endswith("ing")


def _with_article(noun: str) -> str:
    """A noun with an article, if it begins like one that needs it: in lower case, without a determiner."""
    first = noun.split(" ", 1)[0].lower()
    if not noun[:1].islower() or not noun.isascii() or first in _DETERMINERS:
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _in_years(number: str) -> str:
    return number if "year" in number.lower() else f"{number} years"

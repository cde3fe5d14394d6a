"""Statements in a text, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from memorist.model import Fact, instant
from memorist.remember.extract.chinese import chinese_statements
from memorist.remember.extract.clauses import (
    APPOSED,
    KIN_NAMED,
    LONGEST_TEXT,
    MASK,
    PRONOUN,
    Sentence,
    Subject,
    Verb,
    after_opener,
    asserts,
    clauses,
    is_doubted,
    own_words_of,
    spoken_sentences,
    verb_at,
)
from memorist.remember.extract.english import (
    ATTRIBUTE,
    BE,
    FAVOURITE_CALLED,
    HAVE,
    NEW,
    OBJECTS,
    OWN,
    PERSONAL,
    RELATIONS,
    THING_OF,
    VALUES,
    VERBS,
    WHOLE,
    Rule,
    may_state,
)
from memorist.remember.extract.lexicon import (
    ATTRIBUTES,
    FIRST_NAMES,
    KIN,
    NOT_NAMES,
    ONLY_ONE,
    PLACES,
    SAME_ATTRIBUTE,
    word_set,
)
from memorist.remember.extract.objects import Statement, name_at
from memorist.remember.extract.tense import DURATION, validity
from memorist.text.patterns import lazy
from memorist.text.tokens import holds_any
from memorist.text.words import has_chinese

MOST_STATEMENTS = 200
"""The most facts that are read from one text."""

_AFTER_APPOSITION = lazy(r",|\s+(?:is|was|has|lives|works|moved|just)\b")
_MY = lazy(r"(?:my|our)\s+", re.IGNORECASE)
_FIRST_WORD = lazy(r"\s*([\w-]+)")
_SPACE = lazy(r"\s*")
_BASE_FORMS = word_set(
    "live reside come work study speak play own move relocate join start begin become leave marry turn"
)
_BEGUN = word_set("live reside work report move relocate join start begin become leave marry turn switch migrate")
"""Verbs of what lasts or begins: `I will work at …` is a plan, `I will play tennis` is one game."""
_SLUG = lazy(r"[\W_]+")
_WITHOUT_I = lazy(
    r"(?:(?:just|recently|finally)\s+)*(?:lost|moved|joined|started|quit|bought|adopted|visited|went|got)\s",
    re.IGNORECASE,
)
"""`Just moved to Oslo!`: chat messages often omit `I`."""
_ELIDED = lazy(r"(?:and|but)\s+(?:also\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class People:
    """The people a text may be about: the speaker, the addressee and those named in it."""

    text: str
    speaker: str | None
    addressee: str | None

    def relative(self, found: re.Match[str]) -> str | None:
        """The name of the relative in a match of `KIN_NAMED`; `Alice's mom` if there can be only one."""
        if name := self.relative_name(found):
            return name
        owner, word = self.owner(found), found["kin"].lower()
        unnamed = owner and word in ONLY_ONE and not (found["ex"] or found["own"] or found["name"])
        return f"{owner}'s {word}" if unnamed else None

    def relative_name(self, found: re.Match[str]) -> str | None:
        """The name of the relative, unless it may be the person addressed."""
        addressed = found["comma"] and not _AFTER_APPOSITION.match(self.text, found.end())
        if found["ex"] or found["own"] or not found["name"] or addressed:
            return None
        span = name_at(self.text, found.start("name"), found.end())
        name = self.text[slice(*span)] if span else ""
        return name if name and name.casefold() != (self.addressee or "").casefold() and _may_be_person(name) else None

    def owner(self, found: re.Match[str]) -> str | None:
        """The person whose relative a match of `KIN_NAMED` is about."""
        word = found["owner"]
        if word.lower() in {"my", "our"}:
            return self.speaker
        return word[:-2] if _may_be_person(word[:-2]) else None


_ONLY_PLACES = PLACES - FIRST_NAMES


def _may_be_person(name: str) -> bool:
    words = name.lower().split()
    named = words[0] not in NOT_NAMES and words[0] not in KIN and len(words) <= 3
    return named and name.lower() not in _ONLY_PLACES


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a text, to which the rules are applied."""

    people: People
    at: datetime
    begin: int
    stop: int

    def statements(self, before: Subject | None) -> tuple[list[Statement], Subject | None]:
        """The statements in the clause, and its subject.

        `before` is the subject of the previous clause, for `and works at …`.
        """
        place = after_opener(self.people.text, self.begin, self.stop)
        for subject, verb in self._predicates(place, before):
            if not verb.modal and (made := self._predicated(subject, verb)):
                return made, subject
        return self._of_thing(place) or self._owned(place) or self._whole(place), None

    def _predicates(self, place: int, before: Subject | None) -> Iterator[tuple[Subject, Verb]]:
        text, stop = self.people.text, self.stop
        me = self.people.speaker
        if found := PRONOUN.match(text, place, stop):
            if me:
                subject = Subject(me, 0.9 if found["we"] else 1.0, plural=bool(found["we"]), first=True)
                yield subject, verb_at(text, found.end(), stop, found["clitic"] or "")
            return
        if before and (elided := _ELIDED.match(text, self.begin, stop)):
            yield before, verb_at(text, elided.end(), stop)
        if kin := KIN_NAMED.match(text, place, stop):
            if name := self.people.relative(kin):
                yield Subject(name, 0.9), self._verb_after(kin.end())
        elif _WITHOUT_I.match(text, place, stop):
            if me:
                yield Subject(me, 0.8, first=True), verb_at(text, place, stop)
        elif (span := name_at(text, place, stop)) and _may_be_person(text[slice(*span)]):
            yield Subject(text[slice(*span)], 0.9), self._verb_after(span[1])

    def _verb_after(self, end: int) -> Verb:
        text = self.people.text
        clitic = text[end : end + 2] if text[end : end + 2] in {"'s", "’s"} else ""
        return verb_at(text, end + (len(clitic) or text.startswith(",", end)), self.stop, clitic)

    def _predicated(self, subject: Subject, verb: Verb) -> list[Statement]:
        word = _FIRST_WORD.match(self.people.text, verb.place, self.stop)
        if not word:
            return []
        # `Case study` and `Volunteer work` are not a subject and its verb.
        said = word[1].lower()
        agrees = subject.first or verb.do or verb.used_to or verb.future or said not in _BASE_FORMS
        agrees = agrees and (not verb.future or said in _BEGUN)
        rules = VERBS.get(said, ()) if agrees and (verb.be and not verb.future) == said.endswith("ing") else ()
        auxiliary = (*(BE if verb.be else ()), *(HAVE if verb.have else ()))
        return self._first(rules, word.end(), subject, verb) or self._first(auxiliary, word.start(1), subject, verb)

    def _owned(self, place: int) -> list[Statement]:
        """The statements about something that somebody has: `my email is …`, `Anna's birthday is …`."""
        text, subject = self.people.text, None
        if found := _MY.match(text, place, self.stop):
            subject = Subject(self.people.speaker) if self.people.speaker else None
            place = found.end()
        elif (span := name_at(text, place, self.stop)) and text[span[1] : span[1] + 3] in {"'s ", "’s "}:
            name = text[slice(*span)]
            subject, place = Subject(name, 0.9) if _may_be_person(name) else None, span[1] + 3
        word = _FIRST_WORD.match(text, place, self.stop)
        if not subject or not word:
            return []
        found = self._first(OWN.get(word[1].lower(), ()), word.end(), subject, Verb(place), word[1])
        return found or self._attribute(place, subject)

    def _attribute(self, place: int, subject: Subject) -> list[Statement]:
        """What a person or thing has one of: `my landlord is …`, `the gate code is now …`."""
        text = self.people.text
        found = ATTRIBUTE.pattern.match(text, place, self.stop)
        if not found:
            return []
        noun = " ".join(filter(None, (found["of"], found["noun"]))).lower()
        verb = self._verb_after(found.end())
        rules = next((VALUES[kind] for kind, nouns in ATTRIBUTES.items() if noun.split()[-1] in nouns), ())
        return self._first(rules, _after_space(text, verb.place), subject, verb, noun) if verb.be else []

    def _of_thing(self, place: int) -> list[Statement]:
        found = THING_OF.pattern.match(self.people.text, place, self.stop)
        thing = found["thing"].strip() if found else ""
        return self._attribute(found.end(), Subject(thing, 0.9)) if found and thing else []

    def _whole(self, place: int) -> list[Statement]:
        if not self.people.speaker or not holds_any(self.people.text[self.begin : self.stop].lower(), ("my", "our")):
            return []
        return self._first(WHOLE, place, Subject(self.people.speaker), Verb(place))

    def _first(
        self, rules: Iterable[Rule], place: int, subject: Subject, verb: Verb, word: str = ""
    ) -> list[Statement]:
        """The statements of the first rule that yields any."""
        for rule in rules:
            found = rule.pattern.match(self.people.text, place, self.stop)
            if found and (made := self._made(rule, found, subject, verb, word)):
                return made
        return []

    def _made(self, rule: Rule, found: re.Match[str], subject: Subject, verb: Verb, word: str) -> list[Statement]:
        """The statements of a matched rule; none if the first object is missing or the tense does not fit."""
        clause = self.people.text[self.begin : self.stop]
        made: list[Statement] = []
        for negated, relation, spans in _objects(found, word):
            personal = relation in PERSONAL and (subject.plural or (verb.negated and not verb.ended))
            if not made and (not spans or personal):
                return []
            holds = validity(rule.tense, verb, clause, self.at)
            if holds is None:
                return []
            for begin, stop in spans:
                said = self.people.text[begin:stop]
                if said.casefold() == subject.name.casefold() and relation != "name":
                    continue
                made.append(
                    Statement(
                        Fact(subject.name, relation, said),
                        quote=clause.strip(f" ,.;:!{MASK}"),
                        negated=negated or holds.negated,
                        update=holds.update,
                        since=holds.since,
                        until=holds.until,
                        confidence=subject.confidence,
                    )
                )
        made.sort(key=lambda one: one.negated)
        return [*made, *(years for one in made for years in _years_at_work(one, clause))]


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _years_at_work(statement: Statement, clause: str) -> Iterator[Statement]:
    """`At Google for five years` also states the number of years, so that `six years` is an update later."""
    found = DURATION.search(clause)
    if statement.fact.relation == "works_at" and not statement.negated and found and found["unit"].lower() == "year":
        relation = f"years_at_{_slug(statement.fact.object)}"
        yield replace(statement, fact=Fact(statement.fact.subject, relation, found["number"]))


def _objects(found: re.Match[str], word: str) -> Iterator[tuple[bool, str, list[tuple[int, int]]]]:
    """The objects in the groups of a match, each with its relation and whether the group negates it."""
    groups = found.groupdict()
    for group, said in groups.items():
        name = group.removeprefix("not_").removesuffix("_")
        if said and (matcher := OBJECTS.get(name)):
            if name == "kin":
                relation = RELATIONS[(groups.get("word") or word).lower()]
            elif name in ATTRIBUTES:
                *before, noun = word.split()
                relation = _slug(" ".join((*before, SAME_ATTRIBUTE.get(noun, noun))))
            elif name == "favourite":
                relation = f"favourite_{_slug(groups['topic'])}"
            else:
                relation = name.removesuffix("_company").removesuffix("_title")
            yield group.startswith("not_"), relation, matcher(found.string, *found.span(group))


def _slug(words: str) -> str:
    """Words as part of a relation name: `football team` becomes football_team."""
    return _SLUG.sub("_", words.lower()).strip("_").replace("color", "colour")


def statements(text: str, *, speaker: str | None, at: datetime, addressee: str | None = None) -> list[Statement]:
    """The facts that a text states, in order; `I` is the speaker, whom a leading `Name: ` may override."""
    if not (may_state(text[:LONGEST_TEXT]) or has_chinese(text)):
        return []
    own_words = own_words_of(text)
    moment = instant(at)
    found: dict[tuple[Fact, bool], Statement] = {}
    for sentence in spoken_sentences(own_words, speaker, addressee):
        people = People(own_words, sentence.speaker, addressee)
        said = list(_sentence_statements(sentence, people, moment))
        if said and asserts(own_words[sentence.begin : sentence.stop]):
            for one in said:
                if MASK not in one.quote:
                    found.setdefault((one.fact, one.negated), one)
    return list(islice(found.values(), MOST_STATEMENTS))


def _sentence_statements(sentence: Sentence, people: People, at: datetime) -> Iterator[Statement]:
    text = people.text
    said = text[sentence.begin : sentence.stop]
    if has_chinese(said):
        if people.speaker:
            yield from chinese_statements(text, sentence, people.speaker, at)
        return
    if not may_state(said):
        return
    if holds_any(said, _OWNERS):
        yield from _in_passing(sentence, people)
    before: Subject | None = None
    for begin, stop in clauses(text, sentence):
        made, subject = Clause(people, at, begin, stop).statements(before)
        if made and is_doubted(text[begin:stop]):
            made = []
        before = subject if made and not any(one.negated for one in made) else None
        yield from made


_OWNERS = ("my", "My", "MY", "mY", "our", "Our", "'s", "’s", "ew", "EW", "eW", "Ew")
"""One of these is in every sentence with a fact in passing: somebody's relative, my favourite, or a new address."""


def _in_passing(sentence: Sentence, people: People) -> Iterator[Statement]:
    """Facts mentioned in passing, anywhere in a sentence: `my sister Anna`, `my favourite game called Go`."""
    for found in KIN_NAMED.finditer(people.text, sentence.begin, sentence.stop):
        owner, name = people.owner(found), people.relative_name(found)
        if owner and name and owner != name:
            yield Statement(Fact(owner, KIN[found["kin"].lower()], name), found[0])
    for found in APPOSED.finditer(people.text, sentence.begin, sentence.stop):
        owner, name = people.owner(found), found["name"]
        if owner and owner != name and _may_be_person(name):
            yield Statement(Fact(owner, KIN[found["kin"].lower()], name), found[0].rstrip(","))
    if people.speaker:
        for rule in (FAVOURITE_CALLED, NEW):
            if found := rule.pattern.search(people.text, sentence.begin, sentence.stop):
                yield from _labelled(found, people.speaker, update=rule is NEW)


def _labelled(found: re.Match[str], subject: str, update: bool) -> Iterator[Statement]:
    text = found.string
    for _, relation, spans in _objects(found, ""):
        for begin, stop in spans:
            yield Statement(Fact(subject, relation, text[begin:stop]), text[found.start() : stop], update=update)

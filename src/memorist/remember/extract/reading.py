"""Statements in a text, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memorist.model import Fact, instant
from memorist.remember.extract.chinese import chinese_statements
from memorist.remember.extract.clauses import (
    KIN_NAMED,
    MASK,
    Sentence,
    Subject,
    Verb,
    after_opener,
    asserts,
    clauses,
    is_doubted,
    own_at,
    own_words_of,
    possessor_at,
    pronoun_at,
    spoken_sentences,
    verb_at,
)
from memorist.remember.extract.english import BE, HAVE, NAMED_FAVOURITE, OWN, RELATIONS, VERBS, WHOLE
from memorist.remember.extract.lexicon import FIRST_NAMES, HE, KIN, NOT_NAMES, ONLY_ONE, PLACES, SHE, word_set
from memorist.remember.extract.objects import value
from memorist.remember.extract.rules import DURATION, ObjectSlot, Rule, validity
from memorist.remember.extract.spans import CAPITALISED, Statement, name_at
from memorist.text.patterns import lazy
from memorist.text.words import has_chinese

LOOK_BACK = 1_000
"""A pronoun's referent is looked for in this many characters before it."""
_POSSESSIVE = lazy(r"['’]s?$")
_NAMED = lazy(
    rf"(?<![\w@#’'])(?P<lead>(?:in|at|to|from|near|an?|the|on|of|for|around|visit|visited)\s+)?(?P<name>{CAPITALISED})"
)
_CALLED_BEFORE = lazy(
    r"(?:^|[.!?,\n]\s*|\b(?:hey|hi|hello|thanks|thank\s+you|yes|yeah|yep|wow|oh|ok|okay|sure|congrats|bye|dear|cool)\W*)$",
    re.IGNORECASE,
)
_CALLED_AFTER = lazy(r"\s*(?:[,!?.:;\n]|-\s|$)")
_AFTER_APPOSITION = lazy(r",|\s+(?:is|was|has|lives|works|moved|just|loves|likes)\b")


@dataclass(frozen=True, slots=True)
class People:
    """The people a text may be about: the speaker, the addressee and those named in it."""

    text: str
    speaker: str | None
    addressee: str | None

    def i(self, *, plural: bool = False) -> Subject | None:
        """The speaker; also for `we`."""
        return Subject(self.speaker, 0.9 if plural else 1.0, plural, first=True) if self.speaker else None

    def third(self, before: int, *, she: bool) -> Subject | None:
        """The only person named before a place that `she` or `he` can refer to; None if there are several."""
        other = HE if she else SHE
        found = {name: kin for name, kin in self._others(before) if kin not in other}
        name, kin = next(iter(found.items()), ("", ""))
        return Subject(name, 0.8) if len(found) == 1 and (kin or name.lower() in FIRST_NAMES) else None

    def _others(self, before: int) -> Iterator[tuple[str, str]]:
        """Third persons named before a place, each with the kinship word before the name, if any."""
        kin_names: dict[str, str] = {}
        begin = max(0, before - LOOK_BACK)
        for found in KIN_NAMED.finditer(self.text, begin, before):
            if name := self.kin(found):
                kin_names[name] = found["kin"].lower()
        yield from kin_names.items()
        parts = {part for name in kin_names for part in name.split()}
        for found in _NAMED.finditer(self.text, begin, before):
            name = _bare(found["name"])
            if not found["lead"] and name not in parts and self._may_be_person(name) and not self._is_addressed(found):
                yield name, ""

    def _is_addressed(self, found: re.Match[str]) -> bool:
        """Whether a name is a form of address: `Hey Anna!`, `Thanks, Anna.`, `Anna: …`."""
        before = self.text[max(0, found.start() - 12) : found.start()]
        return bool(_CALLED_BEFORE.search(before)) and bool(_CALLED_AFTER.match(self.text, found.end()))

    def _may_be_person(self, name: str) -> bool:
        here = {one.casefold().split()[0] for one in (self.speaker, self.addressee) if one and one.strip()}
        lower = name.lower()
        no_person = lower in PLACES or lower in NOT_NAMES or lower in here
        return len(name) > 1 and (not no_person or (lower in FIRST_NAMES and lower not in here))

    def kin(self, found: re.Match[str]) -> str | None:
        """The name of the relative in a match of `KIN_NAMED`; `Alice's mom` if there can be only one."""
        if found["ex"] or found["own"]:
            return None
        if name := self.kin_name(found):
            return name
        owner = self.owner(found)
        word = found["kin"].lower()
        return f"{owner}'s {word}" if owner and not found["name"] and word in ONLY_ONE else None

    def kin_name(self, found: re.Match[str]) -> str | None:
        """The name of the relative, unless it may be the person addressed."""
        if found["ex"] or found["own"] or not found["name"]:
            return None
        if found["comma"] and not _AFTER_APPOSITION.match(self.text, found.end("name")):
            return None
        span = name_at(self.text, found.start("name"), found.end("name"))
        name = self.text[span[0] : span[1]] if span else ""
        to = self.addressee or ""
        return name if name and name.casefold() != to.casefold() and name.lower() not in PLACES - FIRST_NAMES else None

    def owner(self, found: re.Match[str]) -> str | None:
        """The person whose relative a match of `KIN_NAMED` is about."""
        word = found["owner"]
        if word.lower() in {"my", "our"}:
            return self.speaker
        name = _bare(word)
        return name if name.lower() not in NOT_NAMES and name.lower() not in PLACES else None


def _bare(name: str) -> str:
    return _POSSESSIVE.sub("", name)


_FIRST_WORD = lazy(r"\s*([\w’'-]+)")
_CAN = lazy(r"\bcan(?:\s+\w+)?\s*$")
_SLUG = lazy(r"[\W_]+")
_BASE_FORMS = word_set("live reside come work study major attend go run speak play own")
"""Verb forms that follow `I`, but not a name."""
_WITHOUT_I = lazy(
    r"(?:(?:just|recently|finally)\s+)*(?:lost|moved|joined|started|quit|bought|adopted|visited|went|got|graduated)\s",
    re.IGNORECASE,
)
"""`Just moved to Oslo!`: chat messages often omit `I`."""
_ELIDED = lazy(r"(?:and|but)\s+(?:also\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a text, to which the rules are applied."""

    people: People
    at: datetime
    begin: int
    stop: int

    def statements(self, before: Subject | None) -> Iterator[Statement]:
        """The statements in the clause; `before` is the subject of the previous clause, for `and works at …`."""
        place = after_opener(self.people.text, self.begin, self.stop)
        for subject, verb in self._predicates(place, before):
            if made := self._predicated(subject, verb):
                yield from made
                return
        for subject, where in self._owners(place):
            yield from self._owned(subject, where)
        yield from self._whole(place)

    def inherited(self, before: Subject | None) -> Subject | None:
        """The subject of the next clause if it has none of its own."""
        place = after_opener(self.people.text, self.begin, self.stop)
        return next((subject for subject, _ in self._predicates(place, before)), None)

    def _predicates(self, place: int, before: Subject | None) -> Iterator[tuple[Subject, Verb]]:
        text, stop = self.people.text, self.stop
        if found := pronoun_at(text, place, stop):
            if subject := self._pronoun(found):
                yield subject, verb_at(text, found.end(), stop, found["clitic"] or "")
            return
        if before and (elided := _ELIDED.match(text, self.begin, stop)):
            yield before, verb_at(text, elided.end(), stop)
        if kin := KIN_NAMED.match(text, place, stop):
            if name := self.people.kin(kin):
                end = kin.end("name") if kin["name"] else kin.end("kin")
                yield Subject(name, 0.9), self._verb(end)
            return
        if _WITHOUT_I.match(text, place, stop):
            if subject := self.people.i():
                yield replace(subject, confidence=0.8), verb_at(text, place, stop)
            return
        span = name_at(text, place, stop)
        if span and _may_be_subject(text[span[0] : span[1]]):
            yield Subject(text[span[0] : span[1]], 0.9), self._verb(span[1])

    def _verb(self, end: int) -> Verb:
        text = self.people.text
        clitic = text[end : end + 2] if text[end : end + 2] in {"'s", "’s"} else ""
        end += len(clitic) or text.startswith(",", end)
        return verb_at(text, end, self.stop, clitic)

    def _pronoun(self, found: re.Match[str]) -> Subject | None:
        if found["i"]:
            return self.people.i()
        if found["we"]:
            return self.people.i(plural=True)
        return self.people.third(self.begin, she=bool(found["she"]))

    def _owners(self, place: int) -> Iterator[tuple[Subject, int]]:
        text = self.people.text
        if found := own_at(text, place, self.stop):
            she = found[0].lower().startswith("her")
            subject = self.people.i() if found["mine"] else self.people.third(self.begin, she=she)
            if subject:
                yield subject, found.end()
        elif (possessor := possessor_at(text, place, self.stop)) and _may_be_subject(possessor[0]):
            yield Subject(possessor[0], 0.9), possessor[1]

    def _predicated(self, subject: Subject, verb: Verb) -> list[Statement]:
        text = self.people.text
        word = _FIRST_WORD.match(text, verb.place, self.stop)
        if not word or (verb.modal and not _is_ability(text[self.begin : verb.place], word[1].lower())):
            return []
        rules = VERBS.get(word[1].lower(), ()) if not verb.be and _agrees(subject, verb, word[1]) else ()
        if made := self._first(rules, word.end(), subject, verb):
            return made
        return self._first((*(BE if verb.be else ()), *(HAVE if verb.have else ())), word.start(1), subject, verb)

    def _first(
        self, rules: Iterable[Rule], place: int, subject: Subject, verb: Verb, word: str = ""
    ) -> list[Statement]:
        """The statements of the first rule that yields any."""
        for rule in rules:
            found = rule.pattern.match(self.people.text, place, self.stop)
            if found and (made := self._made(rule, found, subject, verb, word)):
                return made
        return []

    def _owned(self, subject: Subject, place: int) -> list[Statement]:
        text = self.people.text
        word = _FIRST_WORD.match(text, place, self.stop)
        if not word:
            return []
        key = word[1].lower().replace("’", "'")
        return self._first(OWN.get(key, ()), word.end(), subject, Verb(place), key.removesuffix("'s"))

    def _whole(self, place: int) -> Iterator[Statement]:
        subject = self.people.i()
        for rule in WHOLE if subject else ():
            if subject and (found := rule.pattern.match(self.people.text, place, self.stop)):
                yield from self._made(rule, found, subject, Verb(place))

    def _made(self, rule: Rule, found: re.Match[str], subject: Subject, verb: Verb, word: str = "") -> list[Statement]:
        """The statements of a matched rule; none if an object is missing or the tense does not fit."""
        objects = self._objects(rule, found) if _applies(rule, subject, verb) else []
        clause = self.people.text[self.begin : self.stop]
        holds = validity(rule, verb, clause, self.at) if objects else None
        if holds is None:
            return []
        made = [
            Statement(
                Fact(subject.name, _relation(slot, found, word), said),
                quote=clause.strip(f" ,.;:!{MASK}"),
                negated=slot.negated or holds.negated,
                update=holds.update,
                since=holds.since,
                until=holds.until,
                confidence=subject.confidence,
            )
            for slot, said in objects
            if said.casefold() != subject.name.casefold() or slot.relation == "name"
        ]
        return [*made, *(one for statement in made for one in _tenure(statement, clause))]

    def _objects(self, rule: Rule, found: re.Match[str]) -> list[tuple[ObjectSlot, str]]:
        """The objects of a match; none if a required one is missing."""
        objects: list[tuple[ObjectSlot, str]] = []
        for slot in rule.slots:
            spans = slot.matcher(self.people.text, *found.span(slot.group)) if found[slot.group] else []
            if not spans and slot.required:
                return []
            objects += [(slot, self.people.text[begin:stop]) for begin, stop in spans]
        return objects


def _may_be_subject(name: str) -> bool:
    lower = name.lower()
    return lower.split()[0] not in NOT_NAMES and lower not in PLACES and lower not in KIN and len(name.split()) <= 3


def _agrees(subject: Subject, verb: Verb, word: str) -> bool:
    """Whether subject and verb agree: `Anna works`, `I work`, not `Engineering studies`."""
    if subject.first or verb.do or verb.used_to:
        return True
    a_person = subject.name.lower().split()[0] in FIRST_NAMES
    return word.lower() not in _BASE_FORMS and (a_person or word.lower() != "studies")


def _is_ability(lead: str, word: str) -> bool:
    """`I can speak French` states that I speak it; other modal verbs state nothing."""
    return word in {"speak", "play"} and bool(_CAN.search(lead))


def _applies(rule: Rule, subject: Subject, verb: Verb) -> bool:
    """Whether a rule applies to a subject and verb: `we` have no age, and `not 22` is not an age."""
    if not subject.first and any(slot.relation == "name" for slot in rule.slots):
        return False
    return not (subject.plural and rule.personal) and not (verb.negated and rule.affirmative and not verb.ended)


def _relation(slot: ObjectSlot, found: re.Match[str], word: str) -> str:
    if "{" not in slot.relation:
        return slot.relation
    groups = found.groupdict()
    kin = RELATIONS.get((groups.get("kin") or word).lower(), "")
    return slot.relation.format(topic=slug(groups.get("topic") or ""), kin=kin, word=slug(word))


def slug(words: str) -> str:
    """Words as part of a relation name: `football team` becomes football_team."""
    return _SLUG.sub("_", words.lower()).strip("_").replace("color", "colour")


def _tenure(statement: Statement, clause: str) -> Iterator[Statement]:
    """`At Google for five years` also states the number of years, so that `six years` is an update later."""
    found = DURATION.search(clause)
    if statement.fact.relation == "works_at" and not statement.negated and found and found["unit"].lower() == "year":
        relation = f"years_at_{slug(statement.fact.object)}"
        yield replace(statement, fact=Fact(statement.fact.subject, relation, found["number"]))


def statements(text: str, *, speaker: str | None, at: datetime, addressee: str | None = None) -> list[Statement]:
    """The facts that a text states, in order; `I` is the speaker, whom a leading `Name: ` may override."""
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
    return list(found.values())


def _sentence_statements(sentence: Sentence, people: People, at: datetime) -> Iterator[Statement]:
    text = people.text
    if has_chinese(text[sentence.begin : sentence.stop]):
        if people.speaker:
            yield from chinese_statements(text, sentence, people.speaker, at)
        return
    yield from _in_passing(sentence, people)
    before: Subject | None = None
    for begin, stop in clauses(text, sentence):
        clause = Clause(people, at, begin, stop)
        made = list(clause.statements(before))
        if made and is_doubted(text[begin:stop]):
            made = []
        before = clause.inherited(before) if made and not any(one.negated for one in made) else None
        yield from made


def _in_passing(sentence: Sentence, people: People) -> Iterator[Statement]:
    """Facts mentioned in passing, anywhere in a sentence: `my sister Anna`, `my favourite game called Go`."""
    for found in KIN_NAMED.finditer(people.text, sentence.begin, sentence.stop):
        owner, name = people.owner(found), people.kin_name(found)
        if owner and name and owner != name:
            fact = Fact(owner, KIN[found["kin"].lower()], name)
            yield Statement(fact, people.text[found.start() : found.end("name")])
    found = NAMED_FAVOURITE.search(people.text, sentence.begin, sentence.stop)
    if found and people.speaker:
        for begin, stop in value(people.text, *found.span("o")):
            relation = f"favourite_{slug(found['topic'])}"
            quote = people.text[found.start() : stop]
            yield Statement(Fact(people.speaker, relation, people.text[begin:stop]), quote)

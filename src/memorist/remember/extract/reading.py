"""Reading statements out of a text, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memorist.model import Fact, instant
from memorist.remember.extract.chinese import chinese_statements, has_chinese
from memorist.remember.extract.clause_subjects import (
    KIN_NAMED,
    MASK,
    Sentence,
    Subject,
    Verb,
    after_opener,
    asserts,
    clauses,
    is_doubted,
    masked,
    own_at,
    possessor_at,
    pronoun_at,
    sentences,
    verb_at,
)
from memorist.remember.extract.english import BE, HAVE, OWN, VERBS, WHOLE
from memorist.remember.extract.english.family import RELATIONS
from memorist.remember.extract.english.taste import NAMED_FAVOURITE
from memorist.remember.extract.lexicon import FIRST_NAMES, KIN, NOT_NAMES, PLACES, word_set
from memorist.remember.extract.names import People
from memorist.remember.extract.object_matchers import value
from memorist.remember.extract.rules import DURATION, Rule, Say, held
from memorist.remember.extract.spans import Statement, name_at
from memorist.text.patterns import lazy

_FIRST_WORD = lazy(r"\s*([\w’'-]+)")
_SLUG = lazy(r"[\W_]+")
_BARE = word_set(
    """
    live reside come work study major attend go run plan intend speak play own love like enjoy adore hate
    dislike detest despise prefer"""
)
"""Verbs as they stand after `I`, not after a name."""
_UNSAID = lazy(
    r"(?:(?:just|recently|finally)\s+)*(?:lost|moved|joined|started|quit|bought|adopted|visited|went|got|graduated)\s",
    re.IGNORECASE,
)
"""`Just moved to Oslo!`: in a chat the speaker leaves `I` out."""
_ELIDED = lazy(r"(?:and|but)\s+(?:also\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a text, read by the rules."""

    people: People
    at: datetime
    begin: int
    stop: int

    def statements(self, before: Subject | None) -> Iterator[Statement]:
        """What the clause states; `before` is the subject of the clause before, for `and works at …`."""
        place = after_opener(self.people.text, self.begin, self.stop)
        for subject, verb in self._predicates(place, before):
            if made := self._predicated(subject, verb):
                yield from made
                return
        for subject, where in self._owners(place):
            yield from self._owned(subject, where)
        yield from self._whole(place)

    def inherited(self, before: Subject | None) -> Subject | None:
        """Whom the next clause is about if it names nobody."""
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
        if _UNSAID.match(text, place, stop):
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
        if not word or (verb.modal and not _may(text[self.begin : verb.place], word[1].lower())):
            return []
        rules = VERBS.get(word[1].lower(), ()) if not verb.be and _agrees(subject, verb, word[1]) else ()
        if made := self._first(rules, word.end(), subject, verb):
            return made
        return self._first((*(BE if verb.be else ()), *(HAVE if verb.have else ())), word.start(1), subject, verb)

    def _first(
        self, rules: Iterable[Rule], place: int, subject: Subject, verb: Verb, word: str = ""
    ) -> list[Statement]:
        """What the first rule says that says anything."""
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
        """The statements of a rule that matched, or none if an object is missing or the tense does not fit."""
        objects = self._objects(rule, found) if _may_say(rule, subject, verb) else []
        clause = self.people.text[self.begin : self.stop]
        when = held(rule, verb, clause, self.at) if objects else None
        if when is None:
            return []
        turned = bool(when.negated and rule.negative and not when.update)  # not to like is to dislike
        made = [
            Statement(
                Fact(subject.name, (turned and rule.negative) or _relation(say, found, word), said),
                quote=clause.strip(f" ,.;:!{MASK}"),
                negated=say.negated or (when.negated and not turned),
                update=when.update,
                since=when.since,
                until=when.until,
                confidence=subject.confidence,
            )
            for say, said in objects
            if said.casefold() != subject.name.casefold() or say.relation == "name"
        ]
        return [*made, *(one for statement in made for one in _tenure(statement, clause))]

    def _objects(self, rule: Rule, found: re.Match[str]) -> list[tuple[Say, str]]:
        """The objects of a match; none if one that is needed is missing."""
        objects: list[tuple[Say, str]] = []
        for say in rule.says:
            spans = say.shape(self.people.text, *found.span(say.group)) if found[say.group] else []
            if not spans and say.needed:
                return []
            objects += [(say, self.people.text[begin:stop]) for begin, stop in spans]
        return objects


def _may_be_subject(name: str) -> bool:
    lower = name.lower()
    return lower.split()[0] not in NOT_NAMES and lower not in PLACES and lower not in KIN and len(name.split()) <= 3


def _agrees(subject: Subject, verb: Verb, word: str) -> bool:
    """`Anna likes`, `I like`: otherwise it is no verb, as in `things like that` and `Engineering studies`."""
    if subject.first or verb.do or verb.used_to:
        return True
    a_person = subject.name.lower().split()[0] in FIRST_NAMES
    return word.lower() not in _BARE and (a_person or word.lower() not in {"studies", "plans"})


def _may(lead: str, word: str) -> bool:
    """`I can speak French` says that I speak it; other modals say nothing."""
    return word in {"speak", "play"} and bool(re.search(r"\bcan(?:\s+\w+)?\s*$", lead))


def _may_say(rule: Rule, subject: Subject, verb: Verb) -> bool:
    """Whether a rule is for such a subject and mood: `we` have no age, and `not 22` is none."""
    if not subject.first and any(say.relation == "name" for say in rule.says):
        return False
    return not (subject.plural and rule.personal) and not (verb.negated and rule.plain and not verb.ended)


def _relation(say: Say, found: re.Match[str], word: str) -> str:
    if "{" not in say.relation:
        return say.relation
    groups = found.groupdict()
    kin = RELATIONS.get((groups.get("kin") or word).lower(), "")
    return say.relation.format(topic=slug(groups.get("topic") or ""), kin=kin, word=slug(word))


def slug(words: str) -> str:
    """Words as part of a relation: `football team` is football_team."""
    return _SLUG.sub("_", words.lower()).strip("_").replace("color", "colour")


def _tenure(statement: Statement, clause: str) -> Iterator[Statement]:
    """`At Google for five years` also tells how many years, so that six years later is news."""
    found = DURATION.search(clause)
    if statement.fact.relation == "works_at" and not statement.negated and found and found["unit"].lower() == "year":
        relation = f"years_at_{slug(statement.fact.object)}"
        yield replace(statement, fact=Fact(statement.fact.subject, relation, found["number"]))


def statements(text: str, *, speaker: str | None, at: datetime, addressee: str | None = None) -> list[Statement]:
    """What a text states as facts, in order; `I` is the speaker, whom `Name: ` at its beginning may tell."""
    own_words = masked(text)
    moment = instant(at)
    found: dict[tuple[Fact, bool], Statement] = {}
    for sentence in sentences(own_words, speaker, addressee):
        people = People(own_words, sentence.speaker, addressee)
        said = list(_said(sentence, people, moment))
        if said and asserts(own_words[sentence.begin : sentence.stop]):
            for one in said:
                if MASK not in one.quote:
                    found.setdefault((one.fact, one.negated), one)
    return list(found.values())


def _said(sentence: Sentence, people: People, at: datetime) -> Iterator[Statement]:
    text = people.text
    if has_chinese(text[sentence.begin : sentence.stop]):
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
    """What is told by the way, anywhere in a sentence: `my sister Anna`, `my favourite game called Go`."""
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

"""Statements in a text, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from memorist.model import Fact, instant
from memorist.remember.extract.clauses import (
    KIN_NAMED,
    LONGEST_TEXT,
    MASK,
    PRONOUN,
    Sentence,
    Subject,
    after_opener,
    asserts,
    clauses,
    is_doubted,
    own_words_of,
    spoken_sentences,
)
from memorist.remember.extract.english import (
    FAVOURITE,
    FAVOURITE_TAIL,
    OWN,
    OWNED,
    PREDICATES,
    Rule,
    Times,
    may_state,
    validity,
)
from memorist.remember.extract.lexicon import (
    FAVOURITE_KINDS,
    FAVOURITE_NAMES,
    FIRST_NAMES,
    KIN,
    NOT_NAMES,
    ONLY_ONE,
    PLACES,
    TOOLS,
    word_set,
)
from memorist.remember.extract.objects import WORD, Statement, favourite, name_at, person
from memorist.text.patterns import lazy
from memorist.text.tokens import holds_any
from memorist.text.words import STOP_WORDS, has_chinese

MOST_STATEMENTS = 200
"""The most facts that are read from one text."""

_MY = lazy(r"my\s+", re.IGNORECASE)
_SLUG = lazy(r"[\W_]+")
_ELIDED = lazy(r"(?:and|but)(?=\s)", re.IGNORECASE)
_WITHOUT_I = lazy(r"(?:just|recently|finally)(?=\s+(?:moved|relocated)\s)", re.IGNORECASE)
"""`Just moved to Oslo!`: chat messages often omit `I`."""
_GONE = lazy(
    r"\b(?:died|dies|dead|death|passed|buried|ashes|grave|funeral|late|ex|rip|divorced?|broke\s+up|split\s+up|put\s+down"
    r"|put\s+to\s+sleep|lost|loss|at\s+peace|saddened|grie[fv]\w*|miss|was|were|memory|former(?:ly)?|used\s+to|imaginary|would\s+have|film|movie|song|novel|episode)\b",
    re.IGNORECASE,
)
"""Words of a sentence about somebody who may be gone."""
_LIMITED = lazy(
    r"[\s,–—-]*(?:well|when|until|till|before|while|whenever|except|unless|only|or|as\s+long|for\s+now)\b",
    re.IGNORECASE,
)
"""What limits the clause before it: `I moved to Spain when I was a child`."""
_RETURNED = lazy(
    r"\b(?:(?:and|then|but)\s+(?:\w+\s+)?(?:came|moved|went)\s+back|then|back\s+(?:then|home|again)|returned|again|moved\s+(?:out|away|on)"
    r"|now\s+(?:(?:i|we)\s+(?:am|are|live)|i['’]?m|we['’]?re)\s+(?:living\s+)?in|as\s+a\s+(?:kid|child|teen\w*))\b",
    re.IGNORECASE,
)
_TAKEN_BACK = lazy(
    r"[^\w\n]*(?:(?:well|ok|okay|or|no|i\s+mean|actually)\b\W*)*(?:no\s*,|i\s+was\b|i\s+used\s+to|i\s+wish|was\b|(?:just\s+)?kidding|jk\b"
    r"|not\s+(?:really|any\s?more)|in\s+my\s+dreams|sort\s+of|kind\s+of)",
    re.IGNORECASE,
)
"""A next sentence that takes the one before it back: `I'm an accountant. Well, I was.`"""
_UNPAID = lazy(
    r"\b(?:volunteer\w*|unpaid|week-?ends?|sundays?|saturdays?|evenings?|halloween|carnival|costume|in\s+training|trainee"
    r"|at\s+heart|past\s+life|games?|tonight|today|this\s+week|summer|season)\b",
    re.IGNORECASE,
)
"""Words of a sentence about work that is no employment."""
_OF_WORK = word_set("boss coach teacher mentor colleague neighbour roommate")


@dataclass(frozen=True, slots=True)
class People:
    """The people a text may be about: the speaker, the addressee and those named in it."""

    text: str
    speaker: str | None
    addressee: str | None

    def relative(self, found: re.Match[str], stop: int) -> tuple[str, int] | None:
        """The name after a match of `KIN_NAMED`, and its end; `Alice's mom` if there can be only one."""
        span = self.name_after(found, stop)
        if span:
            return self.text[slice(*span)], span[1]
        owner, word = self.owner(found), found["kin"].lower()
        plain = self.text[found.end() : found.end() + 1] in {" ", "'", "’"}
        return (f"{owner}'s {word}", found.end()) if owner and plain and word in ONLY_ONE else None

    def name_after(self, found: re.Match[str], stop: int) -> tuple[int, int] | None:
        """The name of the relative, unless it may be something else: `my mother Siamese cat`."""
        spans = person(self.text, found.end(), stop) if self.text[found.end() - 1] == " " else []
        name = self.text[slice(*spans[0])] if spans else ""
        if not name or name.casefold() == (self.addressee or "").casefold():
            return None
        known = name.split()[0].lower() in FIRST_NAMES
        word = found["kin"].lower()
        brand = (word == "uncle" and name in {"Sam", "Ben"}) or (word == "partner" and not known)  # or a company
        return spans[0] if not brand and _parts(self.text, spans[0][1], stop) else None

    def owner(self, found: re.Match[str]) -> str | None:
        """The person whose relative a match of `KIN_NAMED` is about."""
        word = found["owner"]
        if word.lower() in {"my", "our"}:
            return self.speaker
        name = word[:-2]
        relation = KIN[found["kin"].lower()]
        return name if _may_be_person(name) and (name.lower() in FIRST_NAMES or relation not in _OF_WORK) else None


def _parts(text: str, end: int, stop: int) -> bool:
    """Whether a name surely ends here: at a sign or at a function word."""
    if end >= stop or not text[end].isspace():
        return True
    after = WORD.match(text, end + 1, stop)
    word = after[0].lower() if after else ""
    return not word or word in STOP_WORDS["en"] or word in NOT_NAMES or word in _NEXT_VERBS


_NEXT_VERBS = word_set(
    """
    asked asks ate bit bought broke called calls came comes cooks fixed forgot found gave gets got helped helps hides
    keeps knits knows left likes lives loves made makes married met moved needs paid picked plays runs said says sent
    signed snores starts studies teaches thinks told took turned turns visited wants went won works wrote"""
)
"""Verbs after a name that is not among the common ones: `my sister Ida moved`."""


_ONLY_PLACES = PLACES - FIRST_NAMES


def _may_be_person(name: str) -> bool:
    words = name.lower().split()
    named = not {*words} & (NOT_NAMES | KIN.keys() | TOOLS) and len(words) <= 3 and name.isprintable()
    return named and name.lower() not in _ONLY_PLACES and not name.isupper()


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
        for subject, end in self._subjects(place, before):
            for rule in PREDICATES:
                if made := self._made(rule, subject, end):
                    return made, subject
        return self._owned(place), None

    def _subjects(self, place: int, before: Subject | None) -> Iterator[tuple[Subject, int]]:
        text, stop, me = self.people.text, self.stop, self.people.speaker
        if found := PRONOUN.match(text, place, stop):
            if me:
                yield Subject(me, first=True, sure=True), found.end()
            return
        if before and (elided := _ELIDED.match(text, self.begin, stop)):
            yield before, elided.end()
        if kin := KIN_NAMED.match(text, place, stop):
            if named := self.people.relative(kin, stop):
                yield Subject(named[0], sure=True), named[1]
        elif me and (found := _WITHOUT_I.match(text, self.begin, stop)):
            yield Subject(me, first=True, sure=True), found.end()
        elif (span := name_at(text, place, stop)) and _may_be_person(name := text[slice(*span)]):
            known = name.split()[0].lower() in FIRST_NAMES or name in {me, self.people.addressee}
            yield Subject(name, sure=known), span[1]

    def _owned(self, place: int) -> list[Statement]:
        """The statements about something that somebody has: `my email is …`, `Anna's birthday is …`."""
        text, subject, end = self.people.text, None, place
        if kin := KIN_NAMED.match(text, place, self.stop):
            owner = self.people.owner(kin)
            for rule in OWNED if owner else ():
                if made := self._made(rule, Subject(owner or "", sure=True), kin.end(), KIN[kin["kin"].lower()]):
                    return made
        if found := _MY.match(text, place, self.stop):
            subject = Subject(self.people.speaker, first=True, sure=True) if self.people.speaker else None
            end = found.end()
        elif (span := name_at(text, place, self.stop)) and text[span[1] : span[1] + 3] in {"'s ", "’s "}:
            name = text[slice(*span)]
            subject, end = Subject(name, sure=True) if _may_be_person(name) else None, span[1] + 3
        if not subject:
            return []
        for rule in OWN:
            if made := self._made(rule, subject, end):
                return made
        return self._favourite(subject, end)

    def _favourite(self, subject: Subject, place: int) -> list[Statement]:
        text = self.people.text
        found = FAVOURITE.match(text, place, self.stop)
        topic = " ".join(found["topic"].lower().split()) if found else ""
        if not found or topic not in FAVOURITE_KINDS | FAVOURITE_NAMES:
            return []
        spans = favourite(text, found.end(), self.stop, topic)
        if not spans or not FAVOURITE_TAIL.match(text, spans[0][1], self.stop):
            return []
        relation = f"favourite_{_SLUG.sub('_', topic).replace('color', 'colour').replace('flavor_', 'flavour_')}"
        return self._statements("favourite", relation, subject, spans, "state")

    def _made(self, rule: Rule, subject: Subject, place: int, relation: str = "") -> list[Statement]:
        if not subject.fits(rule.subjects):
            return []
        text = self.people.text
        found = rule.pattern.match(text, place, self.stop)
        spans = rule.matcher(text, found.end(), self.stop) if found else []
        if not spans or not rule.tail.match(text, spans[-1][1], self.stop):
            return []
        return self._statements(rule.name, relation or rule.relation, subject, spans, rule.times)

    def _statements(
        self, rule: str, relation: str, subject: Subject, spans: list[tuple[int, int]], times: Times
    ) -> list[Statement]:
        text = self.people.text
        clause = text[self.begin : self.stop]
        holds = validity(times, clause, spans[-1][1] - self.begin, self.at)
        if holds is None or MASK in clause:
            return []
        quote = clause.strip(" ,.;:!")
        return [
            Statement(
                Fact(subject.name, relation, text[begin:stop]),
                quote,
                update=holds.update,
                since=holds.since,
                confidence=1.0 if subject.first else 0.9,
                rule=rule,
            )
            for begin, stop in spans
            if text[begin:stop].casefold() != subject.name.casefold() or relation == "name"
        ]


def statements(text: str, *, speaker: str | None, at: datetime, addressee: str | None = None) -> list[Statement]:
    """The facts that a text states, in order; `I` is the speaker, whom a leading `Name: ` may override."""
    if not (may_state(text[:LONGEST_TEXT]) or has_chinese(text)):
        return []
    own_words = own_words_of(text)
    moment = instant(at)
    found: dict[Fact, Statement] = {}
    for sentence in spoken_sentences(own_words, speaker, addressee):
        people = People(own_words, sentence.speaker, addressee)
        said = list(_sentence_statements(sentence, people, moment))
        taken_back = said and _TAKEN_BACK.match(own_words, sentence.stop)
        if said and not taken_back and asserts(own_words[sentence.begin : sentence.stop]):
            for saying in said:
                found.setdefault(saying.fact, saying)
    return list(islice(found.values(), MOST_STATEMENTS))


def _sentence_statements(sentence: Sentence, people: People, at: datetime) -> Iterator[Statement]:
    text = people.text
    said = text[sentence.begin : sentence.stop]
    if has_chinese(said):
        if people.speaker:
            from memorist.remember.extract.chinese import chinese_statements

            yield from chinese_statements(text, sentence, people.speaker, at)
        return
    if not may_state(said):
        return
    if holds_any(said, _OWNERS):
        yield from _in_passing(sentence, people)
    before: Subject | None = None
    for begin, stop in clauses(text, sentence):
        made, subject = Clause(people, at, begin, stop).statements(before)
        if made and (is_doubted(text[begin:stop]) or _LIMITED.match(text, stop, sentence.stop)):
            made = []
        before = subject if made else None
        yield from (statement for statement in made if not _denied(statement, said))


def _denied(statement: Statement, sentence: str) -> bool:
    """Whether the rest of the sentence takes the statement back: `… and came back`, `… as a volunteer`."""
    relation = statement.fact.relation
    return bool(
        (relation == "lives_in" and _RETURNED.search(sentence))
        or (relation in {"works_at", "works_as"} and _UNPAID.search(sentence))
    )


_OWNERS = ("my", "My", "our", "Our", "'s", "’s")
"""One of these is in every sentence with a fact in passing: somebody's relative."""


def _in_passing(sentence: Sentence, people: People) -> Iterator[Statement]:
    """Relatives named in passing, anywhere in a sentence: `my sister Anna`."""
    text = people.text
    if _GONE.search(text, sentence.begin, sentence.stop):
        return
    for found in KIN_NAMED.finditer(text, sentence.begin, sentence.stop):
        owner, span = people.owner(found), people.name_after(found, sentence.stop)
        if owner and span and owner != text[slice(*span)]:
            fact = Fact(owner, KIN[found["kin"].lower()], text[slice(*span)])
            yield Statement(fact, text[found.start() : span[1]], rule="my sister Anna")

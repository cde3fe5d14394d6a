"""Facts that a text states, by rules: what people say of themselves and of others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from memorist.model import Fact, instant
from memorist.remember.extract.chinese import chinese_statements, has_chinese
from memorist.remember.extract.clauses import MASK, Sentence, asserts, clauses, is_doubted, masked, sentences
from memorist.remember.extract.english.taste import NAMED_FAVOURITE
from memorist.remember.extract.heads import KIN_NAMED, Subject
from memorist.remember.extract.lexicon import KIN
from memorist.remember.extract.model import Statement
from memorist.remember.extract.people import People
from memorist.remember.extract.reading import Clause, slug
from memorist.remember.extract.shapes import value


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

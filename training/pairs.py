"""Pairs that the data does not name: a turn and its neighbour, a sentence and the text it was taken from."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from corpus import CHATS, Question, Source
from wording import AUTHOR, share_topic

LEAST_TURN = 40
LEAST_CLOZE, MOST_CLOZE = 40, 220
MOST_TEXT = 1500
CLOZE_SOURCES = ("wiki_p", "nq", "pubmed", "policy", "reddit", "amazon", "covid")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")


def with_turns(source: Source) -> Source:
    """The source with turns of talk as queries for the turn beside them."""
    if source.name not in CHATS:
        return source
    turns = [_turn(source, unit, step) for unit in range(len(source.units)) for step in (-1, 1)]
    return replace(source, questions=source.questions + [turn for turn in turns if turn is not None])


def _turn(source: Source, unit: int, step: int) -> Question | None:
    other = source.neighbour(unit, step)
    if other is None:
        return None
    said, near = source.units[unit], source.units[other]
    if min(len(said), len(near)) < LEAST_TURN or not share_topic(said, near):
        return None
    around = tuple(range(unit - 2, unit + 3))
    return Question(said, (other,), related=around, form="turn", hidden=(unit,))


def cloze(sources: Sequence[Source], seed: int) -> Source:
    """Texts with one sentence taken out, and that sentence as the query (Lee et al. 2019, inverse cloze task)."""
    draw = random.Random(seed)
    texts: list[str] = []
    questions: list[Question] = []
    for source in sources:
        if source.name in CLOZE_SOURCES:
            for text in _whole_texts(source):
                if taken := _take_sentence(text, draw):
                    questions.append(Question(taken[0], (len(texts),), form="cloze"))
                    texts.append(taken[1])
    groups = list(range(len(texts)))
    return Source("cloze", "passage", texts, groups, [None] * len(texts), questions)


def _whole_texts(source: Source) -> list[str]:
    if source.kind == "passage":
        return source.units
    whole: list[str] = []
    last = None
    for unit, group in zip(source.units, source.groups, strict=True):
        if group == last and len(whole[-1]) + len(unit) < MOST_TEXT:
            whole[-1] += " " + unit
        else:
            whole.append(unit)
        last = group
    return whole


def _take_sentence(text: str, draw: random.Random) -> tuple[str, str] | None:
    sentences = _SENTENCE_END.split(text)
    fit = [place for place, sentence in enumerate(sentences) if LEAST_CLOZE <= len(sentence) <= MOST_CLOZE]
    if len(sentences) < 3 or not fit:
        return None
    place = draw.choice(fit)
    # Now and then the sentence stays in, as when a note is looked up by its own words.
    rest = sentences if draw.random() < 0.15 else sentences[:place] + sentences[place + 1 :]
    return sentences[place], " ".join(rest)[:MOST_TEXT]


_SUBJECT = re.compile(
    r"^(?:The )?(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3})"
    r" (?P<verb>was|is|has|had|did|[a-z]+ed|became|won|made|took|went|began|wrote|left|led|met|held)\b"
)
_FIRST_PERSON = {"was": "was", "is": "am", "has": "have"}


def told(sources: Sequence[Source]) -> Source:
    """Statements about someone, told by themselves: "Rockne won…" becomes "I won…", and the question asks of @A."""
    units: list[str] = []
    questions: list[Question] = []
    for source in sources:
        if source.kind == "chunk" and source.name != "nqg":
            for question in source.questions:
                if made := _retold(question.text, source.units[question.positives[0]]):
                    questions.append(Question(made[0], (len(units),), question.answers))
                    units.append(made[1])
    return Source("told", "fp", units, list(range(len(units))), [None] * len(units), questions)


def _retold(question: str, unit: str) -> tuple[str, str] | None:
    found = _SUBJECT.match(unit)
    if found is None:
        return None
    called = next(
        (name for name in (found["name"], found["name"].split()[-1]) if len(name) > 3 and name in question), None
    )
    if called is None:
        return None
    asked = re.sub(rf"(?:\b[Tt]he )?\b{re.escape(called)}\b", AUTHOR, question)
    verb = _FIRST_PERSON.get(found["verb"], found["verb"])
    rest = re.sub(r"\b[Hh](?:is|er)\b", "my", unit[found.end() :])
    return (asked, f"I {verb}{rest}") if AUTHOR in asked else None

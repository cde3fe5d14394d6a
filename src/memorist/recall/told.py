"""The stage that tells what was stated from what was only asked, and from what an assistant repeated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from memorist.model import Candidate, Kind, Memory
from memorist.models.embedding_text import is_talk
from memorist.recall.persons import AGENTS
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.text.chatter import FEWEST_WORDS, asks, knows_nothing, only_asks, question_in
from memorist.text.patterns import lazy
from memorist.text.signature import content_stems
from memorist.text.words import fold, words

_FRAME = "you told me as far i remember according to my memory noted yes said mentioned know"
FRAME = frozenset(_FRAME.split())
"""Words with which an assistant introduces what it repeats."""
DENIALS = frozenset(("not", "no", "never", "none", "cannot", "without", "不", "没"))

_ABOUT_ASKING = lazy(r"\b(?:asked|did \w+(?: \w+)? ask|questions?|wondered|wanted to know)\b|问", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told(Stage):
    """Rank what was only asked at `share` of its score, below the best statement, and fold echoes into their source.

    What only asks answers nothing. Neither does an assistant's "I don't know", nor what says this query again, if that
    asks for something or is a turn of a word or two. If the query is itself about what was asked, questions keep their
    score. A turn of an assistant that says nothing beyond an earlier memory and the query, with the same numbers and
    negations, is an echo: it is left out, and the memory takes its score if that is higher. Keeps the scale.
    """

    kind = "told"
    takes = ("candidates",)
    effect = "adds"
    share: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with statements before questions, and without echoes."""
        asked = question_in(draft.query.text)
        kept, echoes = _without_echoes(draft.candidates, asked)
        questions = no_answers(kept, draft.query.text)
        if not (echoes or questions):
            return draft
        best = max((candidate.score for candidate in kept if candidate.memory.id not in questions), default=None)
        lowered = [
            self._lowered(candidate, best) if candidate.memory.id in questions else candidate for candidate in kept
        ]
        draft = replace(draft, candidates=ranked(lowered))
        return draft.noting(f"{echoes} left out: an assistant's echo of another memory") if echoes else draft

    def _lowered(self, one: Candidate, best: float | None) -> Candidate:
        ceiling = one.score if best is None else min(one.score, best)
        return one.rescored(ceiling - (1 - self.share) * abs(ceiling), asked=one.score)


def no_answers(candidates: Sequence[Candidate], query: str) -> set[str]:
    """The ids of what only asks, of an assistant's ignorance, and of what says no more than a query that asks.

    None if the query is about what was asked.
    """
    from memorist.text.wishes import is_request

    if is_about_asking(query):
        return set()
    said = words(query)
    asked, short = asks(query) or is_request(query), len(said) < FEWEST_WORDS

    def answers_nothing(one: Memory) -> bool:
        same = (asked or (short and is_talk(one))) and words(one.text) == said
        return same or only_asks(one.text) or (is_agent(one) and knows_nothing(one.text))

    memories = (candidate.memory for candidate in candidates)
    return {memory.id for memory in memories if memory.kind is Kind.EPISODIC and answers_nothing(memory)}


def is_about_asking(query: str) -> bool:
    """Whether a query is about what was asked: `When did I ask about cake?`"""
    return _ABOUT_ASKING.search(question_in(query)) is not None


def denies(text: str) -> bool:
    """Whether a text has a word of denial."""
    return not DENIALS.isdisjoint(words(text)) or "n't" in text


def is_agent(memory: Memory) -> bool:
    """Whether an assistant said it."""
    return is_talk(memory) and fold(memory.origin.speaker or "") in AGENTS


@dataclass(frozen=True)
class _Said:
    """A candidate and its words, as they are compared."""

    candidate: Candidate

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.candidate.memory.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content_stems([word for word in words(self.candidate.memory.text) if word not in FRAME]))

    @cached_property
    def denies(self) -> bool:
        return denies(self.candidate.memory.text)

    def repeats(self, other: _Said, asked: frozenset[str]) -> bool:
        """Whether it says nothing beyond another one and the question."""
        mine = self.stems
        numbers = {word for word in self.words if any(sign.isdigit() for sign in word)}
        known = other.stems | asked | frozenset(words(other.candidate.memory.origin.speaker or ""))
        return (
            bool(mine & other.stems)
            and mine <= known
            and numbers <= other.words
            and self.denies == other.denies
            and _earlier(other.candidate.memory, self.candidate.memory)
        )


def _earlier(source: Memory, echo: Memory) -> bool:
    first, then = source.times.ingested_at, echo.times.ingested_at
    return first < then or (first == then and not is_agent(source))


def _without_echoes(candidates: Sequence[Candidate], asked: str) -> tuple[list[Candidate], int]:
    """The candidates without an assistant's echoes, each source with the better score, and the number of echoes."""
    said = [_Said(candidate) for candidate in candidates]
    if not any(is_agent(candidate.memory) for candidate in candidates):
        return list(candidates), 0
    sources = [
        saying for saying in said if not (is_talk(saying.candidate.memory) and only_asks(saying.candidate.memory.text))
    ]
    wanted = frozenset(content_stems(words(asked)))
    best: dict[str, float] = {}
    echoes: set[str] = set()
    for saying in said:
        source = _source(saying, sources, wanted) if is_agent(saying.candidate.memory) else None
        if source is not None:
            echoes.add(saying.candidate.memory.id)
            best[source] = max(best.get(source, -inf), saying.candidate.score)
    kept = [candidate for candidate in candidates if candidate.memory.id not in echoes]
    raised = [
        candidate.rescored(score, echoed=candidate.score)
        if (score := best.get(candidate.memory.id, candidate.score)) > candidate.score
        else candidate
        for candidate in kept
    ]
    return raised, len(echoes)


def _source(echo: _Said, sources: Sequence[_Said], asked: frozenset[str]) -> str | None:
    """The id of the memory that an assistant's turn repeats most of; None if it repeats none."""
    repeated = [source for source in sources if echo.repeats(source, asked)]
    best = max(repeated, key=lambda one: len(one.stems & echo.stems), default=None)
    return None if best is None else best.candidate.memory.id

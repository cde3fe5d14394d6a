"""Stages that score the best candidates again with a reranker, which reads them together with the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from math import isfinite
from statistics import fmean, pstdev

from memorist.errors import ModelUnavailable, failures_of
from memorist.model import Candidate, Evidence, Memory
from memorist.models.embedding_text import is_talk, read_with
from memorist.ports import Reading, Reranker, readings_of
from memorist.recall.prepare import with_goal
from memorist.recall.stage import Draft, Env, Stage, sigmoid
from memorist.text.chatter import asks, question_in
from memorist.text.tokens import count_tokens
from memorist.text.words import NOT_LATIN, language, words


@dataclass(frozen=True, slots=True)
class Rerank(Stage):
    """score = blend · σ(reranker) + (1 − blend) · score / best, for the first `depth`; the others rank below them.

    Takes any positive scale, gives 0 to 1. Without a reranker, or if it fails, the stage is skipped and the order does
    not change.
    """

    kind = "rerank"
    takes = ("candidates",)
    optional = ("reranker",)
    depth: int = 30
    blend: float = 1.0

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        head, tail = draft.candidates[: self.depth], draft.candidates[self.depth :]
        if env.reranker is None or not head:
            return draft
        logits = [
            reading.score for reading in _readings(env.reranker, draft, [candidate.memory.text for candidate in head])
        ]
        best = max(candidate.score for candidate in head) or 1.0
        blended = [self._blend(one, logit, best) for one, logit in zip(head, logits, strict=True)]
        scored = sorted(blended, key=lambda one: -one.score)  # stable: ties keep their order
        return replace(draft, candidates=(*scored, *_below(tail, scored[-1].score, best)))

    def _blend(self, candidate: Candidate, logit: float, best: float) -> Candidate:
        read, before = sigmoid(logit), candidate.score / best
        return candidate.rescored(self.blend * read + (1 - self.blend) * before, reranker=read, before=before)


@dataclass(frozen=True, slots=True)
class RerankBlend(Stage):
    """score = z(reranker) + weight · z(score) for the first `depth`, rescaled to 0.1 to 1; the others rank below them.

    z is the number of standard deviations from the mean of the reread candidates, so neither scale matters. A turn of a
    conversation is read with its date and its speaker, and the first `in_context` candidates also with the turn before
    them: all of them, if it is not given. For queries that are not questions, such as claims or keywords, the
    first-stage score has the weight `statement_weight`, if given, because rerankers are trained on questions. With
    `tokens`, only as many candidates are reread as fit. Takes any scale, gives 0 to 1. Without a reranker, or if it
    fails, the stage is skipped and the order does not change.

    `latin` names rerankers that read only the Latin script: a text in another one counts as average, with an undecided
    answer.
    """

    kind = "rerank_blend"
    takes = ("candidates",)
    optional = ("reranker",)
    depth: int = 20
    weight: float = 1.0
    statement_weight: float | None = None
    tokens: int | None = None
    in_context: int | None = None
    latin: tuple[str, ...] = ()

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        head = draft.candidates[: self.depth]
        if env.reranker is None or not head:
            return draft
        texts = _texts_to_read([candidate.memory for candidate in head], self.in_context, draft, env)
        depth = len(texts) if self.tokens is None else _fitting(texts, self.tokens)
        head, tail = head[:depth], draft.candidates[depth:]
        readings = self._readings(env.reranker, draft, head, texts[:depth])
        if not readings:
            return draft
        reads, befores = (_z_scores([reading.score for reading in scored]) for scored in (readings, head))
        asked, other = question_in(draft.query.text), self.statement_weight
        weight = self.weight if other is None or asks(asked) else other
        sums = [round(read + weight * before, DIGITS) for read, before in zip(reads, befores, strict=True)]
        blended = [
            (one.rescored(score, reranker=read, before=before), read)
            for one, score, read, before in zip(_read(head, readings), _rescaled(sums), reads, befores, strict=True)
        ]
        scored = [one for one, _ in sorted(blended, key=lambda pair: (-pair[0].score, -pair[1]))]  # stable
        return replace(draft, candidates=(*scored, *_below(tail, LEAST_READ, head[0].score or 1.0)))

    def _readings(
        self, reranker: Reranker, draft: Draft, head: Sequence[Candidate], texts: Sequence[str]
    ) -> Sequence[Reading]:
        """A reading of each text; none if the reranker can read none of them."""
        model = getattr(reranker, "generation", "").partition(":")[0]
        readable = [model not in self.latin or is_latin(candidate.memory.text) for candidate in head]
        known = [text for text, reads in zip(texts, readable, strict=True) if reads]
        if not known:
            return []
        readings = _readings(reranker, draft, known)
        judged = readings[0].answers is not None
        average = Reading(fmean(reading.score for reading in readings), UNDECIDED if judged else None)
        rest = iter(readings)
        return [next(rest) if reads else average for reads in readable]


RERANKER, ANSWERS = "reranker", "answers"
"""The names of the reranker's evidence: how well a text fits the question, and whether it answers it."""
UNDECIDED = 0.0
"""The logit of a text that may answer or not."""
DIGITS = 9
"""Sums that differ only beyond are equal: the z-scores of two candidates in opposite orders cancel each other out."""
LEAST_READ = 0.1
"""The score of the last candidate that was reread."""
SAMPLE = 200
"""Characters of a text that tell its script."""
MOST_READ = 240
"""Tokens of a text that count: the packaged reranker reads 256 tokens per pair."""


def is_latin(text: str) -> bool:
    """Whether a text is in the Latin script, as far as its beginning tells."""
    return text.isascii() or language(words(text[:SAMPLE])) not in NOT_LATIN


def _read(candidates: Sequence[Candidate], readings: Sequence[Reading]) -> list[Candidate]:
    """The candidates, with what the reranker says about each of them as evidence."""
    said = {RERANKER: [reading.score for reading in readings], ANSWERS: [reading.answers for reading in readings]}
    evidence = {name: _ranked(logits) for name, logits in said.items()}
    return [
        replace(one, evidence={**one.evidence, **{name: row[place] for name, row in evidence.items() if row}})
        for place, one in enumerate(candidates)
    ]


def _ranked(logits: Sequence[float | None]) -> list[Evidence]:
    """Evidence in the order of the candidates; none where the reranker does not say."""
    known = [logit for logit in logits if logit is not None]
    if len(known) < len(logits):
        return []
    ranks = {place: rank for rank, place in enumerate(sorted(range(len(known)), key=lambda n: -known[n]), 1)}
    return [Evidence(ranks[place], logit, sigmoid(logit)) for place, logit in enumerate(known)]


def _fitting(texts: Sequence[str], tokens: int) -> int:
    """How many of the first texts fit; at least two, because one alone has no order."""
    beginnings = (text[: 8 * MOST_READ] for text in texts)  # long enough for MOST_READ tokens
    sums = accumulate(min(MOST_READ, count_tokens(text)) for text in beginnings)
    return max(2, sum(1 for _ in takewhile(lambda read: read <= tokens, sums)))


def _rescaled(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [LEAST_READ + (1 - LEAST_READ) * ((value - low) / (high - low) if high > low else 1.0) for value in values]


def _texts_to_read(memories: Sequence[Memory], in_context: int | None, draft: Draft, env: Env) -> list[str]:
    """The texts for the reranker. It may be an external service, so turns that the filter excludes are left out."""
    talk = [memory.id for memory in memories[:in_context] if is_talk(memory)]
    around = env.store.neighbours(talk, 1, 0) if talk else {}
    return [_text_to_read(memory, around.get(memory.id, ())[:-1], draft) for memory in memories]


def _text_to_read(memory: Memory, before: Sequence[Memory], draft: Draft) -> str:
    """A memory with its turn before; one that was told before its time says so, as a date in brackets is no answer."""
    seen = [row for row in before if row.scope == memory.scope and draft.request.where.admits(row)]
    text, begins = read_with(memory, seen[0] if seen else None), memory.times.valid_from
    return f"Planned for {begins.day} {begins:%B %Y}: {text}" if begins > memory.times.ingested_at else text


def _readings(reranker: Reranker, draft: Draft, texts: Sequence[str]) -> Sequence[Reading]:
    question = question_in(with_goal(draft))
    with failures_of("The reranker"):
        readings = readings_of(reranker, question, texts)
        usable = len(readings) == len(texts) and all(
            isfinite(logit or 0.0) for reading in readings for logit in reading
        )
    if not usable:
        raise ModelUnavailable(
            "The reranker did not return a finite score for every text",
            remedy="Check the model, or open without a reranker.",
        )
    return readings


def _z_scores(values: Sequence[float]) -> list[float]:
    mean, spread = fmean(values), pstdev(values)
    return [(value - mean) / spread if spread > 0 else 0.0 for value in values]


def _below(tail: Sequence[Candidate], ceiling: float, best: float) -> list[Candidate]:
    """The candidates that were not reread, in their order and below those that were."""
    return [candidate.rescored(ceiling * candidate.score / best / 2, unread=candidate.score) for candidate in tail]

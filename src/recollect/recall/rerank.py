"""Read the best candidates again, together with the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite

from recollect.errors import ModelUnavailable
from recollect.model import Candidate
from recollect.recall.stage import Draft, Env, Stage


@dataclass(frozen=True, slots=True)
class Rerank(Stage):
    """score = blend · σ(reranker) + (1 − blend) · score / best, for the first `depth`; the rest follow below.

    Takes any positive scale, gives 0 to 1. Without a reranker, or when it fails, the stage is skipped and the
    order stands.
    """

    kind = "rerank"
    optional = ("reranker",)
    depth: int = 30
    blend: float = 1.0

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        head, tail = draft.candidates[: self.depth], draft.candidates[self.depth :]
        if env.reranker is None or not head:
            return draft
        logits = env.reranker.score(draft.query.text, [one.memory.text for one in head])
        if len(logits) != len(head) or not all(map(isfinite, logits)):
            raise ModelUnavailable(
                "the reranker gave no number for some of the texts", remedy="Check the model, or open without one."
            )
        best = max(one.score for one in head) or 1.0
        blended = [self._blend(one, logit, best) for one, logit in zip(head, logits, strict=True)]
        scored = sorted(blended, key=lambda one: -one.score)  # what reads alike keeps its order
        return replace(draft, candidates=(*scored, *_below(tail, scored[-1].score, best)))

    def _blend(self, candidate: Candidate, logit: float, best: float) -> Candidate:
        read, before = sigmoid(logit), candidate.score / best
        return candidate.rescored(self.blend * read + (1 - self.blend) * before, reranker=read, before=before)


def _below(tail: Sequence[Candidate], ceiling: float, best: float) -> list[Candidate]:
    """What was not read again keeps its order, under everything that was."""
    return [one.rescored(ceiling * one.score / best / 2, unread=one.score) for one in tail]


def sigmoid(logit: float) -> float:
    """1 / (1 + e^−x), safe for large numbers."""
    if logit >= 0:
        return 1 / (1 + exp(-min(logit, 700)))
    return exp(max(logit, -700)) / (1 + exp(max(logit, -700)))


@dataclass(frozen=True, slots=True)
class Normalise(Stage):
    """score / best score. Takes any positive scale, gives 0 to 1."""

    kind = "normalise"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates on a common scale."""
        best = max((one.score for one in draft.candidates), default=0.0)
        if best <= 0:
            return draft
        return replace(draft, candidates=tuple(one.rescored(one.score / best, best=best) for one in draft.candidates))

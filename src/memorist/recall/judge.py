"""Stages that judge: how probably each candidate answers the question, and which ones are worth returning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Stage, sigmoid

INSIDE = 1.0
"""The evidence of the signal `temporal` for a memory inside the time that the question names."""


@dataclass(frozen=True, slots=True)
class Judge(Stage):
    """probability = σ(bias + Σ weight · evidence): how probably each candidate answers the question.

    Evidence is what each signal and the reranker say: a cosine, a reranker's logit, and for every other signal its
    norm; 0 where there is none, with the weight `unread` for candidates that the reranker did not read. The confidence
    is the largest probability. Below `least` the recall abstains, unless the question names a time and something
    happened then. The numbers were fitted for the packaged models named in `models`; with others there is no
    probability and no confidence, and the recall never abstains. Does not change scores or order.
    """

    kind = "judge"
    takes = ("candidates",)
    models: tuple[str, ...] = ("memorist-embed-1", "memorist-rerank-1")
    bias: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    unread: float = 0.0
    least: float = 0.1

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with probabilities and a confidence."""
        if not draft.candidates or not self._applies(env):
            return draft
        judged = tuple(replace(one, probability=round(self._probability(one), 4)) for one in draft.candidates)
        best = max(one.probability or 0.0 for one in judged)
        draft = replace(draft, candidates=judged, confidence=best)
        if best >= self.least or (draft.query.is_dated and any(map(_happened_then, judged))):
            return draft
        return replace(draft, abstained=True).noting(
            f"nothing relevant: the best candidate answers the question with a probability of {best:.0%}"
        )

    def _applies(self, env: Env) -> bool:
        known = [env.view.embedding or "", getattr(env.reranker, "generation", "")]
        return all(name.startswith(f"{model}:") for name, model in zip(known, self.models, strict=True))

    def _probability(self, one: Candidate) -> float:
        said = {name: found.score if name in RAW else found.norm for name, found in one.evidence.items()}
        read = 0.0 if RERANKER in said else self.unread
        return sigmoid(self.bias + read + sum(self.weights.get(name, 0.0) * value for name, value in said.items()))


RERANKER = "reranker"
RAW = ("vector", RERANKER)
"""Evidence that counts as it is: a cosine and a logit have a scale of their own."""


def _happened_then(one: Candidate) -> bool:
    found = one.evidence.get("temporal")
    return found is not None and found.norm >= INSIDE


@dataclass(frozen=True, slots=True)
class Relevant(Stage):
    """Drop candidates that answer the question with a probability below `least`, or the caller's `min_confidence`.

    The first `always` stay unless the caller set a minimum, so that a recall that abstains still shows what is nearest.
    Candidates without a probability stay.
    """

    kind = "relevant"
    takes = ("candidates",)
    effect = "removes"
    least: float = 0.05
    always: int = 3

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that may answer the question."""
        asked = draft.request.min_confidence
        least, always = (self.least, self.always) if asked is None else (asked, 0)
        kept = tuple(
            one
            for place, one in enumerate(draft.candidates)
            if place < always or one.probability is None or one.probability >= least
        )
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.noting(f"{dropped} below a probability of {least:.0%}") if dropped else draft

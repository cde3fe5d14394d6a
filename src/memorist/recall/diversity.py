"""The stage that orders by relevance and difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Stage

Similarity = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class MMR(Stage):
    """Maximal marginal relevance: next = argmax λ · s − (1 − λ) · max similarity to those already chosen.

    λ is `balance`, and s the score divided by the best score. Similarity is the cosine of the vectors or the Jaccard
    coefficient of the words, without case, accents and punctuation. Orders every candidate and keeps the scores.
    Carbonell and Goldstein, SIGIR 1998.
    """

    kind = "mmr"
    takes = ("candidates",)
    balance: float = 0.7
    by: Literal["vectors", "words"] = "vectors"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in MMR order."""
        similarity = _by_words(draft.candidates) if self.by == "words" else _by_vectors(draft.candidates, env)
        order = diverse_order([candidate.score for candidate in draft.candidates], similarity, self.balance)
        return replace(draft, candidates=tuple(draft.candidates[index] for index in order))


def diverse_order(scores: Sequence[float], similarity: Similarity, balance: float) -> list[int]:
    """Indices in MMR order; ties keep their order."""
    best = max(scores, default=0.0) or 1.0
    left = list(range(len(scores)))
    nearest = [0.0] * len(scores)
    order: list[int] = []
    while left:
        chosen = max(left, key=lambda index: balance * scores[index] / best - (1 - balance) * nearest[index])
        left.remove(chosen)
        order.append(chosen)
        for index in left:
            nearest[index] = max(nearest[index], similarity(index, chosen))
    return order


def distinct_words(text: str) -> frozenset[str]:
    """The words of a text as they are compared: "Deadline." is "deadline", and unspaced scripts give pairs."""
    from memorist.text.words import words

    return frozenset(words(text))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """|one ∩ other| / |one ∪ other|; 0 for two empty sets."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _by_words(candidates: Sequence[Candidate]) -> Similarity:
    words = [distinct_words(candidate.memory.text) for candidate in candidates]
    return lambda one, other: jaccard(words[one], words[other])


def _by_vectors(candidates: Sequence[Candidate], env: Env) -> Similarity:
    import numpy as np

    vectors = env.view.vectors([candidate.memory.id for candidate in candidates])
    if not vectors:
        return lambda one, other: 0.0
    nothing = np.zeros_like(next(iter(vectors.values())))
    rows = np.stack([vectors.get(candidate.memory.id, nothing) for candidate in candidates])
    cosines: list[list[float]] = (rows @ rows.T).tolist()
    return lambda one, other: cosines[one][other]

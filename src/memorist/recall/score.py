"""Change scores: weigh them by factors, add to them, doubt what was not confirmed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Factor, Stage, ranked


@dataclass(frozen=True, slots=True)
class Weigh(Stage):
    """score × Π factors. Takes any positive scale and keeps it."""

    kind = "weigh"
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        return _rescored(draft, env, self.factors, lambda score, parts: score * prod(parts))


@dataclass(frozen=True, slots=True)
class Add(Stage):
    """score + Σ factors. Takes and gives scores of about 0 to 1."""

    kind = "add"
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        return _rescored(draft, env, self.factors, lambda score, parts: score + sum(parts))


def _rescored(
    draft: Draft, env: Env, factors: Sequence[Factor], combine: Callable[[float, Iterable[float]], float]
) -> Draft:
    candidates: list[Candidate] = []
    for one in draft.candidates:
        parts = {factor.kind: factor(one, draft, env) for factor in factors}
        candidates.append(one.rescored(combine(one.score, parts.values()), **parts))
    return replace(draft, candidates=ranked(candidates))


@dataclass(frozen=True, slots=True)
class Confirm(Stage):
    """score × penalty for what signal `of` found and signal `by` did not; nothing when `by` did not look."""

    kind = "confirm"
    of: str = "fuzzy"
    by: str = "vector"
    penalty: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        looked = self.by in draft.found and draft.found[self.by].skipped is None
        if not looked:
            return draft
        return replace(draft, candidates=ranked([self._doubted(one) for one in draft.candidates]))

    def _doubted(self, candidate: Candidate) -> Candidate:
        if self.of not in candidate.evidence or self.by in candidate.evidence:
            return candidate
        return candidate.rescored(candidate.score * self.penalty, unconfirmed=self.penalty)

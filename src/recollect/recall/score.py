"""Change scores: weigh them by factors, add to them, doubt what was not confirmed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from recollect.model import Candidate
from recollect.recall.stage import Draft, Env, Factor, Stage, ranked


@dataclass(frozen=True, slots=True)
class Weigh(Stage):
    """score × Π factors. Takes any positive scale and keeps it."""

    kind = "weigh"
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        return replace(draft, candidates=ranked([self._weigh(one, draft, env) for one in draft.candidates]))

    def _weigh(self, candidate: Candidate, draft: Draft, env: Env) -> Candidate:
        parts = {factor.kind: factor(candidate, draft, env) for factor in self.factors}
        return candidate.rescored(candidate.score * prod(parts.values()), **parts)


@dataclass(frozen=True, slots=True)
class Add(Stage):
    """score + Σ factors. Takes and gives scores of about 0 to 1."""

    kind = "add"
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        return replace(draft, candidates=ranked([self._add(one, draft, env) for one in draft.candidates]))

    def _add(self, candidate: Candidate, draft: Draft, env: Env) -> Candidate:
        parts = {factor.kind: factor(candidate, draft, env) for factor in self.factors}
        return candidate.rescored(candidate.score + sum(parts.values()), **parts)


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

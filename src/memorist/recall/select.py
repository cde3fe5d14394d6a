"""Choose which candidates stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from memorist.recall.sizes import minimum_share
from memorist.recall.stage import Draft, Env, Stage


@dataclass(frozen=True, slots=True)
class Limit(Stage):
    """Keep the first `limit` candidates of the request. Leaves scores as they are."""

    kind = "limit"
    effect = "removes"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The best of the draft."""
        return replace(draft, candidates=draft.candidates[: draft.request.limit])


@dataclass(frozen=True, slots=True)
class MinimumScore(Stage):
    """Drop candidates whose score, on a scale of 0 to 1, is below the minimum.

    With `adaptive` it falls with the store: score · (1 − 0.05 · log2(size / 100)) from 100 to 100,000 memories.
    """

    kind = "minimum_score"
    effect = "removes"
    score: float = 0.3
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """What is good enough."""
        minimum = self.minimum(env.view.size)
        kept = tuple(one for one in draft.candidates if one.score >= minimum)
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.noting(f"{dropped} below the minimum of {minimum:.4g}") if dropped else draft

    def minimum(self, size: int) -> float:
        """The minimum for a store of this size."""
        return self.score * minimum_share(size) if self.adaptive else self.score


@dataclass(frozen=True, slots=True)
class Scope(Stage):
    """Guard: drop whatever the request's filter does not admit. Filters act inside every search already."""

    kind = "scope"
    effect = "removes"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """Only what may be seen."""
        where = draft.request.where
        return replace(draft, candidates=tuple(one for one in draft.candidates if where.admits(one.memory)))


@dataclass(frozen=True, slots=True)
class Unseen(Stage):
    """Hold back what this session has already been shown; `repeat=True` on the request brings it back."""

    kind = "unseen"
    effect = "removes"
    hours: float = 24.0

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """What is new to the session."""
        request = draft.request
        if request.session is None or request.repeat:
            return draft
        seen = env.store.shown(request.session, request.now - timedelta(hours=self.hours))
        kept = tuple(one for one in draft.candidates if one.memory.id not in seen)
        held = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.noting(f"{held} held back: already shown in this session") if held else draft

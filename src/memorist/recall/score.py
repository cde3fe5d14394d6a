"""Stages that change scores: by factors, by the best score and by neighbouring hits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from statistics import fmean

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Factor, Stage, ranked


@dataclass(frozen=True, slots=True)
class Weigh(Stage):
    """score × Π factors. Takes any positive scale and keeps it."""

    kind = "weigh"
    takes = ("candidates",)
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        return _rescored(draft, env, self.factors, lambda score, parts: score * prod(parts))


@dataclass(frozen=True, slots=True)
class Add(Stage):
    """score + Σ factors. Takes and gives scores of about 0 to 1."""

    kind = "add"
    takes = ("candidates",)
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        return _rescored(draft, env, self.factors, lambda score, parts: score + sum(parts))


def _rescored(
    draft: Draft, env: Env, factors: Sequence[Factor], combine: Callable[[float, Iterable[float]], float]
) -> Draft:
    candidates: list[Candidate] = []
    for candidate in draft.candidates:
        parts = {factor.kind: factor(candidate, draft, env) for factor in factors}
        candidates.append(candidate.rescored(combine(candidate.score, parts.values()), **parts))
    return replace(draft, candidates=ranked(candidates))


@dataclass(frozen=True, slots=True)
class Confirm(Stage):
    """score × penalty for candidates that signal `of` found and signal `by` did not; no change if `by` was skipped."""

    kind = "confirm"
    takes = ("candidates",)
    of: str = "fuzzy"
    by: str = "vector"
    penalty: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        searched = self.by in draft.found and draft.found[self.by].skipped is None
        if not searched:
            return draft
        return replace(draft, candidates=ranked([self._penalised(candidate) for candidate in draft.candidates]))

    def _penalised(self, candidate: Candidate) -> Candidate:
        if self.of not in candidate.evidence or self.by in candidate.evidence:
            return candidate
        return candidate.rescored(candidate.score * self.penalty, unconfirmed=self.penalty)


@dataclass(frozen=True, slots=True)
class Normalise(Stage):
    """score / best score. Takes any positive scale, gives 0 to 1."""

    kind = "normalise"
    takes = ("candidates",)

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, on a scale that ends at 1."""
        best = max((candidate.score for candidate in draft.candidates), default=0.0)
        if best <= 0:
            return draft
        return replace(
            draft,
            candidates=tuple(candidate.rescored(candidate.score / best, best=best) for candidate in draft.candidates),
        )


Place = tuple[str, str, int]
"""Scope, session and position of a turn."""


@dataclass(frozen=True, slots=True)
class NeighbourBoost(Stage):
    """score + near · the better of the two adjacent turns + session · the mean of the session's best three.

    Only candidates count. A missing one has the lowest score of all candidates, and a memory without a session is a
    session of its own. Takes any scale and widens it by 1 + near + session.
    """

    kind = "neighbour_boost"
    takes = ("candidates",)
    near: float = 0.1
    session: float = 0.2
    best: int = 3

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        if not any(candidate.memory.origin.session for candidate in draft.candidates):
            return draft
        least = min(candidate.score for candidate in draft.candidates)
        sessions = self._by_session(draft.candidates, least) if self.session else [0.0] * len(draft.candidates)
        nears = [self.near * score for score in _by_place(draft.candidates, least)]
        boosted = [
            one.rescored(one.score + near + session, near=near, session=session)
            for one, near, session in zip(draft.candidates, nears, sessions, strict=True)
        ]
        return replace(draft, candidates=ranked(boosted))

    def _by_session(self, candidates: Sequence[Candidate], least: float) -> list[float]:
        """What its session adds to each candidate."""
        names, scores = [_session(candidate) for candidate in candidates], defaultdict[str, list[float]](list)
        for name, one in zip(names, candidates, strict=True):
            scores[name].append(one.score)
        added = {name: self.session * self._mean_of_best(found, least) for name, found in scores.items()}
        return [added[name] for name in names]

    def _mean_of_best(self, scores: list[float], least: float) -> float:
        return fmean([*sorted(scores, reverse=True), *[least] * self.best][: self.best])


def _session(candidate: Candidate) -> str:
    """The session of a candidate; its own id if it has none."""
    memory = candidate.memory
    return f"{memory.scope}\0{memory.origin.session}" if memory.origin.session else memory.id


def _place(candidate: Candidate) -> Place | None:
    origin = candidate.memory.origin
    if origin.session is None or origin.position is None:
        return None
    return candidate.memory.scope, origin.session, origin.position


def _by_place(candidates: Sequence[Candidate], least: float) -> list[float]:
    """The better score of the two turns adjacent to each candidate."""
    places = [_place(candidate) for candidate in candidates]
    scores = {place: one.score for place, one in zip(places, candidates, strict=True) if place is not None}

    def adjacent(place: Place) -> float:
        scope, session, position = place
        return max(scores.get((scope, session, position - 1), least), scores.get((scope, session, position + 1), least))

    return [least if place is None else adjacent(place) for place in places]

"""The company a turn keeps: what stands beside it and in its session speaks for it too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Stage, ranked

Place = tuple[str, str, int]
"""Scope, session and position."""


@dataclass(frozen=True, slots=True)
class Company(Stage):
    """score + near · the better of the two turns beside it + session · the mean of its session's best three.

    Only candidates count; where one is missing, the least score of all stands in, and what belongs to no session has
    itself alone. Takes any scale and widens it by 1 + near + session.
    """

    kind = "company"
    near: float = 0.1
    session: float = 0.2
    best: int = 3

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        if not any(one.memory.origin.session for one in draft.candidates):
            return draft
        least = min(one.score for one in draft.candidates)
        places = {place: one.score for one in draft.candidates if (place := _place(one)) is not None}
        sessions = self._sessions(draft.candidates, least) if self.session else {}
        found = [self._with_company(one, places, sessions, least) for one in draft.candidates]
        return replace(draft, candidates=ranked(found))

    def _sessions(self, candidates: tuple[Candidate, ...], least: float) -> dict[str, float]:
        scores = defaultdict[str, list[float]](list)
        for one in candidates:
            scores[_session(one)].append(one.score)
        return {name: self._evidence(found, least) for name, found in scores.items()}

    def _evidence(self, scores: list[float], least: float) -> float:
        return fmean([*sorted(scores, reverse=True), *[least] * self.best][: self.best])

    def _with_company(
        self, one: Candidate, places: Mapping[Place, float], sessions: Mapping[str, float], least: float
    ) -> Candidate:
        near = self.near * _beside(one, places, least)
        session = self.session * sessions[_session(one)] if self.session else 0.0
        return one.rescored(one.score + near + session, near=near, session=session)


def _session(candidate: Candidate) -> str:
    """A candidate's session; what has none is one by itself."""
    memory = candidate.memory
    return f"{memory.scope}\0{memory.origin.session}" if memory.origin.session else memory.id


def _place(candidate: Candidate) -> Place | None:
    origin = candidate.memory.origin
    if origin.session is None or origin.position is None:
        return None
    return candidate.memory.scope, origin.session, origin.position


def _beside(candidate: Candidate, places: Mapping[Place, float], least: float) -> float:
    """The better score of the two turns beside a candidate."""
    place = _place(candidate)
    if place is None:
        return least
    scope, session, position = place
    return max(places.get((scope, session, position - 1), least), places.get((scope, session, position + 1), least))

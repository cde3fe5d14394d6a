"""Stages that raise what stands near other hits, and the sources of derived facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from memorist.model import CITES, STATES, Candidate, Kind, Memory
from memorist.recall.stage import Draft, Env, Stage, ranked

Place = tuple[str, str, int]
"""Scope, session and position."""


@dataclass(frozen=True, slots=True)
class NeighbourBoost(Stage):
    """score + near · the better of the two turns beside it + session · the mean of its session's best three.

    Only candidates count; where one is missing, the least score of all stands in, and what belongs to no session has
    itself alone. Takes any scale and widens it by 1 + near + session.
    """

    kind = "neighbour_boost"
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


@dataclass(frozen=True, slots=True)
class PromoteSources(Stage):
    """What was derived gives its place to the words as said, where the filter admits them.

    A fact gives it to the newest memory that states it, a line of a note to all that it cites. Such a memory takes
    the larger of both scores, the other's evidence where it has none of that signal, and a note of what led to it.
    A fact that was told directly stays. Keeps the scale.
    """

    kind = "promote_sources"
    effect = "adds"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with sources in place of what was derived from them."""
        derived = {one.memory.id: one for one in draft.candidates if one.memory.fact or one.memory.kind is Kind.NOTE}
        sources = _sources(derived, draft, env) if derived else {}
        if not sources:
            return draft
        kept = {one.memory.id: one for one in draft.candidates if one.memory.id not in sources}
        for id, memories in sources.items():
            for memory in memories:
                kept[memory.id] = _credited(kept.get(memory.id), memory, derived[id])
        return replace(draft, candidates=ranked(list(kept.values())))


def _sources(derived: Mapping[str, Candidate], draft: Draft, env: Env) -> dict[str, list[Memory]]:
    """What each derived memory rests on, as far as it may be seen."""
    pairs = [
        (link.target, link.source) if link.relation == STATES else (link.source, link.target)
        for link in env.store.links(list(derived), STATES, CITES)
        if (link.relation == STATES and link.target in derived) or (link.relation == CITES and link.source in derived)
    ]
    memories = env.store.get(list(dict.fromkeys(source for _, source in pairs)))
    found = defaultdict[str, list[Memory]](list)
    for id, source in pairs:
        if source in memories and draft.request.where.admits(memories[source]):
            found[id].append(memories[source])
    return {id: some if derived[id].memory.kind is Kind.NOTE else _newest(some) for id, some in found.items()}


def _newest(memories: Sequence[Memory]) -> list[Memory]:
    return [max(memories, key=lambda one: (one.times.valid_from, one.id))]


def _credited(known: Candidate | None, source: Memory, derived: Candidate) -> Candidate:
    fact = derived.memory.fact
    note = () if fact is None else (f"states: {derived.memory.text}",)
    if known is None:
        return replace(derived, memory=source, notes=(*derived.notes, *note))
    return replace(
        known,
        score=max(known.score, derived.score),
        evidence={**derived.evidence, **known.evidence},
        notes=(*known.notes, *note) if derived.score > known.score else known.notes,
    )

"""Tell the reader what the results have to do with one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorist.model import Candidate, Fact
from memorist.recall.stage import Draft, Env, Stage

CONFLICT = "⚠️ Conflicts with another result"


@dataclass(frozen=True, slots=True)
class Enrich(Stage):
    """abmind's notes on the results: edges as `alice —[works_with]→ bob`, the timeline of a topic, likely conflicts.

    Two conflict when topic is the same, texts differ, and more than `overlap` of the smaller one's words are shared.
    """

    kind = "enrich"
    overlap: float = 0.6

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, annotated."""
        topics: dict[str, list[Candidate]] = defaultdict(list)
        for one in draft.candidates:
            if one.memory.topic is not None:
                topics[one.memory.topic].append(one)
        return replace(
            draft,
            candidates=tuple(self._annotated(one, topics.get(one.memory.topic or "", [])) for one in draft.candidates),
        )

    def _annotated(self, candidate: Candidate, same_topic: Sequence[Candidate]) -> Candidate:
        notes = [arrow(candidate.memory.fact)] if candidate.memory.fact and "edges" in candidate.evidence else []
        if len(same_topic) > 1:
            notes.append(timeline(candidate, same_topic))
        if any(self._conflict(candidate, other) for other in same_topic):
            notes.append(CONFLICT)
        return replace(candidate, notes=(*candidate.notes, *notes))

    def _conflict(self, one: Candidate, other: Candidate) -> bool:
        left, right = (set(side.memory.text.lower().split()) for side in (one, other))
        smaller = min(len(left), len(right))
        return one.memory.text != other.memory.text and len(left & right) > self.overlap * smaller


def arrow(fact: Fact) -> str:
    """A fact as an edge of the graph."""
    return f"{fact.subject} —[{fact.relation}]→ {fact.object}"


def timeline(candidate: Candidate, same_topic: Sequence[Candidate]) -> str:
    """Where a memory stands among those on its topic, oldest first."""
    days = sorted((one.memory.times.ingested_at, one.memory.id) for one in same_topic)
    place = days.index((candidate.memory.times.ingested_at, candidate.memory.id)) + 1
    span = " → ".join(dict.fromkeys(str(day.date()) for day, _ in days))
    return f"timeline of {candidate.memory.topic!r}: {place} of {len(days)} ({span})"

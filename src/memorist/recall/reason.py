"""Stages that put what was found into words: enrichment and reasoning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorist.asking import Source, query
from memorist.asking.asker import together
from memorist.model import Candidate, Fact, Kind, Reasoned, Touched
from memorist.recall.llm_or_rules import By, LlmOrRules
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.understand import extractive_summary

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


TYPES = {
    "episodic": (Kind.EPISODIC, Kind.SUBGOAL),
    "semantic": (Kind.SEMANTIC,),
    "procedural": (Kind.PROCEDURAL,),
}
Ranked = tuple[int, Candidate]


@dataclass(frozen=True, slots=True)
class Reason(LlmOrRules):
    """A summary of the candidates of each type, None where there are none; the types are reasoned about at once.

    A model's summary cites its candidates by their rank, as [3]; by rules it is extractive: their own sentences.
    """

    kind = "reason"
    sentences: int = 3
    by: By = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its summaries, and every node that contributed as touched."""
        types = {name: found for name, kinds in TYPES.items() if (found := _of_kinds(draft, kinds))}
        told = together([lambda name=name: self._summary(name, types[name], draft, env) for name in types])
        summaries = {name: summary for name, (summary, _) in zip(types, told, strict=True)}
        touched = tuple(
            Touched(one.memory.id, one.memory.kind, one.score, one.phase, one.hop) for one in draft.candidates
        )
        reasoned = replace(draft, reasoned=Reasoned(**summaries), touched=touched)
        return _noting(reasoned, {name: who for name, (_, who) in zip(types, told, strict=True)})

    def _summary(self, name: str, found: list[Ranked], draft: Draft, env: Env) -> tuple[str | None, str]:
        asked = draft.query.text
        return self.judged(
            "reason",
            env,
            lambda asker: query.reason(asker, asked, name, [_source(*one) for one in found]),
            lambda: extractive_summary(asked, [one.memory.text for _, one in found], sentences=self.sentences),
        )


def _of_kinds(draft: Draft, kinds: tuple[Kind, ...]) -> list[Ranked]:
    return [(rank, one) for rank, one in enumerate(draft.candidates, 1) if one.memory.kind in kinds]


def _source(rank: int, candidate: Candidate) -> Source:
    memory = candidate.memory
    return Source(rank, memory.text, memory.times.valid_from, memory.origin.speaker)


def _noting(draft: Draft, who: dict[str, str]) -> Draft:
    """Who reasoned; per type where they differ."""
    if len(set(who.values())) <= 1:
        return draft.noting(f"reasoned by {next(iter(who.values()), 'rules')}")
    return replace(draft, notes=(*draft.notes, *(f"{name} reasoned by {one}" for name, one in who.items())))

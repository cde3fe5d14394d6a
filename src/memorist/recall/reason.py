"""Stages that describe the results in words: annotations and summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from memorist.asking import query
from memorist.asking.query import Source
from memorist.model import INSTRUCTIONS, Candidate, Fact, Kind, Reasoned
from memorist.recall.diversity import distinct_words
from memorist.recall.llm_or_rules import LlmOrRules, Method
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.understand import extractive_summary
from memorist.text.labels import label

T = TypeVar("T")
CONFLICT = "⚠️ Conflicts with another result"


@dataclass(frozen=True, slots=True)
class Enrich(Stage):
    """abmind's notes on the results: edges as `alice —[works_with]→ bob`, the timeline of a topic, likely conflicts.

    Two memories conflict if they have the same topic, their texts differ, and they share more than `overlap` of the
    smaller one's words.
    """

    kind = "enrich"
    takes = ("candidates",)
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
        left, right = (distinct_words(side.memory.text) for side in (one, other))
        smaller = min(len(left), len(right))
        return one.memory.text != other.memory.text and len(left & right) > self.overlap * smaller


def arrow(fact: Fact) -> str:
    """A fact as an edge of the graph."""
    return f"{label(fact.subject)} —[{label(fact.relation)}]→ {label(fact.object)}"


def timeline(candidate: Candidate, same_topic: Sequence[Candidate]) -> str:
    """The position of a memory among those on its topic, oldest first, by event time: an import has one day else."""
    days = sorted((one.memory.times.valid_from, one.memory.id) for one in same_topic)
    place = days.index((candidate.memory.times.valid_from, candidate.memory.id)) + 1
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
    """A summary of the candidates of each type, None for a type without candidates; the types run in parallel.

    A model's summary cites the candidates by rank, as in [3]. By rules it is extractive. Texts that read like
    instructions are left out.
    """

    kind = "reason"
    takes = ("candidates",)
    sentences: int = 3
    by: Method = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its summaries; every candidate counts as touched."""
        types = {name: found for name, kinds in TYPES.items() if (found := _of_kinds(draft, kinds))}
        answers = in_parallel([lambda name=name: self._summary(name, types[name], draft, env) for name in types])
        summaries = {name: summary for name, (summary, _) in zip(types, answers, strict=True)}
        reasoned = replace(draft, reasoned=Reasoned(**summaries), touched=draft.as_touched())
        return _noting(reasoned, {name: author for name, (_, author) in zip(types, answers, strict=True)})

    def _summary(self, name: str, found: list[Ranked], draft: Draft, env: Env) -> tuple[str | None, str]:
        asked = draft.query.text
        return self.decide(
            "reason",
            env,
            lambda asker: query.reason(asker, asked, name, [_source(*one) for one in found]),
            lambda: extractive_summary(asked, [one.memory.text for _, one in found], sentences=self.sentences),
        )


def _of_kinds(draft: Draft, kinds: tuple[Kind, ...]) -> list[Ranked]:
    ranked = [(rank, one) for rank, one in enumerate(draft.candidates, 1) if one.memory.kind in kinds]
    return [(rank, one) for rank, one in ranked if INSTRUCTIONS not in one.memory.worth.flags]


def _source(rank: int, candidate: Candidate) -> Source:
    memory = candidate.memory
    return Source(rank, memory.text, memory.times.valid_from, memory.origin.speaker)


def _noting(draft: Draft, authors: dict[str, str]) -> Draft:
    """Note who wrote the summaries; per type if they differ."""
    if len(set(authors.values())) <= 1:
        return draft.noting(f"reasoned by {next(iter(authors.values()), 'rules')}")
    return replace(draft, notes=(*draft.notes, *(f"{name} reasoned by {one}" for name, one in authors.items())))


def in_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of the calls, in order; all run at the same time.

    They do not use the pool of the searches, because a call may wait long for a model.
    """
    if len(calls) < 2:
        return [call() for call in calls]
    with ThreadPoolExecutor(len(calls), thread_name_prefix="memorist-asking") as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]

"""Stages that describe the results in words: annotations and summaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from memorist.asking import query
from memorist.asking.query import Source
from memorist.model import INSTRUCTIONS, STATES, Candidate, Fact, Kind, Reasoned
from memorist.model.marks import CandidateMark, Conflicting, OnEdge, OnTimeline
from memorist.recall.diversity import distinct_words
from memorist.recall.folding import ends
from memorist.recall.llm_or_rules import LlmOrRules, Method
from memorist.recall.prepare import whole
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.understand import extractive_summary
from memorist.text.words import fold

if TYPE_CHECKING:
    from memorist.asking import LLMAsker

T = TypeVar("T")
MOST_ARROWS = 2
"""Edges that are noted on a text that states several."""


@dataclass(frozen=True, slots=True)
class Enrich(Stage):
    """abmind's remarks, which the context shows: edges as `alice —[works_with]→ bob`, a topic's timeline, conflicts.

    A text that states an edge which rules read gets its arrow. Two memories conflict if they have the same topic, their
    texts differ, and they share more than `overlap` of the smaller one's words.
    """

    kind = "enrich"
    takes = ("candidates",)
    overlap: float = 0.6

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, annotated."""
        topics, edges = defaultdict[str, list[Candidate]](list), _edges(draft, env)
        for candidate in draft.candidates:
            if candidate.memory.topic is not None:
                topics[candidate.memory.topic].append(candidate)
        return replace(
            draft,
            candidates=tuple(
                self._annotated(
                    candidate, topics.get(candidate.memory.topic or "", []), edges.get(candidate.memory.id, [])
                )
                for candidate in draft.candidates
            ),
        )

    def _annotated(self, candidate: Candidate, same_topic: Sequence[Candidate], edges: Sequence[Fact]) -> Candidate:
        marks: list[CandidateMark] = [OnEdge(edge) for edge in edges[:MOST_ARROWS]]
        if len(same_topic) > 1:
            marks.append(_timeline(candidate, same_topic))
        if any(self._conflict(candidate, other) for other in same_topic):
            marks.append(Conflicting())
        return replace(candidate, marks=(*candidate.marks, *marks))

    def _conflict(self, one: Candidate, other: Candidate) -> bool:
        left, right = (distinct_words(side.memory.text) for side in (one, other))
        smaller = min(len(left), len(right))
        return one.memory.text != other.memory.text and len(left & right) > self.overlap * smaller


def _edges(draft: Draft, env: Env) -> dict[str, list[Fact]]:
    """The edges that the signal of that name found: of a fact itself, and of a text those that it states."""
    found = [candidate.memory for candidate in draft.candidates if "edges" in candidate.evidence]
    edges = {memory.id: [memory.fact] for memory in found if memory.fact is not None}
    texts = [memory.id for memory in found if memory.fact is None]
    links = [link for link in env.store.links(texts, STATES) if link.source in texts] if texts else []
    facts, admits = env.store.get([link.target for link in links]), draft.request.where.admits
    names = {fold(name) for entity in draft.query.entities for name in (entity.name, *entity.aliases)}
    for link in links:
        stated = facts.get(link.target)
        if stated is not None and stated.fact is not None and admits(stated) and names & ends(stated.fact):
            edges.setdefault(link.source, []).append(stated.fact)
    return edges


def _timeline(candidate: Candidate, same_topic: Sequence[Candidate]) -> OnTimeline:
    """The position of a memory among those on its topic, oldest first, by event time: an import has one day else."""
    times = sorted((rival.memory.times.valid_from, rival.memory.id) for rival in same_topic)
    place = times.index((candidate.memory.times.valid_from, candidate.memory.id)) + 1
    days = tuple(dict.fromkeys(day.date() for day, _ in times))
    return OnTimeline(candidate.memory.topic or "", place, len(times), days)


TYPES = {
    "episodic": (Kind.EPISODIC, Kind.SUBGOAL),
    "semantic": (Kind.SEMANTIC,),
    "procedural": (Kind.PROCEDURAL,),
}
Ranked = tuple[int, Candidate]


@dataclass(frozen=True, slots=True)
class Reason(LlmOrRules):
    """A summary of the candidates of each type, None for a type without candidates; the types run in parallel.

    A model is asked to cite the candidates by rank, as in [3]; the trace names the summaries without citations. By
    rules a summary is extractive. Texts that read like instructions are left out.
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
        walk = replace(draft.walk, reasoned=Reasoned(**summaries), touched=draft.as_touched())
        authors = {name: author for name, (_, author) in zip(types, answers, strict=True)}
        return _noting(replace(draft, walk=walk), authors)

    def _summary(self, name: str, found: list[Ranked], draft: Draft, env: Env) -> tuple[str | None, str]:
        def ask(asker: LLMAsker) -> tuple[str | None, str]:
            summary = query.reason(asker, whole(draft), name, [_source(*ranked) for ranked in found])
            return summary, "" if query.citations(summary) else " without citations"

        def extract() -> tuple[str | None, str]:
            texts, asked = (
                [one.memory.text for _, one in found],
                f"{draft.request.surroundings.goal} {draft.query.text}",
            )
            return extractive_summary(asked, texts, sentences=self.sentences), ""

        (summary, remark), author = self.decide("reason", env, ask, extract)
        return summary, author + remark


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

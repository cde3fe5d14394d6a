"""mnemosyne-graph's later steps: hops through routing nodes to related nodes, and the sources of episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from memorist.asking import query
from memorist.model import Candidate, Evidence, Kind, Link
from memorist.recall.llm_or_rules import LlmOrRules, Method
from memorist.recall.nodes import Nodes, probes, relevances, targets
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.recall.understand import bridge_phrases

if TYPE_CHECKING:
    from memorist.ports import Vector

ROUTES = {
    "semantic": (Kind.TAG,),
    "procedural": (Kind.INTENT,),
    "mixed": (Kind.TAG, Kind.INTENT),
    "episodic": (Kind.TAG,),
}


@dataclass(frozen=True, slots=True)
class Hops(LlmOrRules):
    """Up to `max_hops` times: candidates → routing nodes that pass their threshold → their other neighbours.

    New nodes are scored as in hop 0 and merged, at most `per_hop` per hop, phase `multi_hop`; only their routing nodes
    have to pass a threshold. If the best new score of a hop exceeds the best before it (initially `start`) by less than
    `gain`, and `refinements` are left, hop 0 runs again with 3 to 5 bridge phrases of the query and the candidates as
    tags, phase `refinement`; `by` decides whether a model or rules choose them. Keeps the scale.
    """

    kind = "hops"
    effect = "adds"
    needs = ("embedder",)
    nodes: Nodes = field(default_factory=Nodes)
    max_hops: int = 2
    per_hop: int = 100
    start: float = 0.6
    gain: float = 0.05
    refinements: int = 1
    by: Method = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the nodes up to `max_hops` away."""
        best, left = self.start, self.refinements
        counts, candidates = list(draft.per_hop), draft.candidates
        for hop in range(1, self.max_hops + 1):
            draft = replace(draft, candidates=candidates)
            new = self._neighbours(draft, env, hop)
            reached = max((one.score for one in new), default=0.0)
            if reached - best < self.gain and left > 0:
                left -= 1
                draft, bridged = self._refined(draft, env, hop, {one.memory.id for one in new})
                new = [*new, *bridged]
            best = max(best, reached)
            counts.append(len(new))
            candidates = ranked([*candidates, *new])
        candidates = self.nodes.best_of_each_kind(candidates)
        return replace(draft, candidates=candidates, per_hop=tuple(counts))

    def _neighbours(self, draft: Draft, env: Env, hop: int) -> list[Candidate]:
        vectors = probes(draft)
        known = {one.memory.id for one in draft.candidates}
        if vectors is None or not known:
            return []
        routing = self._routing(draft, env, known, vectors)
        ids = _neighbours_of(env.store.links(routing), routing) - known
        new = self.nodes.valued(relevances(sorted(ids), env, vectors), draft, env)
        wanted = [one for one in new if one.memory.kind in targets(draft)]
        return [replace(one, phase="multi_hop", hop=hop) for one in ranked(wanted)[: self.per_hop]]

    def _routing(self, draft: Draft, env: Env, known: set[str], vectors: Vector) -> list[str]:
        kinds = ROUTES[draft.query.mode or "mixed"]
        near = _neighbours_of(env.store.links(sorted(known)), known)
        routes = [id for id, memory in env.store.get(sorted(near)).items() if memory.kind in kinds]
        unfiltered = replace(draft, request=replace(draft.request, where=replace(draft.request.where, kinds=None)))
        passed = self.nodes.passing(relevances(routes, env, vectors), unfiltered, env)
        return [one.memory.id for one in self.nodes.best_of_each_kind(passed)]

    def _refined(self, draft: Draft, env: Env, hop: int, found: set[str]) -> tuple[Draft, list[Candidate]]:
        """The nodes that hop 0 finds by bridge phrases; the draft notes their author and the time taken."""
        started = perf_counter()
        phrases, author = self._bridge_phrases(draft, env)
        new = self._probed(phrases, draft, env, found | {one.memory.id for one in draft.candidates})
        ms = draft.timings.get("refinement", 0.0) + (perf_counter() - started) * 1000
        refined = replace(draft, timings={**draft.timings, "refinement": ms}).noting(f"bridge tags by {author}")
        return refined, [replace(one, phase="refinement", hop=hop) for one in new]

    def _bridge_phrases(self, draft: Draft, env: Env) -> tuple[tuple[str, ...], str]:
        text, texts = draft.query.text, [one.memory.text for one in draft.candidates]
        if not texts:
            return (), "rules"
        return self.decide(
            "bridge", env, lambda asker: query.bridge_tags(asker, text, texts), lambda: bridge_phrases(text, texts)
        )

    def _probed(self, phrases: Sequence[str], draft: Draft, env: Env, known: set[str]) -> list[Candidate]:
        if env.embedder is None or not phrases:
            return []
        vectors = env.embedder.embed(phrases, purpose="query")
        bridged = replace(draft, query=replace(draft.query, tag_vectors=vectors))
        return [one for one in self.nodes.initial(bridged, env, probes(bridged)) if one.memory.id not in known]


@dataclass(frozen=True, slots=True)
class Provenance(Stage):
    """In episodic mode: the sources of the episodes found, and the other episodes of those sources.

    Each at `decay` times the score of its best episodic candidate, phase `provenance`. Keeps the scale.
    """

    kind = "provenance"
    effect = "adds"
    decay: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the sources of its episodes."""
        episodes = {one.memory.id: one.score for one in draft.candidates if one.memory.kind is Kind.EPISODIC}
        if draft.query.mode != "episodic" or not episodes:
            return draft
        sources = self._step(episodes, Kind.SOURCE, env)
        origins = self._step(sources, Kind.EPISODIC, env)
        scores = {id: self.decay * score for id, score in (origins | sources).items()}
        known = {one.memory.id for one in draft.candidates}
        memories = env.store.get([id for id in sorted(scores) if id not in known])
        new = [
            Candidate(memory, scores[id], {"parent": Evidence(None, scores[id] / self.decay, scores[id])}, "provenance")
            for id, memory in memories.items()
            if draft.request.where.admits(memory)
        ]
        return replace(draft, candidates=ranked([*draft.candidates, *new]))

    def _step(self, scores: dict[str, float], kind: Kind, env: Env) -> dict[str, float]:
        links = env.store.links(sorted(scores))
        reached: dict[str, float] = {}
        for link in links:
            for here, there in ((link.source, link.target), (link.target, link.source)):
                if here in scores and there not in scores:
                    reached[there] = max(reached.get(there, 0.0), scores[here])
        memories = env.store.get(sorted(reached))
        return {id: reached[id] for id, memory in memories.items() if memory.kind is kind}


def _neighbours_of(links: Iterable[Link], ids: Collection[str]) -> set[str]:
    """The ids at the other end of links from these ids."""
    known = set(ids)
    ends = {end for link in links if link.source in known or link.target in known for end in (link.source, link.target)}
    return ends - known

"""mnemosyne-graph's later steps: hops through routing nodes to related nodes, and the sources of episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from memorist.asking import query
from memorist.model import PROVENANCE, Candidate, Evidence, Filter, Kind, Link, Memory
from memorist.recall.llm_or_rules import LlmOrRules, Method
from memorist.recall.nodes import Nodes, allowed_kinds, relevances, vectors_of
from memorist.recall.prepare import CONTENT, whole, with_goal
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.recall.understand import bridge_phrases
from memorist.text.chatter import question_in

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

    New nodes are scored as in hop 0, must pass the threshold of their kind, and are merged, phase `multi_hop`. After
    each hop, `per_hop` candidates are kept. If the best relevance so far is below `start`, a hop raises it by less than
    `gain`, and `refinements` are left, hop 0 runs again with 3 to 5 bridge phrases of the query and the `bridged` best
    candidates, each with the question before it, as tags; phase `refinement`. `by` decides whether a model or rules
    choose the phrases. Keeps the scale.
    """

    kind = "hops"
    takes = ("candidates",)
    effect = "adds"
    needs = ("embedder",)
    follows_tags = True
    nodes: Nodes = field(default_factory=Nodes)
    max_hops: int = 2
    per_hop: int = 100
    start: float = 0.6
    gain: float = 0.05
    refinements: int = 1
    bridged: int = 5
    by: Method = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the nodes up to `max_hops` away."""
        best, left = _best(draft.candidates), self.refinements
        counts, candidates = list(draft.walk.per_hop), draft.candidates
        for hop in range(1, self.max_hops + 1):
            draft = replace(draft, candidates=candidates)
            new = self._neighbours(draft, env, hop)
            reached = max(best, _best(new))
            if reached < self.start and reached - best < self.gain and left > 0:
                left -= 1
                draft, bridged = self._refined(draft, env, hop, {candidate.memory.id for candidate in new})
                new = [*new, *bridged]
            best = reached
            counts.append(len(new))
            candidates = ranked([*candidates, *new])[: self.per_hop]
        draft = replace(draft, candidates=candidates, walk=replace(draft.walk, per_hop=tuple(counts)))
        routes = (
            env.view.search_vector(vectors, _labels(draft), 1) if (vectors := vectors_of(draft)) is not None else ()
        )
        return draft if routes else draft.noting("no hops: no memory here has a tag or an intent")

    def _neighbours(self, draft: Draft, env: Env, hop: int) -> list[Candidate]:
        """The nodes that share a routing node with a candidate and pass the threshold of their kind."""
        vectors, known = vectors_of(draft), {candidate.memory.id for candidate in draft.candidates}
        routing = [] if vectors is None else self._routing(draft, env, known, vectors)
        near = _neighbours_of(env.store.links(routing), routing) - known
        if vectors is None or not near:
            return []
        scores = relevances(env, vectors, replace(draft.request.where, kinds=allowed_kinds(CONTENT, draft)))
        found = self.nodes.passing({id: score for id, score in scores.items() if id in near}, draft, env)
        return [replace(candidate, phase="multi_hop", hop=hop) for candidate in found]

    def _routing(self, draft: Draft, env: Env, known: set[str], vectors: Vector) -> list[str]:
        """The routing nodes of the candidates that pass their threshold; a label has no time or topic of its own."""
        scores = relevances(env, vectors, _labels(draft))
        near = _neighbours_of(env.store.links(sorted(known)), known) if scores else ()
        unfiltered = replace(draft, request=replace(draft.request, where=_labels(draft)))
        passed = self.nodes.passing({id: scores[id] for id in near if id in scores}, unfiltered, env)
        return [candidate.memory.id for candidate in self.nodes.best_of_each_kind(passed)]

    def _refined(self, draft: Draft, env: Env, hop: int, found: set[str]) -> tuple[Draft, list[Candidate]]:
        """The nodes that hop 0 finds by bridge phrases; the draft notes their author and the time taken."""
        started = perf_counter()
        phrases, author = self._bridge_phrases(draft, env)
        new = self._probed(phrases, draft, env, found | {candidate.memory.id for candidate in draft.candidates})
        ms = (draft.walk.refinement_ms or 0.0) + (perf_counter() - started) * 1000
        refined = replace(draft, walk=replace(draft.walk, refinement_ms=ms)).noting(f"bridge tags by {author}")
        return refined, [replace(candidate, phase="refinement", hop=hop) for candidate in new]

    def _bridge_phrases(self, draft: Draft, env: Env) -> tuple[tuple[str, ...], str]:
        asked, texts = whole(draft), [candidate.memory.text for candidate in draft.candidates[: self.bridged]]
        if not texts:
            return (), "rules"
        return self.decide(
            "bridge", env, lambda asker: query.bridge_tags(asker, asked, texts), lambda: bridge_phrases(asked, texts)
        )

    def _probed(self, phrases: Sequence[str], draft: Draft, env: Env, known: set[str]) -> list[Candidate]:
        if env.embedder is None or not phrases:
            return []
        asked = question_in(with_goal(draft))
        vectors = env.embedder.embed([f"{asked} {phrase}" for phrase in phrases], purpose="query")
        bridged = replace(draft, query=replace(draft.query, tag_vectors=vectors))
        return [
            candidate
            for candidate in self.nodes.initial(bridged, env, vectors_of(bridged))
            if candidate.memory.id not in known
        ]


@dataclass(frozen=True, slots=True)
class Provenance(Stage):
    """In episodic mode: the sources of the episodes found, each at `decay` times the score of its best episode.

    The threshold and the top-k are those of the kind `source`; phase `provenance`. Keeps the scale.
    """

    kind = "provenance"
    takes = ("candidates",)
    effect = "adds"
    nodes: Nodes = field(default_factory=Nodes)
    decay: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the sources of its episodes."""
        episodes = {
            candidate.memory.id: candidate.score
            for candidate in draft.candidates
            if candidate.memory.kind is Kind.EPISODIC
        }
        if draft.query.mode != "episodic" or not episodes:
            return draft
        parents: dict[str, float] = {}
        for link in env.store.links(sorted(episodes), PROVENANCE):
            if link.source in episodes and link.target not in episodes:
                parents[link.target] = max(parents.get(link.target, 0.0), episodes[link.source])
        found = [self._source(memory, parents[memory.id]) for memory in env.store.get(sorted(parents)).values()]
        new = [
            candidate
            for candidate in found
            if candidate.memory.kind is Kind.SOURCE and draft.request.where.admits(candidate.memory)
        ]
        passed = [candidate for candidate in new if candidate.score >= self.nodes.threshold(candidate)]
        return replace(draft, candidates=ranked([*draft.candidates, *self.nodes.best_of_each_kind(passed)]))

    def _source(self, memory: Memory, parent: float) -> Candidate:
        score = self.decay * parent
        return Candidate(memory, score, {"parent": Evidence(None, parent, score)}, "provenance")


def _labels(draft: Draft) -> Filter:
    """The routing nodes of the mode that the request may see."""
    seen = draft.request.where
    return Filter(
        seen.scopes,
        ROUTES[draft.query.mode or "mixed"],
        max_classification=seen.max_classification,
        scope_prefixes=seen.scope_prefixes,
    )


def _best(candidates: Iterable[Candidate]) -> float:
    """The largest relevance; 0 for candidates that other stages found."""
    return max(
        (candidate.evidence["relevance"].score for candidate in candidates if "relevance" in candidate.evidence),
        default=0.0,
    )


def _neighbours_of(links: Iterable[Link], ids: Collection[str]) -> set[str]:
    """The ids at the other end of links from these ids."""
    known = set(ids)
    ends = {end for link in links if link.source in known or link.target in known for end in (link.source, link.target)}
    return ends - known

"""Signals: each one way of searching the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from math import prod
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memorist.model import Candidate, FactGraph, Hit, Kind, Memory
from memorist.recall.factors import (
    CredibilityFactor,
    EmotionFactor,
    EmotionLog,
    LinearRecency,
    RecallCount,
    RelevanceFactor,
    TierFactor,
    TrustFactor,
)
from memorist.recall.pagerank import RECALL_TOLERANCE, Adjacency, personalized_pagerank
from memorist.recall.stage import Draft, Env, Factor, Signal
from memorist.text.words import fold


@dataclass(frozen=True, slots=True)
class Keyword(Signal):
    """BM25 over stems and CJK bigrams, of the query and its expansion; positive, usually above 1.

    With `spelling`, where no memory has any of the words, those with words spelt alike, by trigrams: 0 to 1.
    """

    kind = "keyword"
    spelling: bool = False

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories that share the query's rarest words."""
        text, where = " ".join((draft.query.text, *draft.query.expansion)), draft.request.where
        found = env.view.search_text(text, where, limit)
        return found if found or not self.spelling else env.view.search_trigram(text, where, limit)


@dataclass(frozen=True, slots=True)
class Vector(Signal):
    """The largest cosine between the query and any of a memory's vectors, −1 to 1, at least `least`."""

    kind = "vector"
    optional = ("embedder",)
    least: float = -1.0

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The nearest memories."""
        vector = draft.query.embedding()
        if vector is None:
            return []
        hits = env.view.search_vector(vector, draft.request.where, limit)
        return [hit for hit in hits if hit.score >= self.least]


@dataclass(frozen=True, slots=True)
class Trigram(Signal):
    """Words spelt alike: typos and variants of names and identifiers; 0 to 1."""

    kind = "trigram"

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories with words most like the query's."""
        return env.view.search_trigram(draft.query.text, draft.request.where, limit)


@dataclass(frozen=True, slots=True)
class Signature(Signal):
    """Hamming similarity of 256-bit signatures of the words, 0 to 1, at least `least`, at most `most` hits."""

    kind = "signature"
    least: float = 0.65
    most: int = 5

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories whose words are most alike."""
        hits = env.view.search_signature(draft.query.text, draft.request.where, min(limit, self.most))
        return [hit for hit in hits if hit.score >= self.least]


@dataclass(frozen=True, slots=True)
class Temporal(Signal):
    """Memories said in the query's time window, or naming a date in it: 1 inside, falling to 0 at `reach_days`."""

    kind = "temporal"
    reach_days: float = 3.0

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """What lies in the window or within reach of it; nothing for a question without a date."""
        if draft.query.window is None:
            return []
        reach = timedelta(days=self.reach_days)
        return env.view.search_time(*draft.query.window, draft.request.where, limit, reach=reach)


@dataclass(frozen=True, slots=True)
class Notes(Signal):
    """Paragraphs of daily, weekly and quarterly notes that share a word with the query, at a fixed score.

    The same paragraph (its first 80 characters) of the same time counts once.
    """

    kind = "notes"
    score: float = 0.5

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """Matching paragraphs, those with the rarest words kept."""
        where = draft.request.where
        if where.kinds is not None and Kind.NOTE not in where.kinds:
            return []
        hits = env.view.search_text(draft.query.text, replace(where, kinds=(Kind.NOTE,)), limit)
        memories = env.store.get([hit.id for hit in hits])
        distinct = {
            (memories[hit.id].text[:80], memories[hit.id].times.valid_from): hit.id
            for hit in reversed(hits)
            if hit.id in memories
        }
        return [Hit(id, self.score) for id in sorted(distinct.values())]


FACTORS: tuple[Factor, ...] = (
    RecallCount(),
    RelevanceFactor(),
    TrustFactor(),
    CredibilityFactor(),
    TierFactor(),
    LinearRecency(),
    EmotionFactor(),
)


@dataclass(frozen=True, slots=True)
class Fuzzy(Signal):
    """score = (bm25 + 0.5 · ln(1 + |e|)) · Π factors, then divided by the best unless `raw`.

    Three searches, the first to find a memory scores it by its own index: stems of the English text, parts of
    words of the text and its keywords, and, while fewer than the limit were found, parts of words of the original
    text, unless the query was translated already.
    """

    kind = "fuzzy"
    add: tuple[Factor, ...] = (EmotionLog(),)
    factors: tuple[Factor, ...] = FACTORS
    raw: bool = False

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories whose words match."""
        found: dict[str, float] = {}
        for hits in self._searches(draft, env, limit, found):
            for hit in hits:
                found.setdefault(hit.id, hit.score)
        memories = env.store.get(list(found))
        scores = {id: self.score(Candidate(memories[id], found[id]), draft, env) for id in found if id in memories}
        best = 1.0 if self.raw else max(scores.values(), default=1.0)
        hits = [Hit(id, score / best) for id, score in scores.items()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _searches(self, draft: Draft, env: Env, limit: int, found: dict[str, float]) -> Iterator[list[Hit]]:
        text, where, view = draft.query.text, draft.request.where, env.view
        yield view.search_text(text, where, limit, fields=("text",))
        yield view.search_substring(text, where, limit, fields=("text",))
        if len(found) < draft.request.limit and not draft.request.translated:
            yield view.search_substring(text, where, limit, fields=("original",))

    def score(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """The page's formula for one candidate whose score is its BM25."""
        base = candidate.score + sum(factor(candidate, draft, env) for factor in self.add)
        return base * prod(factor(candidate, draft, env) for factor in self.factors)


_adjacencies: WeakKeyDictionary[FactGraph, Adjacency] = WeakKeyDictionary()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Graph(Signal):
    """Personalized PageRank from the query's entities over the facts that the filter admits.

    A memory scores the sum of both ends' rank, of its best edge. No known entity in the query, no hits.
    Page et al. 1999; Haveliwala, WWW 2002; undirected, damping 0.85 as memoria has it.
    """

    kind = "graph"
    damping: float = 0.85
    tolerance: float = RECALL_TOLERANCE

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The facts nearest to what the question is about."""
        graph, admitted = env.view.graph(draft.request.where)
        seeds = {graph.nodes[one.id]: 1.0 for one in draft.query.entities if one.id in graph.nodes}
        if not seeds:
            return []
        walkable = adjacency(graph).walking(admitted)
        rank = personalized_pagerank(walkable, seeds, damping=self.damping, tolerance=self.tolerance)
        return best_memories(graph, np.where(admitted, rank[graph.source] + rank[graph.target], 0.0), limit)


@dataclass(frozen=True, slots=True)
class Edges(Signal):
    """The facts of the first word of the query that names a known entity, at a fixed score (abmind's S8)."""

    kind = "edges"
    score: float = 0.6

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """One entity's edges."""
        graph, admitted = env.view.graph(draft.request.where)
        first = next((one for one in draft.query.entities if one.id in graph.nodes), None)
        if first is None:
            return []
        node = graph.nodes[first.id]
        touching = np.flatnonzero(((graph.source == node) | (graph.target == node)) & admitted)
        memories = env.store.get(list({graph.memories[edge] for edge in touching.tolist()}))
        names = {fold(name) for name in (first.name, *first.aliases)}
        facts = [id for id, memory in memories.items() if names & ends(memory)]
        return [Hit(id, self.score) for id in sorted(facts)[:limit]]


def ends(memory: Memory) -> set[str]:
    """The folded names of a fact's subject and object; none of what is no fact."""
    return set() if memory.fact is None else {fold(memory.fact.subject), fold(memory.fact.object)}


def adjacency(graph: FactGraph) -> Adjacency:
    """The graph laid out for walking, made once for as long as the graph lives."""
    with _lock:
        made = _adjacencies.get(graph)
        if made is None:
            made = Adjacency.from_edges(len(graph.nodes), graph.source, graph.target)
            _adjacencies[graph] = made
        return made


def best_memories(graph: FactGraph, scores: NDArray[np.float64], limit: int) -> list[Hit]:
    """The memories of the best edges above 0, best first, ties by id."""
    best: dict[str, float] = {}
    cut = np.flatnonzero(scores > 0)
    edges: list[int] = cut[np.argsort(-scores[cut], kind="stable")].tolist()
    for edge in edges:
        best.setdefault(graph.memories[edge], float(scores[edge]))
    return [Hit(id, score) for id, score in sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]]

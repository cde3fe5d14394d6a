"""abmind's fuzzy search: three word searches, weighed like a human memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from memorist.model import Candidate, Hit
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
from memorist.recall.stage import Draft, Env, Factor, Signal

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

"""Search by meaning."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.model import Hit
from memorist.recall.stage import Draft, Env, Signal


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

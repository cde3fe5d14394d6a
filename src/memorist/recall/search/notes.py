"""Search the notes that consolidation wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.model import Hit, Kind
from memorist.recall.stage import Draft, Env, Signal


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

"""Search by words."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.model import Hit
from recollect.recall.stage import Draft, Env, Signal


@dataclass(frozen=True, slots=True)
class Keyword(Signal):
    """BM25 over stems and CJK bigrams, of the query and its expansion; positive, usually above 1."""

    kind = "keyword"

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories that share the query's rarest words."""
        text = " ".join((draft.query.text, *draft.query.expansion))
        return env.view.search_text(text, draft.request.where, limit)

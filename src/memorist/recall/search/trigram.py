"""Search by spelling."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.model import Hit
from memorist.recall.stage import Draft, Env, Signal


@dataclass(frozen=True, slots=True)
class Trigram(Signal):
    """Words spelt alike: typos and variants of names and identifiers; 0 to 1."""

    kind = "trigram"

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories with words most like the query's."""
        return env.view.search_trigram(draft.query.text, draft.request.where, limit)

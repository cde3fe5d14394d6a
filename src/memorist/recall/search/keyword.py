"""Search by words."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.model import Hit
from memorist.recall.stage import Draft, Env, Signal


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

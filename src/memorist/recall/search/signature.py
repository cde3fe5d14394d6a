"""Search by signature: alike without a model."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.model import Hit
from memorist.recall.stage import Draft, Env, Signal


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

"""What words tell beyond meaning, by what sort of text they stand in."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Factor
from memorist.views import is_talk


@dataclass(frozen=True, slots=True)
class WrittenWords(Factor):
    """weight · the keyword signal's norm, to add, for what was written rather than said: terms are exact there.

    Nothing for talk, and nothing for facts, which give their place to what states them.
    """

    kind = "written_words"
    weight: float = 0.2

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """0 where no word was found."""
        found = candidate.evidence.get("keyword")
        if found is None or candidate.memory.fact is not None or is_talk(candidate.memory):
            return 0.0
        return self.weight * found.norm

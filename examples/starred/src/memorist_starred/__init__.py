"""A factor of your own, as a package: memories that you starred rank higher."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.stages import Candidate, Draft, Env, Factor


@dataclass(frozen=True, slots=True)
class Starred(Factor):
    """Multiplies the score of a memory with the flag `starred` by `boost`."""

    kind = "starred"
    boost: float = 1.5

    def __call__(self, candidate: Candidate, draft: Draft, env: Env) -> float:
        """The factor of one candidate."""
        return self.boost if "starred" in candidate.memory.worth.flags else 1.0

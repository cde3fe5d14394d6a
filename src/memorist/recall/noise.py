"""The stage that drops memories like those in the noise bank."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.models.noise_bank import bank_vectors
from memorist.recall.stage import Draft, Env, Stage


@dataclass(frozen=True, slots=True)
class Noise(Stage):
    """Drop candidates whose vector has a cosine of at least `similarity` with one in the noise bank.

    The bank holds built-in examples and short texts in which `remember` found nothing; `docs/explanation/upkeep.md`
    says which.
    """

    kind = "noise"
    effect = "removes"
    optional = ("embedder",)
    similarity: float = 0.82

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates with content."""
        if env.embedder is None or not draft.candidates:
            return draft
        bank = bank_vectors(env.embedder, tuple(env.store.noise()))
        vectors = env.view.vectors([one.memory.id for one in draft.candidates])
        noisy = {id for id, row in vectors.items() if float((bank @ row).max()) >= self.similarity}
        draft = replace(draft, candidates=tuple(one for one in draft.candidates if one.memory.id not in noisy))
        return draft.noting(f"{len(noisy)} dropped as noise") if noisy else draft

"""How sure a recall is, and when it is better to say that nothing was found."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.model import Candidate
from memorist.recall.rerank import sigmoid
from memorist.recall.stage import Draft, Env, Stage
from memorist.text.signature import content_stems
from memorist.text.words import words


@dataclass(frozen=True, slots=True)
class Confidence(Stage):
    """confidence = σ(slope · (best cosine − middle)): the chance that what was found answers the question.

    Below `least` the recall abstains, unless some candidate has every telling word of the question. Fitted on half
    answerable questions, half put to the wrong conversation, with the packaged embedder named in `model`; for vectors
    of another there is no confidence and no abstaining. Leaves candidates as they are.
    """

    kind = "confidence"
    model: str = "memorist-embed-1"
    slope: float = 20.5
    middle: float = 0.48
    least: float = 0.025

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with how sure it is."""
        found = draft.found.get("vector")
        if found is None or not found.hits or not (env.view.embedding or "").startswith(f"{self.model}:"):
            return draft
        cosine = found.hits[0].score
        sure = sigmoid(self.slope * (cosine - self.middle))
        draft = replace(draft, confidence=round(sure, 4))
        if sure >= self.least or _told(draft.query.text, draft.candidates):
            return draft
        return replace(draft, abstained=True).noting(
            f"nothing relevant: the nearest memory has a cosine of {cosine:.2f}, "
            f"which leaves a chance of {sure:.0%} that it answers"
        )


def _told(query: str, candidates: tuple[Candidate, ...]) -> bool:
    """Whether a candidate says every telling word of the question, whatever the embedder makes of it."""
    asked = set(content_stems(words(query)))
    return bool(asked) and any(asked <= set(content_stems(words(one.memory.text))) for one in candidates)

"""Summarise what was found, per type of memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recollect.model import Kind, Reasoned, Touched
from recollect.recall.stage import Draft, Env, Stage
from recollect.recall.understand import extractive_summary

TYPES = {
    "episodic": (Kind.EPISODIC, Kind.SUBGOAL),
    "semantic": (Kind.SEMANTIC,),
    "procedural": (Kind.PROCEDURAL,),
}


@dataclass(frozen=True, slots=True)
class Reason(Stage):
    """A summary of the candidates of each type, None where there are none. Extractive: their own sentences."""

    kind = "reason"
    sentences: int = 3

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its summaries, and every node that contributed as touched."""
        summaries = {name: self._summary(draft, kinds) for name, kinds in TYPES.items()}
        touched = tuple(
            Touched(one.memory.id, one.memory.kind, one.score, one.phase, one.hop) for one in draft.candidates
        )
        return replace(draft, reasoned=Reasoned(**summaries), touched=touched).noting("reasoned by rules")

    def _summary(self, draft: Draft, kinds: tuple[Kind, ...]) -> str | None:
        texts = [one.memory.text for one in draft.candidates if one.memory.kind in kinds]
        return extractive_summary(draft.query.text, texts, sentences=self.sentences) if texts else None

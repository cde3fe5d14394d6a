"""Summarise what was found, per type of memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.asking import Source, query
from memorist.asking.together import together
from memorist.model import Candidate, Kind, Reasoned, Touched
from memorist.recall.by import By, Judged
from memorist.recall.stage import Draft, Env
from memorist.recall.understand import extractive_summary

TYPES = {
    "episodic": (Kind.EPISODIC, Kind.SUBGOAL),
    "semantic": (Kind.SEMANTIC,),
    "procedural": (Kind.PROCEDURAL,),
}
Ranked = tuple[int, Candidate]


@dataclass(frozen=True, slots=True)
class Reason(Judged):
    """A summary of the candidates of each type, None where there are none; the types are reasoned about at once.

    A model's summary cites its candidates by their rank, as [3]; by rules it is extractive: their own sentences.
    """

    kind = "reason"
    sentences: int = 3
    by: By = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its summaries, and every node that contributed as touched."""
        types = {name: found for name, kinds in TYPES.items() if (found := _of_kinds(draft, kinds))}
        told = together([lambda name=name: self._summary(name, types[name], draft, env) for name in types])
        summaries = {name: summary for name, (summary, _) in zip(types, told, strict=True)}
        touched = tuple(
            Touched(one.memory.id, one.memory.kind, one.score, one.phase, one.hop) for one in draft.candidates
        )
        reasoned = replace(draft, reasoned=Reasoned(**summaries), touched=touched)
        return _noting(reasoned, {name: who for name, (_, who) in zip(types, told, strict=True)})

    def _summary(self, name: str, found: list[Ranked], draft: Draft, env: Env) -> tuple[str | None, str]:
        asked = draft.query.text
        return self.judged(
            "reason",
            env,
            lambda asker: query.reason(asker, asked, name, [_source(*one) for one in found]),
            lambda: extractive_summary(asked, [one.memory.text for _, one in found], sentences=self.sentences),
        )


def _of_kinds(draft: Draft, kinds: tuple[Kind, ...]) -> list[Ranked]:
    return [(rank, one) for rank, one in enumerate(draft.candidates, 1) if one.memory.kind in kinds]


def _source(rank: int, candidate: Candidate) -> Source:
    memory = candidate.memory
    return Source(rank, memory.text, memory.times.valid_from, memory.origin.speaker)


def _noting(draft: Draft, who: dict[str, str]) -> Draft:
    """Who reasoned; per type where they differ."""
    if len(set(who.values())) <= 1:
        return draft.noting(f"reasoned by {next(iter(who.values()), 'rules')}")
    return replace(draft, notes=(*draft.notes, *(f"{name} reasoned by {one}" for name, one in who.items())))

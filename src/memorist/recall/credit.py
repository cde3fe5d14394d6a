"""Derived facts and notes lead to the texts they rest on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memorist.model import CITES, STATES, Candidate, Kind, Memory
from memorist.recall.stage import Draft, Env, Stage, ranked


@dataclass(frozen=True, slots=True)
class CreditSources(Stage):
    """What was derived gives its place to the words as said, where the filter admits them.

    A fact gives it to the newest memory that states it, a line of a note to all that it cites. Such a memory takes
    the larger of both scores, the other's evidence where it has none of that signal, and a note of what led to it.
    A fact that was told directly stays. Keeps the scale.
    """

    kind = "credit"
    effect = "adds"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with sources in place of what was derived from them."""
        derived = {one.memory.id: one for one in draft.candidates if one.memory.fact or one.memory.kind is Kind.NOTE}
        sources = _sources(derived, draft, env) if derived else {}
        if not sources:
            return draft
        kept = {one.memory.id: one for one in draft.candidates if one.memory.id not in sources}
        for id, memories in sources.items():
            for memory in memories:
                kept[memory.id] = _credited(kept.get(memory.id), memory, derived[id])
        return replace(draft, candidates=ranked(list(kept.values())))


def _sources(derived: Mapping[str, Candidate], draft: Draft, env: Env) -> dict[str, list[Memory]]:
    """What each derived memory rests on, as far as it may be seen."""
    pairs = [
        (link.target, link.source) if link.relation == STATES else (link.source, link.target)
        for link in env.store.links(list(derived), STATES, CITES)
        if (link.relation == STATES and link.target in derived) or (link.relation == CITES and link.source in derived)
    ]
    memories = env.store.get(list(dict.fromkeys(source for _, source in pairs)))
    found = defaultdict[str, list[Memory]](list)
    for id, source in pairs:
        if source in memories and draft.request.where.admits(memories[source]):
            found[id].append(memories[source])
    return {id: some if derived[id].memory.kind is Kind.NOTE else _newest(some) for id, some in found.items()}


def _newest(memories: Sequence[Memory]) -> list[Memory]:
    return [max(memories, key=lambda one: (one.times.valid_from, one.id))]


def _credited(known: Candidate | None, source: Memory, derived: Candidate) -> Candidate:
    fact = derived.memory.fact
    note = () if fact is None else (f"states: {derived.memory.text}",)
    if known is None:
        return replace(derived, memory=source, notes=(*derived.notes, *note))
    return replace(
        known,
        score=max(known.score, derived.score),
        evidence={**derived.evidence, **known.evidence},
        notes=(*known.notes, *note) if derived.score > known.score else known.notes,
    )

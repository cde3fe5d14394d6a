"""Derived facts lead to the texts that state them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from recollect.model import STATES, Candidate, Memory
from recollect.recall.stage import Draft, Env, Stage, ranked


@dataclass(frozen=True, slots=True)
class CreditSources(Stage):
    """A fact gives its place to the newest memory that states it, where the filter admits one: the words as said.

    That memory takes the fact's score if it is the larger one, the fact's evidence where it has none of that signal,
    and a note of what it states. A fact that was told directly stays. Keeps the scale.
    """

    kind = "credit"
    effect = "adds"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with sources in place of the facts derived from them."""
        facts = {one.memory.id: one for one in draft.candidates if one.memory.fact is not None}
        sources = self._sources(facts, draft, env)
        if not sources:
            return draft
        kept = {one.memory.id: one for one in draft.candidates if one.memory.id not in sources}
        for id, source in sources.items():
            kept[source.id] = _credited(kept.get(source.id), source, facts[id])
        return replace(draft, candidates=ranked(list(kept.values())))

    def _sources(self, facts: Mapping[str, Candidate], draft: Draft, env: Env) -> dict[str, Memory]:
        links = [link for link in env.store.links(list(facts)) if link.relation == STATES and link.target in facts]
        memories = env.store.get(list(dict.fromkeys(link.source for link in links)))
        admitted = [one for one in links if one.source in memories and draft.request.where.admits(memories[one.source])]
        stating: dict[str, list[Memory]] = {}
        for link in admitted:
            stating.setdefault(link.target, []).append(memories[link.source])
        return {id: _newest(found) for id, found in stating.items()}


def _newest(memories: Iterable[Memory]) -> Memory:
    return max(memories, key=lambda one: (one.times.valid_from, one.id))


def _credited(known: Candidate | None, source: Memory, fact: Candidate) -> Candidate:
    note = f"states: {fact.memory.text}"
    if known is None:
        return replace(fact, memory=source, notes=(*fact.notes, note))
    return replace(
        known,
        score=max(known.score, fact.score),
        evidence={**fact.evidence, **known.evidence},
        notes=(*known.notes, note) if fact.score > known.score else known.notes,
    )

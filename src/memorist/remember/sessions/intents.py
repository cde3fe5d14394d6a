"""Intents that mean the same become one: compared with those known, and with each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memorist.model import Filter, Kind, Memory
from memorist.ports import Store
from memorist.remember.sessions.likeness import shared, telling

if TYPE_CHECKING:
    from memorist.ports import Vector

SAME = 0.95
"""From this cosine on, an intent is dropped for the known one."""
MERGED = 0.80
"""From this cosine on, it becomes another wording of the known one."""
NEAREST = 10


@dataclass(slots=True)
class Resolved:
    """Which intent stands for each: `chosen` by the id given, new ones to write, and new wordings of old ones."""

    chosen: dict[str, str] = field(default_factory=dict[str, str])
    new: dict[str, Memory] = field(default_factory=dict[str, Memory])
    wordings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def take(self, intent: Memory, other: str, likeness: float) -> None:
        """Let another intent stand for this one, or keep it, by how alike they are."""
        if likeness < MERGED:
            self.chosen[intent.id] = intent.id
            self.new[intent.id] = intent
            return
        self.chosen[intent.id] = other
        if likeness < SAME:
            self.wordings.setdefault(other, []).append(intent.text)


def resolve(intents: Iterable[Memory], vectors: Mapping[str, Vector], store: Store) -> Resolved:
    """≥ 0.95 cosine drops, ≥ 0.80 merges; without vectors the words they share decide alike."""
    resolved = Resolved()
    for intent in {one.id: one for one in intents}.values():
        if store.get([intent.id]):
            resolved.chosen[intent.id] = intent.id
            continue
        near = {**_known(intent, vectors, store), **_fresh(intent, vectors, resolved.new.values())}
        other = max(near, key=lambda id: (near[id], id), default="")
        resolved.take(intent, other, near.get(other, 0.0))
    return resolved


def _known(intent: Memory, vectors: Mapping[str, Vector], store: Store) -> dict[str, float]:
    where = Filter(kinds=(Kind.INTENT,), scopes=(intent.scope,))
    row = vectors.get(intent.id)
    if row is not None:
        return {hit.id: hit.score for hit in store.view().search_vector(row[None, :], where, 1)}
    hits = store.view().search_text(intent.text, where, NEAREST)
    known = store.get([hit.id for hit in hits])
    return {id: shared(telling(one.text), telling(intent.text)) for id, one in known.items()}


def _fresh(intent: Memory, vectors: Mapping[str, Vector], others: Iterable[Memory]) -> dict[str, float]:
    row = vectors.get(intent.id)
    if row is not None:
        return {one.id: float(row @ vectors[one.id]) for one in others}
    return {one.id: shared(telling(one.text), telling(intent.text)) for one in others}

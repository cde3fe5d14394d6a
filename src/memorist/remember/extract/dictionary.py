"""The store's own dictionary of names: which known entity a written name means, if exactly one can be meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from memorist.model import Entity
from memorist.remember.extract.gazetteer import FIRST_NAMES, PLACES
from memorist.text.fold import beginning, fold

NEAR = 0.9
"""How alike a name and its misspelling are at least, by `similarity`; see docs/explanation/extraction.md."""
SHORTEST = 5
"""Shorter names are not corrected: Anna and Anne, Joan and Jean are two people."""


class Dictionary:
    """Known entities by name and alias; a name is looked up exactly, then as a first name, then as a misspelling."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._exact: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._first: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._begins: dict[str, list[tuple[str, Entity]]] = defaultdict(list)
        for entity in entities:
            for name in dict.fromkeys(_key(one) for one in (entity.name, *entity.aliases)):
                if name:
                    self._add(name, entity)

    def _add(self, name: str, entity: Entity) -> None:
        self._exact[name][entity.id] = entity
        self._begins[beginning(name)].append((name, entity))
        first, _, rest = name.partition(" ")
        if rest and _is_person(entity, first):
            self._first[first][entity.id] = entity

    def __call__(self, names: Sequence[str]) -> list[Entity]:
        """The entities that some names mean; in this form it stands for a store."""
        found = (self.find(name) for name in names)
        return list({entity.id: entity for entity in found if entity}.values())

    def find(self, name: str, *, misspelt: bool = True) -> Entity | None:
        """The one entity that a name means; None for a new name, and where two could be meant."""
        key = _key(name)
        for known in (self._exact.get(key), self._first.get(key)):
            if known:
                return next(iter(known.values())) if len(known) == 1 else None
        return self._misspelt(key) if misspelt else None

    def _misspelt(self, key: str) -> Entity | None:
        """The nearest name with the same first letters, if one is nearest; a common name is never a misspelling."""
        if len(key) < SHORTEST or key in FIRST_NAMES or key in PLACES:
            return None
        scored: dict[str, tuple[float, Entity]] = {}
        for name, entity in self._begins.get(beginning(key), ()):
            if not _comparable(key, name):
                continue
            if (score := similarity(key, name)) >= NEAR:
                scored[entity.id] = max(scored.get(entity.id, (0.0, entity)), (score, entity), key=lambda pair: pair[0])
        ranked = sorted(scored.values(), key=lambda pair: -pair[0])
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]


def _comparable(written: str, known: str) -> bool:
    """Whether one name can be the other misspelt: of like length, and not Anna Berg for Anne Berg."""
    first = written.partition(" ")[0]
    alike = len(known) >= SHORTEST and abs(len(written) - len(known)) <= 2
    return alike and (first not in FIRST_NAMES or first == known.partition(" ")[0])


def similarity(one: str, other: str) -> float:
    """Twice the letters in common, in order, over all letters: 2M / T (Ratcliff and Metzener 1988)."""
    if any(sign.isdigit() for sign in one + other):
        return float(one == other)  # GPT-3 and GPT-4, flat 12 and flat 13 are two things
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _is_person(entity: Entity, first: str) -> bool:
    return entity.kind == "person" or (entity.kind is None and first in FIRST_NAMES)


def _key(name: str) -> str:
    return " ".join(fold(name).split())

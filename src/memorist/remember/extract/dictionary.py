"""A dictionary of known entities: which of them a name in a text refers to, by rules and without a store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice

from memorist.model import Entity
from memorist.remember.extract.lexicon import FIRST_NAMES, PLACES
from memorist.text.words import fold, name_prefix

NEAR = 0.9
"""The lowest `similarity` of a name and its misspelling; see docs/explanation/extraction.md."""
SHORTEST, LONGEST = 5, 64
"""Shorter names are not corrected: Anna and Anne, Joan and Jean are different people. Longer ones are no names."""
MOST_ALIKE, MOST_COMPARED = 500, 20
"""How many names with the same first letters are looked at, and compared letter by letter, for one that is unknown."""


class Dictionary:
    """Known entities by name and alias: an exact match comes first, then a first name, then a misspelling."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._exact: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._first: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._begins: dict[str, list[tuple[str, Entity]]] = defaultdict(list)
        self.add(entities)

    def add(self, entities: Iterable[Entity]) -> None:
        """Know further entities."""
        for entity in entities:
            for name in dict.fromkeys(_key(alias) for alias in (entity.name, *entity.aliases)):
                if name:
                    self._add(name, entity)

    def _add(self, name: str, entity: Entity) -> None:
        self._exact[name][entity.id] = entity
        self._begins[name_prefix(name)].append((name, entity))
        first, _, rest = name.partition(" ")
        if rest and _is_person(entity, first):
            self._first[first][entity.id] = entity

    def __call__(self, names: Sequence[str]) -> list[Entity]:
        """The entities that some names refer to; this makes a dictionary usable in place of a store."""
        found = (self.find(name) for name in names)
        return list({entity.id: entity for entity in found if entity}.values())

    def find(self, name: str, *, misspelt: bool = True) -> Entity | None:
        """The entity that a name refers to; None if the name is new or ambiguous."""
        key = _key(name)
        for known in (self._exact.get(key), self._first.get(key)):
            if known:
                return next(iter(known.values())) if len(known) == 1 else None
        return self._misspelt(key) if misspelt else None

    def _misspelt(self, key: str) -> Entity | None:
        """The most similar name with the same first letters, unless two tie; a common name is never a misspelling."""
        if not SHORTEST <= len(key) <= LONGEST or key in FIRST_NAMES or key in PLACES:
            return None
        scored: dict[str, tuple[float, Entity]] = {}
        begun = self._begins.get(name_prefix(key), ())
        alike = ((name, entity) for name, entity in islice(begun, MOST_ALIKE) if _comparable(key, name))
        for name, entity in islice(alike, MOST_COMPARED):
            if (score := similarity(key, name)) >= NEAR:
                scored[entity.id] = max(scored.get(entity.id, (0.0, entity)), (score, entity), key=lambda pair: pair[0])
        ranked = sorted(scored.values(), key=lambda pair: -pair[0])
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]


def _comparable(written: str, known: str) -> bool:
    """Whether one name can be a misspelling of the other: similar letters, and not Anna Berg for Anne Berg."""
    if len(known) < SHORTEST or abs(len(written) - len(known)) > 2:
        return False
    first = written.partition(" ")[0]
    if first in FIRST_NAMES and first != known.partition(" ")[0]:
        return False
    return 2 * (Counter(written) & Counter(known)).total() >= NEAR * (len(written) + len(known))


def similarity(one: str, other: str) -> float:
    """The Ratcliff–Metzener similarity 2M / T: M letters match in order, T is the total number of letters.

    Names that are longer than LONGEST are similar only if they are the same.
    """
    if max(len(one), len(other)) > LONGEST or any(sign.isdigit() for sign in one + other):
        return float(one == other)  # GPT-3 and GPT-4, flat 12 and flat 13 are different
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _is_person(entity: Entity, first: str) -> bool:
    return entity.kind == "person" or (entity.kind is None and first in FIRST_NAMES)


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    return " ".join(fold(name).split())

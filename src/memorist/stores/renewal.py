"""Embedding generations that a store in memory prepares beside the one it searches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memorist.errors import NotFound
from memorist.model import Memory
from memorist.ports import Vectors
from memorist.stores.common import Adopted, check_adoption, check_views

Made = dict[int, tuple[str, Vectors]]
"""Vectors by a memory's place in the order of writing, with the text they were made of."""


@dataclass(slots=True)
class _Prepared:
    adopted: Adopted
    made: Made = field(default_factory=Made)


class Renewal:
    """Generations in the making, by name."""

    def __init__(self) -> None:
        self._prepared: dict[str, _Prepared] = {}

    def prepare(self, name: str, dim: int, searched: Adopted | None) -> None:
        """Make room for a generation; one there already stays as far as it is."""
        beside = self._prepared.get(name)
        known = beside.adopted if beside else searched if searched and searched[0] == name else None
        check_adoption(known, name, dim)
        self._prepared.setdefault(name, _Prepared((name, dim)))

    def covers(self, name: str, place: int, memory: Memory) -> bool:
        """Whether there are vectors of what a memory says now."""
        made = self._named(name).made
        return place in made and made[place][0] == memory.text

    def add(self, name: str, place: int, memory: Memory, views: Vectors) -> None:
        """Take a memory's vectors."""
        prepared = self._named(name)
        check_views(memory.id, views, prepared.adopted)
        prepared.made[place] = memory.text, {view: np.array(vector) for view, vector in views.items()}

    def drop(self, place: int) -> None:
        """Forget the vectors of a memory that was erased."""
        for prepared in self._prepared.values():
            prepared.made.pop(place, None)

    def taken(self, name: str) -> tuple[Adopted, dict[int, Vectors]]:
        """A generation and its vectors by place."""
        prepared = self._named(name)
        return prepared.adopted, {place: views for place, (_, views) in prepared.made.items()}

    def _named(self, name: str) -> _Prepared:
        if name not in self._prepared:
            raise NotFound(f"there is no embedding generation {name!r}", remedy="Call `prepare` first.")
        return self._prepared[name]

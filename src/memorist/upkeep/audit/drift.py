"""Drift between what is stored and what is searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memorist.model import Kind, Memory
from memorist.ports import Store
from memorist.upkeep.audit.fixes import Rebuild
from memorist.upkeep.audit.model import Finding

if TYPE_CHECKING:
    from memorist.ports import Vectors

_WORDS = "words of their text"
"""What a store says of memories whose words do not match."""
CHUNK = 500


class Drift:
    """Finds memories without vectors, or with vectors that point nowhere, and whatever the store itself finds."""

    kinds = ("drift",)

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids: list[str] = []
        self._lacking: list[str] = []
        self._unsound: list[str] = []

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """Nothing yet."""
        self._ids += [memory.id for memory in page]
        if self._store.embedding is not None:
            ids = [memory.id for memory in page if memory.kind is not Kind.SOURCE]
            embedded = self._store.embedded(ids)
            self._lacking += [id for id in ids if id not in embedded]
            self._unsound += [id for id, views in self._store.vectors(ids).items() if not _sound(views)]
        return ()

    def close(self) -> Iterator[Finding]:
        """What is not searched as it is stored."""
        yield from _told(self._lacking, "have no vectors of the store's embedding")
        yield from _told(self._unsound, "have vectors without a direction")
        integrity: Callable[[], list[str]] = getattr(self._store, "integrity", list[str])
        for problem in integrity():
            ids = tuple(self._ids) if _WORDS in problem else ()
            yield Finding("drift", (), problem, "high", Rebuild(ids, vectors=False) if ids else None)


def _told(ids: Sequence[str], what: str) -> Iterator[Finding]:
    for start in range(0, len(ids), CHUNK):
        some = tuple(ids[start : start + CHUNK])
        yield Finding("drift", some, f"{len(some)} memories {what}", "high", Rebuild(some, vectors=True))


def _sound(views: Vectors) -> bool:
    import numpy as np

    return all(bool(np.isfinite(vector).all()) and bool(vector.any()) for vector in views.values())

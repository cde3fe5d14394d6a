"""What every store does alike: cursors, versions, links, adopting an embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch, InvalidInput, NotFound
from memorist.model import DENIES, STATES, Entity, Link, Memory
from memorist.ports import Batch, Embedded, Vectors
from memorist.stores.index import entry_of
from memorist.stores.rows import Row, Stored, columns_of

Key = tuple[str, str, str]
"""Source, relation, target: a link is one of its kind between its ends."""


class Links(MutableMapping[Key, Link]):
    """A mapping by key that also knows which links start or end somewhere."""

    def __init__(self) -> None:
        self._links: dict[Key, Link] = {}
        self._ends: dict[str, set[Key]] = {}

    def at(self, ids: Iterable[str]) -> list[Key]:
        """Keys of the links that start or end at any of these ids, in a fixed order."""
        return sorted({key for id in ids for key in self._ends.get(id, ())})

    def __getitem__(self, key: Key) -> Link:
        return self._links[key]

    def __setitem__(self, key: Key, link: Link) -> None:
        self._links[key] = link
        for end in (key[0], key[2]):
            self._ends.setdefault(end, set()).add(key)

    def __delitem__(self, key: Key) -> None:
        del self._links[key]
        for end in {key[0], key[2]}:
            self._ends[end].discard(key)
            if not self._ends[end]:
                del self._ends[end]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)


T = TypeVar("T")
Pack = Callable[[NDArray[np.float16]], T]
"""A vector as a database takes it."""


class Prepared(NamedTuple, Generic[T]):
    """A memory ready to be written: its columns and its vectors."""

    memory: Memory
    columns: Row
    vectors: Mapping[str, T]


class Ready(NamedTuple, Generic[T]):
    """A batch with everything computed that needs no lock."""

    batch: Batch
    put: list[Prepared[T]]
    revised: list[Prepared[T]]


def prepared(batch: Batch, pack: Pack[T]) -> Ready[T]:
    """A batch ready to be written."""
    put = [prepared_memory(memory, batch.vectors.get(memory.id, {}), pack) for memory in batch.memories]
    revised = [prepared_memory(memory, batch.vectors.get(memory.id, {}), pack) for memory in batch.revised]
    return Ready(batch, put, revised)


def prepared_memory(memory: Memory, vectors: Mapping[str, NDArray[Any]], pack: Pack[T]) -> Prepared[T]:
    """A memory ready to be written."""
    entry = entry_of(memory, vectors)
    return Prepared(memory, columns_of(memory, entry), {view: pack(one) for view, one in entry.vectors.items()})


RELATING = ("subject", "object", "mentions")
"""Relations of links from a memory to the entities it speaks of."""
OF_THE_TEXT = (*RELATING, STATES, DENIES)
"""Relations of links that follow from a memory's text, and stay with that version of it."""
Adopted = tuple[str, int]
"""The embedding generation of a store's vectors, and their dimension."""


def check_adoption(known: Adopted | None, embedding: str, dim: int) -> None:
    """Refuse an embedding generation other than the one the store already has."""
    if dim < 1:
        raise InvalidInput(f"dimension {dim} is out of range", remedy="Give the length of the vectors.")
    if known is not None and known != (embedding, dim):
        raise EmbeddingMismatch(
            f"the store's vectors come from {known[0]} ({known[1]} dimensions), not {embedding} ({dim})",
            remedy="Open it with that embedder, or run `memorist reembed` to change to the new one.",
        )


def check_vectors(batch: Batch, adopted: Adopted | None) -> None:
    """Refuse vectors of another dimension than the adopted one, or of memories outside the batch."""
    ids = {memory.id for memory in (*batch.memories, *batch.revised)}
    for id, views in batch.vectors.items():
        if id not in ids:
            raise InvalidInput(
                f"vectors were given for {id}, which is not in the batch",
                remedy="Put its memory into the same batch; an unchanged one costs nothing.",
            )
        check_views(id, views, adopted)


def check_views(id: str, views: Vectors, adopted: Adopted | None) -> None:
    """Refuse a memory's vectors if they are of another generation or dimension than the adopted one."""
    if adopted is not None and isinstance(views, Embedded) and views.generation != adopted[0]:
        raise EmbeddingMismatch(
            f"the vectors of {id} were made by {views.generation}, and the store's are now those of {adopted[0]}",
            remedy="Nothing of this was written; write it again with that embedder.",
        )
    for view, vector in views.items():
        _check_shape(id, view, vector.shape, adopted)


def _check_shape(id: str, view: str, shape: tuple[int, ...], adopted: Adopted | None) -> None:
    if adopted is None:
        raise EmbeddingMismatch(
            "vectors were given before an embedding was adopted",
            remedy="Call `adopt` with the embedder's generation and dimension first.",
        )
    if shape != (adopted[1],):
        raise EmbeddingMismatch(
            f"the {view} vector of {id} has shape {shape}, and the store's have ({adopted[1]},)",
            remedy=f"Embed it with {adopted[0]}.",
        )


def next_version(known: Memory, given: Memory) -> Memory:
    """The memory that follows a known one of the same id and another text; its usage goes on."""
    return replace(given, version=known.version + 1, usage=known.usage)


def merged_entity(known: Entity, given: Entity) -> Entity:
    """An entity put again: the new name and kind, and every alias of both, the old name among them."""
    names = (*known.aliases, known.name, *given.aliases)
    aliases = tuple(dict.fromkeys(name for name in names if name != given.name))
    return Entity(given.id, given.name, given.kind if given.kind is not None else known.kind, aliases)


def cursor_after(position: int) -> str:
    """The cursor that continues a listing after this position."""
    return f"after:{position}"


def position_of(cursor: str | None) -> int:
    """The position a cursor continues after; 0 is the start."""
    if cursor is None:
        return 0
    name, _, number = cursor.partition(":")
    if name != "after" or not number.isascii() or not number.isdigit() or len(number) > 18:
        raise InvalidInput(
            f"{cursor[:80]!r} is not a cursor", remedy="Pass back the `cursor` of the last page, unchanged."
        )
    return int(number)


def check_limit(limit: int) -> None:
    """Refuse a negative number of results."""
    if limit < 0:
        raise InvalidInput(f"limit {limit} is out of range", remedy="Ask for 0 or more.")


class Archived(NamedTuple):
    """A row that becomes history where it stands, and the id it had."""

    row: int
    past: Memory
    id: str


class New(NamedTuple, Generic[T]):
    """A new row; `first` where no version came before it."""

    row: int
    memory: Memory
    item: Prepared[T]
    first: bool


class Putting(NamedTuple, Generic[T]):
    """What a put does, in order: archive, then insert; `answers` are the memories as they are then."""

    archived: list[Archived]
    new: list[New[T]]
    answers: list[Memory]
    rows: dict[str, int]
    """The row of each memory that was put."""


def putting(items: Sequence[Prepared[T]], known: Mapping[str, Stored], last: int) -> Putting[T]:
    """Insert what is new after the last row, archive what has another text, keep what is the same.

    A text that is replaced in the same batch is archived as soon as it is inserted.
    """
    current = dict(known)
    done = Putting[T]([], [], [], {})
    for item in items:
        old = current.get(item.memory.id)
        if old is None or old.memory.text != item.memory.text:
            memory = item.memory if old is None else next_version(old.memory, item.memory)
            if old is not None:
                done.archived.append(Archived(old.row, old.memory.archived(memory), old.memory.id))
            last += 1
            current[memory.id] = Stored(last, memory)
            done.new.append(New(last, memory, item, first=old is None))
        stored = current[item.memory.id]
        done.rows[stored.memory.id] = stored.row
        done.answers.append(stored.memory)
    return done


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

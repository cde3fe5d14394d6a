"""The rules that every store follows: which vectors it takes, how versions and entities merge, what a cursor is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from memorist.errors import EmbeddingMismatch, InvalidInput, NotFound, Remedy, VerbCall
from memorist.model import DENIES, STATES, Entity, Memory
from memorist.ports import Batch, Embedded, Vectors

T = TypeVar("T")
ENTITY_RELATIONS = ("subject", "object", "mentions")
"""Relations of the links from a memory to the entities that it mentions."""
TEXT_RELATIONS = (*ENTITY_RELATIONS, STATES, DENIES)
"""Relations of the links that follow from a memory's text, and stay with that version of it."""
Adopted = tuple[str, int]
"""An embedding generation and the dimension of its vectors."""


def check_adoption(known: Adopted | None, embedding: str, dim: int) -> None:
    """Refuse an embedding generation other than the known one."""
    if dim < 1:
        raise InvalidInput(f"dimension {dim} is out of range", remedy="Give the length of the vectors.")
    if known is not None and known != (embedding, dim):
        raise EmbeddingMismatch(
            f"the store's vectors come from {known[0]} ({known[1]} dimensions), not {embedding} ({dim})",
            remedy=Remedy("Open it with that embedder, or run ", VerbCall("reembed"), " to change to the new one."),
        )


def check_vectors(batch: Batch, adopted: Adopted | None) -> None:
    """Refuse vectors of another generation or dimension than the adopted one, or of memories outside the batch."""
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
            f"the vectors of {id} were made by {views.generation}, but the store now uses {adopted[0]}",
            remedy="Nothing was written; write it again with that embedder.",
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
            f"the {view} vector of {id} has shape {shape}, but the store's vectors have shape ({adopted[1]},)",
            remedy=f"Embed it with {adopted[0]}.",
        )


def require_prepared(found: T | None, name: str) -> T:
    """A generation that was prepared; refuses one that was not."""
    if found is None:
        raise NotFound(f"there is no embedding generation {name!r}", remedy="Call `prepare` first.")
    return found


def next_version(known: Memory, given: Memory) -> Memory:
    """The version that follows a known memory when it gets another text or is edited; the usage is carried over."""
    return replace(given, version=known.version + 1, usage=known.usage)


def merge_entity(known: Entity | None, given: Entity) -> Entity:
    """An entity after it was put again: the new name and kind, and all aliases of both, including the old name."""
    if known is None:
        return given
    names = (*known.aliases, known.name, *given.aliases)
    aliases = tuple(dict.fromkeys(name for name in names if name != given.name))
    return Entity(given.id, given.name, given.kind if given.kind is not None else known.kind, aliases)


def changed_entities(known: Mapping[str, Entity], given: Batch) -> dict[str, Entity]:
    """The entities of a batch merged with the known ones; unchanged ones are left out."""
    merged: dict[str, Entity] = {}
    for entity in given.entities:
        merged[entity.id] = merge_entity(merged.get(entity.id) or known.get(entity.id), entity)
    return {id: entity for id, entity in merged.items() if known.get(id) != entity}


def cursor_after(position: int) -> str:
    """The cursor of the page after this position."""
    return f"after:{position}"


def position_of(cursor: str | None) -> int:
    """The position that a cursor continues after; 0 is the start."""
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

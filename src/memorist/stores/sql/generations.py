"""Embedding generations: one is searched; another one is filled step by step, and then replaces it atomically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from memorist.errors import EmbeddingMismatch
from memorist.model import Memory
from memorist.ports import Vectors
from memorist.stores.rules import check_adoption, require_prepared
from memorist.stores.sql.reads import Generation
from memorist.stores.sql.writes import Write

P = TypeVar("P")


def adopt(write: Write[P], name: str, dim: int) -> None:
    """Add the first generation, unless another process was faster."""
    known = write.reads.generation()
    check_adoption(known and known.adopted, name, dim)
    if known is None:
        _add(write, name, dim, active=True)


def prepare(write: Write[P], name: str, dim: int) -> None:
    """Add a generation next to the searched one; an existing one keeps its vectors."""
    known = write.reads.generation_named(name)
    check_adoption(known and known.adopted, name, dim)
    if known is None:
        _add(write, name, dim, active=False)


def add_vectors(
    write: Write[P],
    name: str,
    memories: Sequence[Memory],
    vectors: Mapping[str, Vectors],
    packed: Mapping[str, Mapping[str, P]],
) -> None:
    """Keep vectors of memories whose text is unchanged; in the searched generation this is a change of content."""
    generation = require_prepared(write.reads.generation_named(name), name)
    known = write.reads.fetch(memory.id for memory in memories)
    unchanged = [memory.id for memory in memories if memory.id in known and known[memory.id].memory.text == memory.text]
    kept = {known[id].row: packed[id] for id in unchanged if packed.get(id)}
    if any(vector.size != generation.dim for id in unchanged for vector in vectors.get(id, {}).values()):
        raise EmbeddingMismatch(
            f"vectors were given that do not have {generation.dim} dimensions",
            remedy=f"Embed the texts with {name}.",
        )
    replaced = [
        {"row": row, "view": view, "generation": generation.id} for row, views in kept.items() for view in views
    ]
    write.db.execute_many(write.sql.drop_vector, replaced)
    write.add_vectors(kept, generation)
    write.insert_new()
    if kept and write.reads.generation() == generation:
        write.stamp_rows(kept)


def switch(write: Write[P], name: str) -> bool:
    """Search this generation from now on and drop the others, unless some memory lacks it."""
    generation = require_prepared(write.reads.generation_named(name), name)
    if write.reads.any_without_vectors(generation):
        return False
    if write.reads.generation() != generation:
        _run(write, write.sql.activate_generation, generation)
        write.invalidate_caches()
    _run(write, write.sql.drop_other_generations, generation)
    return True


def _add(write: Write[P], name: str, dim: int, *, active: bool) -> None:
    values = {"id": write.draw(), "name": name, "dim": dim, "active": active}
    write.db.execute(write.sql.insert_generation, values)


def _run(write: Write[P], statements: Sequence[str], generation: Generation) -> None:
    for statement in statements:
        write.db.execute(statement, {"id": generation.id})

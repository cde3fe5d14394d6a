"""A second embedding generation beside the one that is searched: filled in steps, then put in its place at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgvector import HalfVector

from memorist.errors import EmbeddingMismatch, NotFound
from memorist.model import Memory
from memorist.ports import Vectors
from memorist.stores.common import check_adoption
from memorist.stores.index import halved
from memorist.stores.postgres.database import Database
from memorist.stores.postgres.reads import Generation
from memorist.stores.postgres.rows import SELECT
from memorist.stores.postgres.writes import Write
from memorist.stores.rows import read

WITHOUT = (
    "NOT EXISTS (SELECT 1 FROM memorist.vectors AS v "
    "WHERE v.space = m.space AND v.row = m.row AND v.generation = %(generation)s)"
)
ANY_WITHOUT = f"SELECT 1 FROM memorist.memories AS m WHERE m.space = %(space)s AND {WITHOUT} LIMIT 1"  # noqa: S608
Packed = Mapping[str, Mapping[str, HalfVector]]
"""Vectors as the server takes them, by memory and view."""


def add(db: Database, write: Write, name: str, dim: int, *, active: bool) -> None:
    """Make room for a generation."""
    db.execute(
        "INSERT INTO memorist.generations VALUES (%(space)s, %(id)s, %(name)s, %(dim)s, %(active)s)",
        id=write.draw(), name=name, dim=dim, active=active,
    )  # fmt: skip


def prepare(db: Database, write: Write, name: str, dim: int) -> None:
    """Make room for a generation beside others; one that is there stays as far as it is."""
    known = _known(db, name)
    check_adoption(known and (known.name, known.dim), name, dim)
    if known is None:
        add(db, write, name, dim, active=False)


def called(db: Database, name: str) -> Generation:
    """A generation there is room for."""
    known = _known(db, name)
    if known is None:
        raise NotFound(f"there is no embedding generation {name!r}", remedy="Call `prepare` first.")
    return known


def lacking(db: Database, name: str, limit: int) -> list[Memory]:
    """Memories in every form without vectors of a generation."""
    sql = f"{SELECT} AND {WITHOUT} ORDER BY m.row LIMIT %(limit)s"
    return [read(row).memory for row in db.execute(sql, generation=called(db, name).id, limit=limit)]


def packed_all(vectors: Mapping[str, Vectors]) -> Packed:
    """Vectors as they are kept."""
    return {id: {view: HalfVector(halved(one)) for view, one in views.items()} for id, views in vectors.items()}


def add_vectors(db: Database, write: Write, name: str, memories: Sequence[Memory], vectors: Packed) -> None:
    """Keep vectors of memories whose text has not changed; those that are searched count as a change of content."""
    generation = called(db, name)
    known = write.reads.fetch(one.id for one in memories)
    same = [one for one in memories if one.id in known and known[one.id].memory.text == one.text]
    kept = {known[one.id].row: vectors[one.id] for one in same if vectors.get(one.id)}
    if any(data.dimensions() != generation.dim for views in kept.values() for data in views.values()):
        raise EmbeddingMismatch(
            f"vectors were given that are not of {generation.dim} dimensions",
            remedy=f"Embed the texts with {name}.",
        )
    replaced = [
        {"row": row, "view": view, "generation": generation.id} for row, views in kept.items() for view in views
    ]
    db.execute_many(
        "DELETE FROM memorist.vectors WHERE space = %(space)s "
        "AND row = %(row)s AND generation = %(generation)s AND view = %(view)s",
        replaced,
    )
    write.add_vectors(kept, generation)
    if kept and write.reads.generation() == generation:
        write.stamp(kept)


def switch(db: Database, write: Write, name: str) -> bool:
    """Search by this generation from now on and drop the others, unless some memory lacks it."""
    generation = called(db, name)
    if db.first(ANY_WITHOUT, generation=generation.id) is not None:
        return False
    if write.reads.generation() != generation:
        db.execute("UPDATE memorist.generations SET active = false WHERE space = %(space)s AND active")
        db.execute(
            "UPDATE memorist.generations SET active = true WHERE space = %(space)s AND id = %(id)s", id=generation.id
        )
        write.void()
    db.execute("DELETE FROM memorist.vectors WHERE space = %(space)s AND generation <> %(id)s", id=generation.id)
    db.execute("DELETE FROM memorist.generations WHERE space = %(space)s AND id <> %(id)s", id=generation.id)
    return True


def _known(db: Database, name: str) -> Generation | None:
    row = db.first(
        "SELECT id, name, dim FROM memorist.generations WHERE space = %(space)s AND name = %(name)s", name=name
    )
    return None if row is None else Generation(*row)

"""A second embedding generation beside the one that is searched: filled in steps, then put in its place at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memorist.errors import EmbeddingMismatch, NotFound
from memorist.model import Memory
from memorist.ports import Vectors
from memorist.stores.common import check_adoption
from memorist.stores.index import halved
from memorist.stores.rows import read
from memorist.stores.sqlite.connection import Database
from memorist.stores.sqlite.reads import Generation, active_generation, fetch
from memorist.stores.sqlite.rows import SELECT, packed

WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.row = m.row AND v.generation = :generation)"
ANY_WITHOUT = f"SELECT 1 FROM memories AS m WHERE {WITHOUT} LIMIT 1"  # noqa: S608 - a condition of our own
Packed = Mapping[str, Mapping[str, bytes]]
"""Vectors as bytes, by memory and view."""


def prepare(db: Database, name: str, dim: int) -> None:
    """Make room for a generation; one that is there stays as far as it is."""
    known = db.first("SELECT name, dim FROM generations WHERE name = ?", (name,))
    check_adoption(None if known is None else (known[0], known[1]), name, dim)
    if known is None:
        db.execute("INSERT INTO generations (name, dim, active) VALUES (?, ?, 0)", (name, dim))


def named(db: Database, name: str) -> Generation:
    """A generation there is room for."""
    row = db.first("SELECT id, name, dim FROM generations WHERE name = ?", (name,))
    if row is None:
        raise NotFound(f"there is no embedding generation {name!r}", remedy="Call `prepare` first.")
    return Generation(*row)


def lacking(db: Database, name: str, limit: int) -> list[Memory]:
    """Memories in every form without vectors of a generation."""
    values = {"generation": named(db, name).id, "limit": limit}
    rows = db.execute(f"{SELECT} WHERE {WITHOUT} ORDER BY m.row LIMIT :limit", values)
    return [read(row).memory for row in rows]


def packed_all(vectors: Mapping[str, Vectors]) -> Packed:
    """Vectors as they are kept."""
    return {id: {view: packed(halved(vector)) for view, vector in views.items()} for id, views in vectors.items()}


def add_vectors(db: Database, name: str, memories: Sequence[Memory], vectors: Packed) -> None:
    """Keep vectors of memories whose text has not changed; those that are searched count as a change of content."""
    generation = named(db, name)
    known = fetch(db, [one.id for one in memories])
    rows = {known[one.id].row: one.id for one in memories if one.id in known and known[one.id].memory.text == one.text}
    kept = [(row, generation.id, view, data) for row, id in rows.items() for view, data in vectors.get(id, {}).items()]
    if any(len(data) != 2 * generation.dim for *_, data in kept):
        raise EmbeddingMismatch(
            f"vectors were given that are not of {generation.dim} dimensions",
            remedy=f"Embed the texts with {name}.",
        )
    db.execute_many("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", kept)
    active = active_generation(db)
    if kept and active is not None and active.id == generation.id:
        seq = int(db.value("UPDATE space SET seq = seq + 1 RETURNING seq"))
        db.execute_many("UPDATE memories SET seq = ? WHERE row = ?", [(seq, row) for row in rows])


def switch(db: Database, name: str) -> bool:
    """Search by this generation from now on and drop the others, unless some memory lacks it."""
    generation = named(db, name)
    if db.first(ANY_WITHOUT, {"generation": generation.id}) is not None:
        return False
    active = active_generation(db)
    if active is None or active.id != generation.id:
        db.execute("UPDATE generations SET active = 0 WHERE active")
        db.execute("UPDATE generations SET active = 1 WHERE id = ?", (generation.id,))
        db.execute("UPDATE space SET seq = seq + 1, epoch = epoch + 1")
    db.execute("DELETE FROM generations WHERE NOT active")  # with their vectors
    return True

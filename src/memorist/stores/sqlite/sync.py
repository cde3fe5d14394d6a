"""A file as something the index can follow."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import numpy as np

from memorist.stores.common import RELATING
from memorist.stores.following import ENTRY_COLUMNS, Counters, entries
from memorist.stores.index import Entry
from memorist.stores.sqlite.connection import Connections
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.reads import active_generation, counters

CHANGED = f"""
    SELECT m.row, {ENTRY_COLUMNS}, mentions, view, data
    FROM memories AS m LEFT JOIN vectors AS v ON v.row = m.row AND v.generation = :generation
    WHERE m.seq > :seq ORDER BY m.seq, m.row
"""  # noqa: S608 - names of our own

LINKED = """
    SELECT l.source, l.relation, l.target FROM memories AS m JOIN links AS l ON l.source = m.id
    WHERE m.seq > :seq AND l.relation IN (:subject, :object, :mentions) ORDER BY l.source, l.relation, l.target
"""


class FileSource:
    """The file behind a store's connections."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def counters(self) -> Counters:
        """Where the newest commit stands."""
        with self._connections.reading() as db:
            return counters(db)

    @contextmanager
    def snapshot(self) -> Generator[FileSnapshot]:
        """The newest state, held still."""
        with self._connections.snapshot() as db:
            yield FileSnapshot(db)


class FileSnapshot:
    """One state of a file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._generation = active_generation(db)

    def counters(self) -> Counters:
        """Where its content stands."""
        return counters(self._db)

    def embedding(self) -> str | None:
        """The embedding generation that is searched."""
        return self._generation and self._generation.name

    def changed(self, seen: int) -> Iterator[Entry]:
        """What was written after a `seq`."""
        links = self._db.execute(LINKED, {"seq": seen, **{relation: relation for relation in RELATING}})
        rows = self._db.execute(CHANGED, {"generation": self._generation and self._generation.id, "seq": seen})
        return entries(((*row, data and np.frombuffer(data, "<f2")) for *row, data in rows), links)

    def deleted(self, seen: int) -> Iterator[str]:
        """What was erased after a `seq`."""
        return (id for (id,) in self._db.execute("SELECT id FROM deletions WHERE seq > ?", (seen,)))

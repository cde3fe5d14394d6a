"""The pages of published indexes in the tables of a server.

A page is kept under its digest, so publishing sends only what changed. Every transaction takes the lock of the space
for some megabytes, and refuses when something was erased since the index was made: no page outlives what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Protocol

from pgvector import HalfVector

from memorist.stores.index.paging import DIGEST
from memorist.stores.index_file import Counters
from memorist.stores.index_server import IndexManifest
from memorist.stores.rows import Row
from memorist.stores.sql.database import NO_VALUES, Values
from memorist.stores.sql.writes import Write
from memorist_server.postgres.database import PostgresDatabase
from memorist_server.postgres.statements import CLEAR_LISTS

KEPT = 2
"""Published indexes whose pages are kept: one may still be searched while the next is there."""
BATCH = 1 << 22
"""Bytes that are written in a transaction; other writers wait meanwhile."""
TOGETHER, SWEPT = 10_000, 1_000
"""Digests that are asked for in one statement, and pages that are removed in one."""
ATTEMPTS = 3
"""How often missing pages are sent: another process may have removed some in between."""


_LISTS = "FROM memorist.index_lists WHERE space = %(space)s"
_PAGES = "FROM memorist.index_pages WHERE space = %(space)s"
NEWEST = f"SELECT token, epoch, seq, rows, listing, digests {_LISTS} ORDER BY number DESC LIMIT 1"
NUMBERS = f"SELECT number {_LISTS} ORDER BY number"
LISTED = f"SELECT digests {_LISTS}"
ADD_LIST = """
    INSERT INTO memorist.index_lists (space, number, token, epoch, seq, rows, listing, digests)
    VALUES (%(space)s, %(number)s, %(token)s, %(epoch)s, %(seq)s, %(rows)s, %(listing)s, %(digests)s)
"""
DROP_LISTS = f"DELETE {_LISTS} AND number = ANY(%(numbers)s)"
GET = f"SELECT digest, data {_PAGES} AND digest = ANY(%(digests)s)"
KNOWN = f"SELECT digest {_PAGES} AND digest = ANY(%(digests)s)"
EVERY = f"SELECT digest {_PAGES}"
ADD = "COPY memorist.index_pages (space, digest, data) FROM STDIN (FORMAT BINARY)"
ADDED = ("text", "bytea", "bytea")
DROP = f"DELETE {_PAGES} AND digest = ANY(%(digests)s)"


class Ask(Protocol):
    """Runs a statement of a space and returns its rows."""

    def __call__(self, sql: str, values: Values = NO_VALUES) -> list[Row]:
        """Run it."""
        ...


Change = Callable[[Write[HalfVector]], bool]


class ServerPages:
    """The published indexes of a space. `write` makes a change with no other write of the space in between."""

    def __init__(self, ask: Ask, write: Callable[[Change], bool]) -> None:
        self._ask = ask
        self._write = write

    def newest(self) -> IndexManifest | None:
        for token, epoch, seq, rows, listing, digests in self._ask(NEWEST):
            return IndexManifest(token, Counters(epoch, seq), rows, listing, digests)
        return None

    def get(self, digests: Sequence[bytes]) -> list[Row]:
        return self._ask(GET, {"digests": list(digests)})

    def publish(self, manifest: IndexManifest, read: Callable[[int], bytes]) -> bool:
        pages = {digest: page for page, digest in enumerate(_split(manifest.digests))}
        for _ in range(ATTEMPTS):
            missing = [digest for some in _together(pages) for digest in self._unknown(self._ask, some)]
            for batch in _batches((digest, read(pages[digest])) for digest in missing):
                if not self._write(partial(self._add, manifest, batch)):
                    return False
            if self._write(partial(self._list, manifest, list(pages))):
                self.sweep()
                return True
        return False

    def clear(self) -> None:
        self._write(lambda write: bool(write.db.change(CLEAR_LISTS)))
        self.sweep()

    def sweep(self) -> None:
        """Remove the pages that no published index lists, a few at a time, until another one is published."""
        numbers = self._ask(NUMBERS)
        listed = {digest for (digests,) in self._ask(LISTED) for digest in _split(digests)}
        stale = (digest for (digest,) in self._ask(EVERY) if digest not in listed)
        for some in _together(stale, SWEPT):
            if not self._write(lambda write, some=some: self._drop(write, some, numbers)):
                return

    def _add(self, manifest: IndexManifest, batch: Sequence[tuple[bytes, bytes]], write: Write[HalfVector]) -> bool:
        """Keep pages, unless something was erased since their index was made."""
        if not _is_of_these_rows(manifest, write):
            return False
        unknown = set(self._unknown(write.db.execute, [digest for digest, _ in batch]))
        write.db.execute("SET LOCAL synchronous_commit = off")  # the list, which is written last, waits for all
        assert isinstance(write.db, PostgresDatabase)
        write.db.copy(ADD, ADDED, ({"digest": digest, "data": data} for digest, data in batch if digest in unknown))
        return True

    def _list(self, manifest: IndexManifest, digests: Sequence[bytes], write: Write[HalfVector]) -> bool:
        """List an index of which every page is there; the oldest is listed no more."""
        if not _is_of_these_rows(manifest, write):
            return False
        if any(self._unknown(write.db.execute, some) for some in _together(digests)):
            return False
        numbers = [number for (number,) in write.db.execute(NUMBERS)]
        write.db.change(DROP_LISTS, {"numbers": numbers[: -(KEPT - 1)]})
        epoch, seq = manifest.at
        values = manifest._asdict() | {"number": numbers[-1] + 1 if numbers else 0, "epoch": epoch, "seq": seq}
        write.db.change(ADD_LIST, values)
        return True

    def _drop(self, write: Write[HalfVector], digests: Sequence[bytes], numbers: list[Row]) -> bool:
        """Remove pages, unless the published indexes changed."""
        if list(write.db.execute(NUMBERS)) != numbers:
            return False
        write.db.change(DROP, {"digests": list(digests)})
        return True

    def _unknown(self, ask: Callable[[str, Values], Iterable[Row]], digests: Sequence[bytes]) -> list[bytes]:
        known = {digest for (digest,) in ask(KNOWN, {"digests": list(digests)})}
        return [digest for digest in digests if digest not in known]


def _is_of_these_rows(manifest: IndexManifest, write: Write[HalfVector]) -> bool:
    """Whether the database lists the file: it was made from these rows, and nothing was erased since."""
    since, tokens = write.reads.index_files()
    return manifest.at.seq >= since and manifest.token in tokens


def _split(digests: bytes) -> Iterator[bytes]:
    return (digests[start : start + DIGEST] for start in range(0, len(digests), DIGEST))


def _together(digests: Iterable[bytes], count: int = TOGETHER) -> Iterator[list[bytes]]:
    each = iter(digests)
    while some := list(islice(each, count)):
        yield some


def _batches(pages: Iterable[tuple[bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes]]]:
    """Pages in batches of about `BATCH` bytes."""
    batch, size = list[tuple[bytes, bytes]](), 0
    for digest, data in pages:
        batch.append((digest, data))
        size += len(data)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch

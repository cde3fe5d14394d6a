"""Finding remnants of erased rows in an SQLite file.

With `secure_delete`, SQLite overwrites an erased row in place. But a page whose rows were moved to another page may
keep copies of them in the gap between its list of rows and its first row. Nothing reads that gap, and nothing clears
it until the page is filled. See "B-tree Pages" in the SQLite file format.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from memorist.stores.sqlite.connection import SqliteDatabase
from memorist.text.patterns import lazy

INTERIOR, LEAVES = (2, 5), (10, 13)
"""The first byte of a page with rows or keys; in other pages it is zero while a file is smaller than 64 GB."""
FILE_HEADER = 100
SHORTEST_TRACE, LONGEST_TRACE = 5, 8
"""Words with fewer bytes are too common; longer words are cut into pieces of the longest length."""
VECTOR_TRACE = 16
MOST_TRACES = 100_000
"""With more traces than this, rewriting the file is faster than searching it."""
_WORDS = lazy(r"[^\s\"',:;.!?()\[\]{}\\/\x00-\x1f]+", re.ASCII)
TEXTS_OF = """
    SELECT text, original, keywords, key, object, metadata, words, original_words FROM memories WHERE id = :id
    UNION ALL SELECT data, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM vectors
        WHERE row = (SELECT row FROM memories WHERE id = :id)
    UNION ALL SELECT data, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM journal
        WHERE row IN (SELECT entry FROM journal_subjects WHERE subject = :id)
    UNION ALL SELECT name, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM entities WHERE id = :id
    UNION ALL SELECT alias, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM aliases WHERE entity = :id
"""


def traces_of(db: SqliteDatabase, ids: Iterable[str]) -> set[bytes]:
    """Byte strings that identify memories and entities: pieces of their words, vectors and journal entries."""
    rows = (row for id in ids for row in db.execute(TEXTS_OF, {"id": id}))
    return {trace for row in rows for value in row if value is not None for trace in traces(value)}


def traces(value: str | bytes) -> Iterator[bytes]:
    """The words of a text, long ones cut into pieces; a vector in pieces of 16 bytes."""
    if isinstance(value, bytes):
        yield from _cut(value, VECTOR_TRACE)
    else:
        for word in _WORDS.findall(value):
            encoded = word.encode("utf-8", "surrogatepass")
            yield from (piece for piece in _cut(encoded, LONGEST_TRACE) if len(piece) >= SHORTEST_TRACE)


def _cut(value: bytes, size: int) -> Iterator[bytes]:
    return (value[start : start + size] for start in range(0, len(value), size))


def any_left(path: Path, traces: Collection[bytes]) -> bool:
    """Whether the gaps between rows hold any of these traces; True if there are too many traces to check."""
    if len(traces) > MOST_TRACES:
        return True
    unused = b"\n".join(gaps(path)) if traces else b""
    return any(trace in unused for trace in traces)


def gaps(path: Path) -> Iterator[bytes]:
    """The bytes in the gap of each page, unless it is empty; the log must be empty."""
    with path.open("rb") as file:
        size = _page_size(file.read(FILE_HEADER))
        file.seek(0)
        offset = FILE_HEADER
        while page := file.read(size):
            gap = _gap(page, offset)
            if gap:
                yield gap
            offset = 0


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size


def _gap(page: bytes, offset: int) -> bytes:
    kind = page[offset]
    if kind not in (*INTERIOR, *LEAVES):
        return b""
    rows = int.from_bytes(page[offset + 3 : offset + 5], "big")
    first = int.from_bytes(page[offset + 5 : offset + 7], "big") or 65536
    return page[offset + (12 if kind in INTERIOR else 8) + 2 * rows : first].strip(b"\0")

"""What SQLite leaves behind of a row that was erased, and how to see it.

With `secure_delete` a row is overwritten where it stood. But a page whose rows were moved to another page may keep
copies of them in the space between its list of rows and its first row: nothing reads it, and nothing clears it until
the page is filled. See "B-tree Pages" in the SQLite file format.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from memorist.stores.sqlite.connection import Database, Value
from memorist.text.patterns import lazy

INTERIOR, LEAVES = (2, 5), (10, 13)
"""The first byte of a page that holds rows or keys; those of any other page are zero while a file is below 64 GB."""
FILE_HEADER = 100
SHORTEST, LONGEST = 5, 8
"""A word of fewer bytes tells nothing; of a longer one each piece of so many bytes is looked for."""
VECTOR_PIECE = 16
MOST = 100_000
"""Pieces that are looked for; above that, writing the file anew is quicker."""
_WORDS = lazy(rb"[^\s\"',:;.!?()\[\]{}\\/\x00-\x1f]+")
READ = """
    SELECT text, original, keywords, key, object, metadata, words, original_words FROM memories WHERE id = :id
    UNION ALL SELECT data, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM vectors
        WHERE row = (SELECT row FROM memories WHERE id = :id)
    UNION ALL SELECT data, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM journal
        WHERE row IN (SELECT entry FROM journal_subjects WHERE subject = :id)
    UNION ALL SELECT name, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM entities WHERE id = :id
    UNION ALL SELECT alias, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM aliases WHERE entity = :id
"""


def told(db: Database, ids: Iterable[str]) -> set[bytes]:
    """Pieces by which memories and entities would be known again: of their words, their vectors, their journal."""
    rows = (row for id in ids for row in db.execute(READ, {"id": id}))
    return {piece for row in rows for value in row if value is not None for piece in pieces(value)}


def pieces(value: Value) -> Iterator[bytes]:
    """A text by its words, long ones cut; a vector by its runs of 16 bytes."""
    if isinstance(value, bytes):
        yield from _cut(value, VECTOR_PIECE)
    elif isinstance(value, str):
        for word in _WORDS.findall(value.encode("utf-8", "surrogatepass")):
            yield from (piece for piece in _cut(word, LONGEST) if len(piece) >= SHORTEST)


def _cut(value: bytes, size: int) -> Iterator[bytes]:
    return (value[start : start + size] for start in range(0, len(value), size))


def left(path: Path, told: Collection[bytes]) -> bool:
    """Whether the space between rows still holds any of these pieces, or there are too many to tell."""
    if len(told) > MOST:
        return True
    unused = b"\n".join(gaps(path)) if told else b""
    return any(piece in unused for piece in told)


def gaps(path: Path) -> Iterator[bytes]:
    """What stands in each page where no row does, unless it is empty; the log must be empty too."""
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

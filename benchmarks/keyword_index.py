"""Our keyword index against SQLite's FTS5 on the same stems: building, adding, asking, and opening anew.

    python benchmarks/keyword_index.py [--sizes 10000 100000] [--words 20] [--vocabulary 50000]

Texts are random, with words drawn by Zipf's law. Both get the same words, stemmed beforehand for FTS5; a query is
an OR of its words, ranked by BM25, best 30. Times are the processor's, since both are bound by it and other work on
the machine would only add to the clock; a query's is its best of ten, and the table has the median over ten
queries of a kind. `same` is the share of our ten best that are among FTS5's, which has its own idf and cuts it off
for words in more than half of the texts.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np
from common import options, processor_time

from memorist.model import Filter
from memorist.stores.index import Index, IndexEntry
from memorist.text.words import stem_all

ALL = Filter()
LIMIT = 30
# Ranks of the words of a query, the commonest first, and how many of each.
KINDS = {
    "rare": [(3000, 30000, 3)],
    "middling": [(200, 2000, 8)],
    "mixed": [(0, 20, 5), (1000, 10000, 3)],
    "common": [(0, 20, 8)],
}


class Texts(NamedTuple):
    vocabulary: list[str]
    rows: list[str]


def texts(count: int, length: int, size: int) -> Texts:
    draw = np.random.default_rng(7)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    made = {"".join(draw.choice(letters, draw.integers(3, 10))) for _ in range(2 * size)}
    vocabulary = list(dict.fromkeys(stem_all(sorted(made), "en")))[:size]
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    chosen = draw.choice(len(vocabulary), (count, length), p=weights / weights.sum())
    return Texts(vocabulary, [" ".join(vocabulary[number] for number in row) for row in chosen])


def queries(kind: str, vocabulary: Sequence[str], count: int = 10) -> list[str]:
    draw = np.random.default_rng(11)
    return [
        " ".join(vocabulary[int(rank)] for low, high, many in KINDS[kind] for rank in draw.integers(low, high, many))
        for _ in range(count)
    ]


def entry(number: int, text: str) -> IndexEntry:
    return IndexEntry(
        id=f"{number:08}", kind="episodic", scope="global", tier="working", topic=None, classification=1, valid_from=0,
        ingested_at=0, valid_to=None, expired_at=None, expires_at=None, retracted_at=None, relation=None, speaker=None,
        session=None, source=None, emotion=0, emotion_tags="[]", metadata=None, words=f"en {text}", original=None,
        vectors={},
    )  # fmt: skip


class Fts5:
    """FTS5 in a file of its own, contentless."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "fts5.db"
        self._open()
        self._db.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = normal")
        self._db.execute("CREATE VIRTUAL TABLE texts USING fts5(words, content='', tokenize='unicode61')")

    def _open(self) -> None:
        self._db = apsw.Connection(str(self._path))

    def build(self, rows: Sequence[str]) -> None:
        with self._db:
            self._db.executemany("INSERT INTO texts (rowid, words) VALUES (?, ?)", enumerate(rows))

    def reopen(self) -> None:
        self._db.close()
        self._open()

    def add(self, number: int, text: str) -> None:
        with self._db:
            self._db.execute("INSERT INTO texts (rowid, words) VALUES (?, ?)", (number, text))

    def search(self, query: str) -> list[str]:
        asked = " OR ".join(f'"{word}"' for word in query.split())
        rows = self._db.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (asked, LIMIT))
        return [f"{row:08}" for (row,) in rows]


class Ours:
    """The index, fed from a table of the analysed words."""

    def __init__(self, folder: Path) -> None:
        self._db = apsw.Connection(str(folder / "ours.db"))
        self._db.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = normal")
        self._db.execute("CREATE TABLE memories (row INTEGER PRIMARY KEY, words TEXT)")
        self._index = Index()

    def build(self, rows: Sequence[str]) -> None:
        self._index.apply([entry(number, text) for number, text in enumerate(rows)], (), generation=1)
        self.search("nothing")  # words are read when first searched

    def keep(self, rows: Sequence[str]) -> None:
        with self._db:
            self._db.executemany("INSERT INTO memories VALUES (?, ?)", enumerate(rows))

    def reopen(self) -> None:
        self._index = Index()
        rows = self._db.execute("SELECT row, words FROM memories ORDER BY row")
        self._index.apply((entry(number, text) for number, text in rows), (), generation=1)

    def add(self, number: int, text: str) -> None:
        self._index.apply([entry(number, text)], (), generation=number)

    def search(self, query: str) -> list[str]:
        return [hit.id for hit in self._index.view().search_text(query, ALL, LIMIT)]


def asking(search: Callable[[str], object], asked: Sequence[str]) -> float:
    """Milliseconds a query."""
    times = [min(processor_time(partial(search, query)) for _ in range(10)) for query in asked]
    return 1000 * statistics.median(times)


def adding(engine: Fts5 | Ours, made: Texts, rare: str) -> float:
    """Milliseconds to add a text and then ask for a rare word, the best of fifty."""

    def add_and_ask(number: int) -> None:
        engine.add(number, made.rows[number % 1000])
        engine.search(rare)

    start = len(made.rows)
    return 1000 * min(processor_time(lambda number=start + extra: add_and_ask(number)) for extra in range(50))


def opening(engine: Fts5 | Ours, rare: str) -> float:
    """Seconds to open and answer a first query."""

    def open_and_ask() -> None:
        engine.reopen()
        engine.search(rare)

    return min(processor_time(open_and_ask) for _ in range(3))


def same(ours: Ours, fts5: Fts5, asked: Sequence[str]) -> float:
    found = [(set(ours.search(query)[:10]), set(fts5.search(query)[:10])) for query in asked]
    return statistics.mean(len(mine & theirs) / max(1, len(mine)) for mine, theirs in found)


def measured(count: int, length: int, vocabulary: int) -> Iterator[tuple[str, float, float, str]]:
    made = texts(count, length, vocabulary)
    rare = made.vocabulary[4000]
    with tempfile.TemporaryDirectory() as folder:
        ours, fts5 = Ours(Path(folder)), Fts5(Path(folder))
        ours.keep(made.rows)
        mine, theirs = (processor_time(partial(index.build, made.rows)) for index in (ours, fts5))
        yield "build, s", mine, theirs, ""
        for kind in KINDS:
            asked = queries(kind, made.vocabulary)
            yield (
                f"{kind}, ms",
                asking(ours.search, asked),
                asking(fts5.search, asked),
                f"{same(ours, fts5, asked):.2f}",
            )
        yield "open and ask, s", opening(ours, rare), opening(fts5, rare), ""
        yield "add and ask, ms", adding(ours, made, rare), adding(fts5, made, rare), ""


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--words", type=int, default=20)
    parser.add_argument("--vocabulary", type=int, default=50_000)
    args = parser.parse_args()
    for size in args.sizes:
        print(f"\n{size:,} texts of {args.words} words (SQLite {apsw.sqlite_lib_version()})")
        print(f"{'':18}{'ours':>10}{'FTS5':>10}{'ratio':>8}{'same':>7}")
        for name, mine, theirs, shared in measured(size, args.words, args.vocabulary):
            print(f"{name:18}{mine:10.3f}{theirs:10.3f}{theirs / mine:8.1f}{shared:>7}", flush=True)


if __name__ == "__main__":
    main()

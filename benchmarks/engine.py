"""Speed and size of the engine, run by hand: `python benchmarks/engine.py [--sizes 1000] [--views 1 2]`.

For each size and number of vectors a memory, in a process of its own: bulk writes with vectors given, single
writes and recalls with the local model (p50 and p95, split by stage), cold open, bytes a memory, memory used.
Texts are 20 English words drawn by Zipf's law, questions 8; vectors are random around topics, so scores mean
nothing here.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from common import milliseconds, options, percentiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memorist import Engine
    from memorist.ports.values import Vectors

SIZES = (1_000, 10_000, 100_000)
QUESTIONS = 200
Words = Callable[[int], str]
"""Draws as many words as it is asked for."""


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--views", type=int, nargs="+", default=(1, 2))
    arguments.add_argument("--questions", type=int, default=QUESTIONS)
    arguments.add_argument("--one", nargs=2, type=int, metavar=("SIZE", "VIEWS"), help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(measure(*given.one, questions=given.questions)))
        return
    print(f"import memorist: {import_ms():.0f} ms (best of 5)\n")
    for views in given.views:
        for size in given.sizes:
            report(size, views, given.questions)


def import_ms() -> float:
    code = "from time import perf_counter as t; s = t(); import memorist; print((t() - s) * 1000)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def report(size: int, views: int, questions: int) -> None:
    command = [sys.executable, __file__, "--questions", str(questions), "--one", str(size), str(views)]
    result = json.loads(subprocess.check_output(command).splitlines()[-1])
    print(f"{size:,} memories, {views} vector{'s'[: views > 1]} each")
    for name, value in result["figures"].items():
        print(f"  {name:<34} {value}")
    for name, (p50, p95) in result["stages"].items():
        print(f"    {name:<32} p50 {p50:7.2f}   p95 {p95:7.2f} ms")
    print(flush=True)


def measure(size: int, views: int, *, questions: int) -> dict[str, object]:
    import numpy as np

    import memorist

    random = np.random.default_rng(7)
    words = zipf_words(random)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.db"
        spent = fill(file, size, views, random, words)
        with memorist.open(file) as memory:
            cold = milliseconds(lambda: memory.recall("warm up"))
            recalls, stages = recall_times(memory, words, questions)
            singles = [milliseconds(lambda: memory.remember(words(20))) for _ in range(50)]
            after_writes = milliseconds(lambda: memory.recall("what changed"))
        bytes_each = sum(path.stat().st_size for path in file.parent.glob("bench.db*")) / size
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "figures": {
            "bulk write, vectors given": f"{size / spent:,.0f} memories/s",
            "remember, with the local model": spread(singles),
            "first recall after opening": f"{cold:.0f} ms",
            "recall": spread(recalls),
            "recall after 50 writes": f"{after_writes:.2f} ms",
            "bytes a memory in the file": f"{bytes_each:,.0f}",
            "peak memory of the process": f"{rss:,.0f} MB",
        },
        "stages": {name: percentiles(times) for name, times in stages.items()},
    }


def fill(file: Path, size: int, views: int, random: np.random.Generator, words: Words) -> float:
    """Write memories with given vectors; the seconds that the store took for it."""
    from memorist.models.embedders import build
    from memorist.models.embedding_text import generation_of
    from memorist.ports import Batch
    from memorist.ports.models import SystemClock
    from memorist.remember.record import record
    from memorist.stores.sqlite import SqliteStore

    embedder = build("local")
    assert embedder is not None
    topics = random.standard_normal((max(size // 50, 1), embedder.dim))
    now, spent = SystemClock().now(), 0.0
    store = SqliteStore.open(file)
    store.adopt(generation_of(embedder), embedder.dim)
    for start in range(0, size, 1000):
        memories = [record(f"{n} {words(20)}.", now, position=n) for n in range(start, min(start + 1000, size))]
        vectors = topical(random, topics, len(memories) * views).reshape(len(memories), views, -1)
        given = {one.id: views_of(rows) for one, rows in zip(memories, vectors, strict=True)}
        spent += milliseconds(partial(store.put, Batch(memories=memories, vectors=given))) / 1000
    store.close()
    return spent


def views_of(rows: NDArray[np.float32]) -> Vectors:
    """A memory's vectors, by their names."""
    return dict(zip(("text", "context"), rows, strict=False))


def recall_times(memory: Engine, words: Words, questions: int) -> tuple[list[float], dict[str, list[float]]]:
    stages: defaultdict[str, list[float]] = defaultdict(list)
    totals: list[float] = []
    for _ in range(questions):
        query = f"what about {words(8)}?"
        began = perf_counter()
        found = memory.recall(query)
        totals.append((perf_counter() - began) * 1000)
        for step in found.trace.steps:
            stages[step.stage].append(step.ms)
    return totals, stages


def zipf_words(random: np.random.Generator) -> Words:
    """English words as the model's own tokenizer lists them, common ones first, drawn by Zipf's law."""
    import numpy as np

    from memorist.models.folder import of_set

    tokenizer = json.loads((of_set("fast", "embedder") / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = np.array([word for word in tokenizer["model"]["vocab"] if word.isalpha() and word.isascii()])
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    weights /= weights.sum()
    return lambda count: " ".join(random.choice(vocabulary, count, p=weights))


def topical(random: np.random.Generator, topics: NDArray[Any], count: int) -> NDArray[np.float32]:
    import numpy as np

    rows = topics[random.integers(0, len(topics), count)] + random.standard_normal((count, topics.shape[1]))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def spread(times: list[float]) -> str:
    p50, p95 = percentiles(times)
    return f"p50 {p50:.2f}   p95 {p95:.2f} ms"


if __name__ == "__main__":
    main()

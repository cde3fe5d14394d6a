"""Many small spaces on one worker, run by hand: `python benchmarks/spaces.py [--spaces 10000] [--against ../before]`.

Starts `memorist serve` with its default limits on a folder of spaces, each with twenty memories. First every space is
asked for its statistics once, which opens it and loads its index. Then questions go to spaces drawn at random, and at
last to one space alone, which stays open. After each part: the times that one client saw, one request after the other,
and the server's processor time, memory and threads. Questions run without the reranker, whose time would hide the rest.

The spaces are copies of one file under other names: writing each through the engine takes minutes.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import apsw
from common import options, print_head, print_row
from serve import processor_seconds, served

import memorist

MEMORIES = 20
COLUMNS = ("part", "requests", "p50", "p95", "processor ms per request", "memory MB", "threads", "open")


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("--spaces", type=int, default=10_000)
    arguments.add_argument("--questions", type=int, default=500)
    arguments.add_argument("--folder", type=Path, help="keeps the spaces for the next run")
    arguments.add_argument("--against", type=Path, help="another checkout to run instead of this one")
    arguments.add_argument("options", nargs="*", help="options of `memorist serve`, after --")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "spaces"
        if not folder.exists():
            make(folder, given.spaces)
        names = sorted(path.stem for path in folder.glob("space*.db"))
        print_head(*COLUMNS)
        with served(folder, *given.options, embedder="local", reranker="none", checkout=given.against) as (
            url,
            process,
        ):
            measure(url, process.pid, names, given.questions)


def make(folder: Path, count: int) -> None:
    """Write one space, and copies of it under other names."""
    folder.mkdir(parents=True)
    first = folder / "space00000.db"
    with memorist.open(first) as engine:
        engine.remember_many(
            f"Anna put {number + 2} lamps on shelf {number} of the barn." for number in range(MEMORIES)
        )
    for number in range(1, count):
        copy = folder / f"space{number:05}.db"
        shutil.copy(first, copy)
        db = apsw.Connection(str(copy))
        db.execute("UPDATE space SET name = ?", (copy.stem,))
        db.close()


def measure(url: str, pid: int, names: list[str], questions: int) -> None:
    drawn = random.Random(7)
    row("start", [], 0.0, url, pid)
    with part("every space once", url, pid) as timed:
        for name in drawn.sample(names, len(names)):
            timed(lambda name=name: asked(f"{url}/v1/spaces/{name}/stats"))
    for title, chosen in (("a question, any space", names), ("a question, one space", names[:1])):
        recall(url, chosen[0], 0)  # the models are loaded by now
        with part(title, url, pid) as timed:
            for number in range(questions):
                timed(lambda number=number, chosen=chosen: recall(url, drawn.choice(chosen), number))


@contextmanager
def part(title: str, url: str, pid: int) -> Generator[Callable[[Callable[[], object]], None]]:
    """Collects the times of requests, and prints them."""
    times, before = list[float](), processor_seconds(pid)

    def timed(request: Callable[[], object]) -> None:
        began = time.perf_counter()
        request()
        times.append(time.perf_counter() - began)

    yield timed
    row(title, times, processor_seconds(pid) - before, url, pid)


def recall(url: str, space: str, number: int) -> None:
    body = {"query": f"How many lamps are on shelf {number % MEMORIES}?"}
    found = asked(f"{url}/v1/spaces/{space}/recall", json.dumps(body).encode())
    assert f"shelf {number % MEMORIES} " in json.dumps(found)


def asked(url: str, body: bytes | None = None) -> object:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def row(title: str, times: Iterable[float], processor: float, url: str, pid: int) -> None:
    ordered = sorted(1000 * moment for moment in times)
    count = len(ordered)
    quantiles = [statistics.median(ordered), ordered[count * 95 // 100], 1000 * processor / count] if count else []
    shown = [f"{quantile:,.1f}" for quantile in quantiles] or ["", "", ""]
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    memory = int(status["VmRSS"].split()[0]) / 1024
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    opened = next(line.split()[1] for line in lines if line.startswith("memorist_open_spaces "))
    print_row(title, f"{count:,}", *shown, f"{memory:,.0f}", status["Threads"].strip(), opened)


if __name__ == "__main__":
    main()

"""Many clients at one server: how fast it answers, whether any request fails, and whether any write is lost.

    python benchmarks/serve.py --clients 50 --seconds 60

Starts `memorist serve` on a folder of its own and lets each client remember and recall in turn, without repeats.
Afterwards it looks for every memory that was acknowledged.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import memorist

STARTS_WITHIN = 60.0


@contextmanager
def served(
    folder: Path, *options: str, embedder: str = "none", log: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server and its address. It is told to stop at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memorist", "--db", f"{folder}/", "--embedder", embedder, "serve"]
    with (log or Path(os.devnull)).open("wb") as lines:
        process = subprocess.Popen([*command, "--port", str(port), *options], stdout=lines, stderr=lines)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, process)
            yield url, process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    import httpx

    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/readyz").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise RuntimeError("the server did not start")


class Load:
    """Clients that ask until they are told to stop."""

    def __init__(self, url: str, clients: int, spaces: int) -> None:
        self.acknowledged: dict[str, list[str]] = defaultdict(list)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.turns = threading.Semaphore(0)
        """Counts what was acknowledged, for whoever waits for it."""
        self._stop = threading.Event()
        self._url = url
        self._threads = [
            threading.Thread(target=self._run, args=(number, f"space-{number % spaces}")) for number in range(clients)
        ]

    def run(self, seconds: float) -> None:
        for thread in self._threads:
            thread.start()
        self._stop.wait(seconds)
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int, space: str) -> None:
        with memorist.connect(self._url, space=space, retries=0) as memory:
            turn = 0
            while not self._stop.is_set():
                turn += 1
                try:
                    self._turn(memory, number, turn)
                except memorist.Error as error:
                    self.errors.append(f"{type(error).__name__}: {error}")

    def _turn(self, memory: memorist.Client, number: int, turn: int) -> None:
        text = f"Client {number} put parcel {turn} on shelf {(number * 31 + turn) % 97}."
        started = time.perf_counter()
        kept = memory.remember(text, session=f"client-{number}", position=turn)
        between = time.perf_counter()
        self.acknowledged[memory.space].append(kept.id)
        self.turns.release()
        memory.recall(f"Where did client {number} put parcel {turn}?", track=False)
        self.seconds["remember"].append(between - started)
        self.seconds["recall"].append(time.perf_counter() - between)


def lost(url: str, acknowledged: dict[str, list[str]]) -> int:
    """How many memories were acknowledged and are not there."""
    missing = 0
    for space, ids in acknowledged.items():
        with memorist.connect(url, space=space) as memory:
            kept: set[str] = set()
            cursor = None
            while True:
                page = memory.list(1000, cursor)
                kept |= {one.id for one in page.items}
                if (cursor := page.cursor) is None:
                    break
            missing += len(set(ids) - kept)
    return missing


def figures(seconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else [0.0] * 19
    return {"p50_ms": round(cuts[9] * 1000, 1), "p95_ms": round(cuts[18] * 1000, 1), "count": len(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--spaces", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--embedder", default="local")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), "--workers", str(given.workers), embedder=given.embedder) as (url, _),
    ):
        load = Load(url, given.clients, given.spaces)
        load.run(given.seconds)
        told = {
            **vars(given),
            "requests_per_second": round(sum(map(len, load.seconds.values())) / given.seconds, 1),
            **{verb: figures(seconds) for verb, seconds in load.seconds.items()},
            "errors": len(load.errors),
            "first_errors": load.errors[:3],
            "acknowledged": sum(map(len, load.acknowledged.values())),
            "lost": lost(url, load.acknowledged),
        }
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()

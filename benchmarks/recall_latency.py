"""How long a recall takes in a long conversation, by stage, with and without the reranker.

    python benchmarks/recall_latency.py PATH/locomo [PATH/realtalk] [--questions 100] [--store FILE] [--track]

All turns of the sets go into one space, with their sessions and so with two vectors each; questions are drawn from the
first set and asked in turn of an engine with the reranker and of one without, so that both meet the same moments of a
busy machine. Each question is asked once: its embedding is part of the time. Writing takes some minutes; a `--store`
is kept, and used as it is where it is there already.

Times are the wall clock's. Under them stands the processor time of all threads, which others disturb less.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any

import memorist
from memorist.bench.datasets import load
from memorist.bench.model import Dataset

RERANKERS: Mapping[str, str] = {"with the reranker": "auto", "without": "none"}
WARM_UP = 5


@dataclass(slots=True)
class Times:
    """What recalls took, in milliseconds: in all, of the processor, and by stage."""

    wall: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])
    stages: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))

    def measure(self, memory: memorist.Engine, question: str, *, track: bool) -> None:
        """Ask, and note how long it took."""
        began, worked = perf_counter(), process_time()
        found = memory.recall(question, track=track)
        self.wall.append((perf_counter() - began) * 1000)
        self.processor.append((process_time() - worked) * 1000)
        own: defaultdict[str, float] = defaultdict(float)
        for step in found.trace.steps:
            own[step.stage] += step.ms  # a recipe may have a stage twice
        own["around the stages"] = self.wall[-1] - sum(ms for stage, ms in own.items() if "." not in stage)
        for stage, ms in own.items():
            self.stages[stage].append(ms)


def main() -> None:
    """Fill a space where there is none yet, ask, and print what it took."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sets", nargs="+", type=Path)
    arguments.add_argument("--questions", type=int, default=100)
    arguments.add_argument("--store", type=Path)
    arguments.add_argument("--track", action="store_true", help="count the recalls in the store, as users do")
    given = arguments.parse_args()
    datasets = [load(path) for path in given.sets]
    asked = [question.text for group in datasets[0].groups for question in group.questions]
    drawn = random.Random(3).sample(asked, min(given.questions + WARM_UP, len(asked)))
    with tempfile.TemporaryDirectory() as folder:
        file = given.store or Path(folder) / "latency.db"
        if not file.exists():
            fill(file, datasets)
        report(ask(file, drawn, track=given.track))


def fill(file: Path, datasets: Sequence[Dataset]) -> None:
    """Write every turn, and say how fast that was."""
    with memorist.open(file, background=False) as memory:
        began = perf_counter()
        memory.remember_many(turns(datasets))
        count, spent = memory.stats().memories, perf_counter() - began
        print(f"wrote {count:,} memories in {spent:.0f} s, {count / spent:.0f} a second\n", flush=True)


def turns(datasets: Sequence[Dataset]) -> Iterator[dict[str, Any]]:
    """The turns of talk as `remember_many` takes them; ids, positions and sessions are their conversation's own."""
    for group in (group for dataset in datasets for group in dataset.groups):
        for position, one in enumerate(group.documents):
            if one.text.strip():
                said = {"text": one.text, "at": one.at, "session": one.session, "speaker": one.speaker}
                yield {**said, "key": one.id, "position": position}


def ask(file: Path, questions: Sequence[str], *, track: bool) -> dict[str, Times]:
    """Put each question to both engines in turn; the first few only warm them up."""
    with ExitStack() as opened:
        engines = {
            name: opened.enter_context(memorist.open(file, reranker=reranker, background=False))
            for name, reranker in RERANKERS.items()
        }
        print(f"{next(iter(engines.values())).stats().memories:,} memories, {len(questions) - WARM_UP} questions")
        times = {name: Times() for name in engines}
        for number, question in enumerate(questions):
            for name, memory in engines.items():
                (Times() if number < WARM_UP else times[name]).measure(memory, question, track=track)
        return times


def report(times: Mapping[str, Times]) -> None:
    """Print the table of each engine."""
    for name, taken in times.items():
        print(f"\n{name}: recall {spread(taken.wall)} ms, processor {spread(taken.processor)} ms")
        for stage, ms in taken.stages.items():
            print(f"    {stage:<20} {spread(ms)} ms")


def spread(times: Sequence[float]) -> str:
    cuts = quantiles(times, n=20)
    return f"p50 {cuts[9]:7.2f}   p95 {cuts[18]:7.2f}"


if __name__ == "__main__":
    main()

"""How long a recall takes in a long conversation, by stage, with and without the reranker, now and in another version.

    python benchmarks/recall_latency.py PATH/locomo [PATH/realtalk] [--questions 100] [--store FILE] [--track]
    git worktree add /tmp/before COMMIT
    python benchmarks/recall_latency.py PATH/locomo --store FILE --against /tmp/before

All turns of the sets go into one space, with their sessions and so with two vectors each; questions are drawn from the
first set. Each version runs in a process of its own, with an engine with the reranker and one without. Every question
goes to all of them in turn, so that they meet the same moments of a busy machine, and once to each: its embedding is
part of the time. Writing takes some minutes; a `--store` is kept, and used as it is where it is there already.

Times are the wall clock's, and the processor's in all threads, which others disturb less. With `--against`, the last
column is the median of this version's time divided by the other's, question by question; and the last line says for how
many questions both have the same memories with the same scores.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from common import options, percentiles
from serve import environment_of

import memorist
from memorist_bench.datasets import load
from memorist_bench.model import Dataset

RERANKERS: Mapping[str, str] = {"with the reranker": "auto", "without": "none"}
WARM_UP = 5
WALL, PROCESSOR = "recall", "processor"


class Version:
    """A version of the package, in a process that answers questions with their times."""

    def __init__(self, tree: Path, store: Path, moment: str, *, track: bool) -> None:
        command = [sys.executable, __file__, "--answer", moment, "--store", str(store), *(["--track"] if track else [])]
        self._process = subprocess.Popen(
            command, env=environment_of(tree), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, question: str, engine: str) -> dict[str, Any]:
        """The milliseconds of a recall, in all and by stage, and what it found."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([question, engine]), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    """Fill a space where there is none yet, ask, and print what it took."""
    arguments = options(__doc__)
    arguments.add_argument("sets", nargs="*", type=Path)
    arguments.add_argument("--questions", type=int, default=100)
    arguments.add_argument("--store", type=Path)
    arguments.add_argument("--track", action="store_true", help="count the recalls in the store, as users do")
    arguments.add_argument("--against", type=Path, help="the working tree of another version")
    arguments.add_argument("--answer", type=datetime.fromisoformat, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.answer:
        answer(given.store, Clock(given.answer), track=given.track)
        return
    datasets = [load(path) for path in given.sets]
    asked = [question.text for group in datasets[0].groups for question in group.questions]
    drawn = random.Random(3).sample(asked, min(given.questions + WARM_UP, len(asked)))
    trees = {"now": Path(__file__).parents[1], **({"before": given.against} if given.against else {})}
    with tempfile.TemporaryDirectory() as folder:
        file = given.store or Path(folder) / "latency.db"
        if not file.exists():
            fill(file, datasets)
        moment = datetime.now(UTC).isoformat()
        report(ask({name: Version(tree, file, moment, track=given.track) for name, tree in trees.items()}, drawn))


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


class Clock:
    """A clock that stands still: scores depend on the age of memories."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """The same for all versions."""
        return self._moment


def answer(file: Path, clock: Clock, *, track: bool) -> None:
    """Answer the questions on standard input with the installed version: one line of JSON for one of JSON."""
    with ExitStack() as opened:
        engines = {
            name: opened.enter_context(memorist.open(file, reranker=reranker, background=False, clock=clock))
            for name, reranker in RERANKERS.items()
        }
        for line in sys.stdin:
            question, name = json.loads(line)
            print(json.dumps(measured(engines[name], question, track=track)), flush=True)


def measured(memory: memorist.Engine, question: str, *, track: bool) -> dict[str, Any]:
    """The milliseconds of a recall, in all and by stage, and what it found."""
    began, worked = perf_counter(), process_time()
    found = memory.recall(question, track=track)
    wall, processor = (perf_counter() - began) * 1000, (process_time() - worked) * 1000
    stages: defaultdict[str, float] = defaultdict(float)
    for step in found.trace.steps:
        stages[step.stage] += step.ms  # a recipe may have a stage twice
    around = wall - sum(ms for stage, ms in stages.items() if "." not in stage)
    times = {WALL: wall, PROCESSOR: processor, **stages, "around the stages": around}
    return {"times": times, "found": [[item.memory.id, item.score] for item in found.items]}


Taken = dict[str, dict[str, list[dict[str, Any]]]]
"""Answers by engine, version and question."""


def ask(versions: Mapping[str, Version], questions: Sequence[str]) -> Taken:
    """Put each question to every engine of every version in turn; the first few only warm them up."""
    taken: Taken = {engine: {name: [] for name in versions} for engine in RERANKERS}
    for number, question in enumerate(questions):
        for engine, answers in taken.items():
            for name in sorted(versions, reverse=number % 2 == 1):  # nobody is always first
                said = versions[name].ask(question, engine)
                if number >= WARM_UP:
                    answers[name].append(said)
    for version in versions.values():
        version.close()
    return taken


def report(taken: Taken) -> None:
    """Print a table for each engine."""
    for engine, answers in taken.items():
        now, before = answers["now"], answers.get("before")
        print(f"\n{engine}, {len(now)} questions{', now and before' if before else ''}")
        for name in now[0]["times"]:
            mine = [record["times"].get(name, 0.0) for record in now]
            line = f"    {name:<20} {spread(mine)} ms"
            if before:
                theirs = [record["times"].get(name, 0.0) for record in before]
                ratio = median(one / other for one, other in zip(mine, theirs, strict=True) if other)
                line += f"      {spread(theirs)} ms   ratio {ratio:.2f}"
            print(line)
        if before:
            same = sum(one["found"] == other["found"] for one, other in zip(now, before, strict=True))
            print(f"    the same memories with the same scores: {same} of {len(now)}")


def spread(times: Sequence[float]) -> str:
    p50, p95 = percentiles(times)
    return f"p50 {p50:7.2f}   p95 {p95:7.2f}"


if __name__ == "__main__":
    main()

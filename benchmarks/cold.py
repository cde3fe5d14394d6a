"""What one command costs as a process of its own, run by hand.

    python benchmarks/cold.py [--memories 10000] [--store FILE] [--runs 7] [--against CHECKOUT]

Hooks and short-lived agents start a process per question, so starting is part of every answer. Each verb runs several
times as `python -m memorist`; the table has the shortest wall clock and the least processor time of all threads, which
others on the machine disturb less. One more run per verb counts the modules that were imported and the regular
expressions that were compiled. With `--against`, the same verbs run from another checkout in turn, so that both meet
the same moments of a busy machine.

The store is filled with texts of 20 words and random vectors; a `--store` is kept, and used as it is if it exists.
Each run gets a copy of it with its index file, as after earlier recalls. The first run of each checkout is not counted:
it writes bytecode.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from common import options
from serve import environment_of

HERE = Path(__file__).parents[1]
QUESTION = "Where does Melanie want to travel with her sister?"
TEXT = "Melanie bought a kayak in Gothenburg, and Bob works at Volvo."
OPTIONS = {"recall, words only": ["--embedder", "none"]}
FAILED = "Error: Cannot find module 'left-pad'"
TRANSCRIPT = [
    *(
        {"role": role, "content": f"{TEXT} That was number {number}. {QUESTION}"}
        for number in range(8)
        for role in ("user", "assistant")
    ),
    {"role": "user", "content": "Get the tests green. From now on, always write commit messages in English."},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "input": {"command": "pnpm test"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": FAILED}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "input": {"command": "pnpm add left-pad"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "done"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "3", "input": {"command": "pnpm test"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "3", "content": "ok"}]},
]
"""A session with a failure, a wish, and eight exchanges."""
HOOKS = {
    "session-start": {"source": "startup"},
    "prompt": {"prompt": QUESTION},
    "tool-failure": {"tool_input": {"command": "pnpm test"}, "error": FAILED},
    "stop": {},
    "pre-compact": {"trigger": "auto"},
}
VERBS = {
    "--version": ["--version"],
    "--help": ["--help"],
    "stats": ["stats"],
    "remember": ["remember", TEXT],
    "recall": ["recall", QUESTION],
    "recall, words only": ["recall", QUESTION],
    **{f"hook {event}": ["hook", event] for event in HOOKS},
    "hook prompt, a command": ["hook", "prompt"],
}
COUNT = """
import json, re, sys
real, compiled = re._compiler.compile, []
def compile(expression, flags=0):
    compiled.append(expression)
    return real(expression, flags)
re._compiler.compile = compile
from memorist.surfaces.cli import main
main(sys.argv[2:])
ours = sum(name.partition(".")[0] == "memorist" for name in sys.modules)
with open(sys.argv[1], "w") as file:
    json.dump([ours, len(sys.modules), len(compiled)], file)
"""


@dataclass(slots=True)
class Cost:
    """Seconds by the clock and of the processor, for each run; modules of ours, all modules, and patterns."""

    wall: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])
    counted: Sequence[int] = ()


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--store", type=Path)
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--against", type=Path, metavar="CHECKOUT")
    given = arguments.parse_args()
    checkouts = {"here": HERE} | ({"there": given.against.resolve()} if given.against else {})
    with tempfile.TemporaryDirectory() as folder:
        file = given.store or Path(folder) / "cold.db"
        if not file.exists():
            build(file, given.memories)
        if not index_of(file).exists():
            call([sys.executable, "-m", "memorist", "--db", str(file), "recall", QUESTION], of_checkout(HERE))
        print(f"{file.stat().st_size / 1e6:.0f} MB, best of {given.runs} runs\n")
        print(f"{'':<28}   wall    processor   modules (all)   patterns")
        for verb in VERBS:
            for name, cost in measured(verb, file, checkouts, given.runs, Path(folder)).items():
                ours, every, patterns = cost.counted
                label = verb if len(checkouts) == 1 else f"{verb} ({name})"
                print(
                    f"{label:<28} {min(cost.wall):5.2f} s   {min(cost.processor):5.2f} s"
                    f"      {ours:>4} ({every:>3})      {patterns:>5}",
                    flush=True,
                )


def measured(verb: str, store: Path, checkouts: dict[str, Path], runs: int, folder: Path) -> dict[str, Cost]:
    """The cost of a verb in each checkout, run in turn."""
    costs = {name: Cost() for name in checkouts}
    for run in range(runs + 1):
        for name, checkout in checkouts.items():
            db = folder / "copy.db"
            copy(store, db)
            given = payload(verb, folder)
            command = ["--db", str(db), *OPTIONS.get(verb, []), *VERBS[verb]] if VERBS[verb][0][0] != "-" else [verb]
            environment = of_checkout(checkout)
            if not run:
                costs[name].counted = counted(command, environment, folder / "counts.json", given)
                copy(store, db)
            spent, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
            call([sys.executable, "-m", "memorist", *command], environment, given)
            wall, now = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            if run:
                costs[name].wall.append(wall)
                costs[name].processor.append(now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime)
    return costs


def payload(verb: str, folder: Path) -> str:
    """What a client would send to a hook; empty for another verb."""
    if not verb.startswith("hook "):
        return ""
    transcript = folder / "transcript.jsonl"
    transcript.write_text("".join(f"{json.dumps({'message': turn, 'role': turn['role']})}\n" for turn in TRANSCRIPT))
    said = {"prompt": "/clear"} if verb.endswith("a command") else HOOKS[verb.removeprefix("hook ")]
    return json.dumps({"session_id": "s", "cwd": str(folder), "transcript_path": str(transcript), **said})


def copy(store: Path, to: Path) -> None:
    shutil.copy(store, to)
    if index_of(store).exists():  # a small memory has none
        shutil.copy(index_of(store), index_of(to))


def index_of(store: Path) -> Path:
    return store.with_name(f"{store.name}-index")


def counted(command: Sequence[str], environment: dict[str, str], counts: Path, given: str) -> list[int]:
    """Modules of ours, all modules, and patterns compiled."""
    call([sys.executable, "-c", COUNT, str(counts), *command], environment, given)
    return json.loads(counts.read_text())


def call(command: Sequence[str], environment: dict[str, str], given: str = "") -> None:
    ran = subprocess.run(command, env=environment, input=given, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)


def of_checkout(checkout: Path) -> dict[str, str]:
    """The environment in which Python imports a checkout, and keeps its bytecode."""
    return {name: value for name, value in environment_of(checkout).items() if name != "PYTHONDONTWRITEBYTECODE"}


def build(file: Path, memories: int) -> None:
    """Fill a store as the benchmark of the engine does."""
    import numpy as np
    from engine import fill, zipf_words

    random = np.random.default_rng(7)
    fill(file, memories, 1, random, zipf_words(random))


if __name__ == "__main__":
    main()

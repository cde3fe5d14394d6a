"""Does `memorist tune` help? Tune on all groups of a dataset but one, and measure on that one, for each of them.

`python benchmarks/tuning.py PATH [--recipe NAME] [--set STAGE.PARAMETER=VALUE] [--questions NUMBER]`

Prints, for each group: the verdict on the others, and nDCG@10 of the group with the current numbers, with the numbers
that `tune` would write (the current ones if it answers "no change"), and with those that the search found, whatever the
verdict. `--set` starts from other numbers than the recipe's own. Vectors and scores are cached as in `memorist bench`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from common import options

from memorist.config import Config
from memorist_bench import datasets
from memorist_bench.cache import default_folder
from memorist_bench.runner import narrow_dataset, prepare
from memorist_bench.statistics import compare
from memorist_bench.tune.evidence import of_group
from memorist_bench.tune.numbers import Number, Steps, first_moved, move_numbers, numbers_of
from memorist_bench.tune.replay import Replay
from memorist_bench.tune.search import Floats, Trials, decide, fit


def main() -> None:
    given = _given()
    experiment = prepare(
        Config(),
        given.cache,
        recipes=[given.recipe],
        changes=given.set,
        cached_queries=True,
    )
    [recipe] = experiment.pipelines
    numbers = numbers_of(recipe)
    dataset = narrow_dataset(datasets.load(given.path), questions=given.questions)
    with ExitStack() as closing:
        pool = closing.enter_context(ThreadPoolExecutor())
        replay, groups = Replay(recipe, first_moved(recipe, numbers)), list[str]()
        for group in dataset.groups:
            for asked in of_group(group, recipe, experiment.setup, closing, pool):
                replay.record(asked)
                groups.append(group.name)
        every = Trials(lambda steps: replay.figures(move_numbers(recipe, numbers, steps)), len(numbers))
        _report(every, np.array(groups), numbers)


def _given() -> Any:
    parser = options(__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--recipe", default="memorist")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--questions", type=int)
    parser.add_argument("--cache", type=Path, default=default_folder())
    return parser.parse_args()


def _report(every: Trials, groups: Floats, numbers: Sequence[Number]) -> None:
    now = every.figures(every.current)
    written, found = now.copy(), now.copy()
    for name in dict.fromkeys(groups.tolist()):
        inside, others = groups == name, np.flatnonzero(groups != name)
        trials = Trials(lambda steps, rows=others: every.figures(steps)[rows], len(numbers))
        verdict, best = decide(trials, len(others)), fit(trials, np.arange(len(others)))
        written[inside], found[inside] = every.figures(verdict.steps)[inside], every.figures(best)[inside]
        print(
            f"{name}: held-out gain on the others {verdict.gain.mean:+.4f} "
            f"({verdict.gain.low:+.4f} to {verdict.gain.high:+.4f}, p = {verdict.p:.4f}), "
            f"{'change' if verdict.changes else 'no change'}; here now {now[inside].mean():.4f}, "
            f"written {written[inside].mean():.4f}, found {found[inside].mean():.4f}: {_moves(numbers, best)}",
            flush=True,
        )
    for name, figures in (("written", written), ("found", found)):
        compared = compare(now.tolist(), figures.tolist())
        gain = compared.difference
        print(
            f"{name}: {now.mean():.4f} → {figures.mean():.4f} ({gain.mean:+.4f}, "
            f"{gain.low:+.4f} to {gain.high:+.4f}, p = {compared.p:.4f})"
        )
    print(f"{len(now)} questions, {len(every)} trials")


def _moves(numbers: Sequence[Number], steps: Steps) -> str:
    return ", ".join(
        f"{one.label} {one.value:g} → {one.at(step):g}" for one, step in zip(numbers, steps, strict=True) if step
    )


if __name__ == "__main__":
    main()

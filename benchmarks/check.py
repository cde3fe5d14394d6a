"""Rerun experiments and compare with the figures they gave: `python benchmarks/check.py [NAME …] [--all]`.

`benchmarks/expected/` holds one file an experiment: its command, whether it is `quick`, and its figures. A figure that
falls by more than `tolerance` is a failure; one that rises as much is worth writing down. On one machine the same code
gives the same figures; the tolerance is for int8 arithmetic, which differs between processors.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import EVAL, options

HERE = Path(__file__).parent
TOLERANCE = 0.005


@dataclass(frozen=True)
class Experiment:
    name: str
    command: str
    dataset: str
    quick: bool
    tolerance: float
    recipes: dict[str, dict[str, float]]

    @classmethod
    def read(cls, file: Path) -> Experiment:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        return cls(
            name=file.stem,
            command=data["command"],
            dataset=data["dataset"],
            quick=data.get("quick", False),
            tolerance=data.get("tolerance", TOLERANCE),
            recipes=data["recipes"],
        )

    def run(self, data: Path) -> dict[str, Any]:
        _program, *arguments = shlex.split(self.command.replace("DATA/", f"{shlex.quote(str(data))}/"))
        ran = subprocess.run(
            [sys.executable, "-m", "memorist", *arguments, "--json"], capture_output=True, text=True, check=False
        )
        if ran.returncode:
            raise SystemExit(f"{self.name}: {ran.stderr.strip()}")
        return json.loads(ran.stdout)["recipes"]

    def differences(self, found: dict[str, Any]) -> list[tuple[str, float, float]]:
        return [
            (f"{recipe} {measure}", expected, found[recipe][measure])
            for recipe, figures in self.recipes.items()
            for measure, expected in figures.items()
        ]


def check(experiment: Experiment, data: Path) -> bool:
    """Whether every figure is at least what it was."""
    if not (data / experiment.dataset).exists():
        print(f"{experiment.name}: skipped, there is no {experiment.dataset} in {data}")
        return True
    dropped = False
    for name, expected, now in experiment.differences(experiment.run(data)):
        change = now - expected
        fell = change < -experiment.tolerance
        verdict = "DROPPED" if fell else "rose" if change > experiment.tolerance else "as expected"
        print(f"{experiment.name}: {name} {now:.4f}, was {expected:.4f}: {verdict}")
        dropped |= fell
    return not dropped


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments to rerun; without any, the quick ones")
    parser.add_argument("--all", action="store_true", help="rerun all of them")
    parser.add_argument("--data", type=Path, default=EVAL, help="the datasets")
    parser.add_argument("--expected", type=Path, default=HERE / "expected", help="the experiments")
    given = parser.parse_args()
    experiments = [Experiment.read(file) for file in sorted(given.expected.glob("*.toml"))]
    if unknown := set(given.names) - {experiment.name for experiment in experiments}:
        parser.error(f"there is no experiment {', '.join(sorted(unknown))}")
    wanted = [
        experiment
        for experiment in experiments
        if (experiment.name in given.names if given.names else given.all or experiment.quick)
    ]
    if not wanted:
        parser.error(f"there is no experiment in {given.expected}")
    return 0 if all([check(experiment, given.data) for experiment in wanted]) else 1


if __name__ == "__main__":
    sys.exit(main())

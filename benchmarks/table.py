"""Measure the recipes on fourteen datasets and print the tables of the docs: `python benchmarks/table.py FOLDER`.

FOLDER keeps one file per dataset, reranking and way of storing. What is there is not measured again, so an interrupted
run continues; take a new folder for new code. The table of `--reranking documented` is made from `none` and `all`: a
recipe whose document reranks is the same in `all`, another one in `none`. `--show` prints what is there already.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, get_args

from memorist.config import Config
from memorist.recall.recipes import RECIPES
from memorist_bench import datasets
from memorist_bench.cache import default_folder
from memorist_bench.measures import summarise
from memorist_bench.model import Dataset, Ingest, Reranking
from memorist_bench.report.table import chance, interval_text, percent, points
from memorist_bench.results import read_baseline, results_to_data
from memorist_bench.runner import choose_recipes, narrow_dataset, prepare
from memorist_bench.space import reranks
from memorist_bench.statistics import Comparison, Interval, compare, mean_interval

ROOT = Path(__file__).parents[1]
MEASURES = {
    "locomo": "recall@10",
    "realtalk": "recall@10",
    "beam": "recall@10",
    "realmem": "recall@10",
    "statebench": "any@1",
    "factconsolidation": "any@1",
    "musique": "recall@5",
    "hotpotqa": "recall@5",
    "2wikimultihopqa": "recall@5",
    "scifact": "ndcg@10",
    "nfcorpus": "ndcg@10",
    "xquad-en": "recall@10",
    "xquad-zh": "recall@10",
    "jaquad": "recall@10",
}
"""The measure that is usual for each dataset."""
MOST_QUESTIONS: dict[str, int] = dict.fromkeys(("realmem", "2wikimultihopqa", "xquad-en", "xquad-zh", "jaquad"), 300)
SIGNIFICANT = 0.05
SAME = " ≈"
HEAD = ("dataset, questions", "measure")

Values = Mapping[tuple[str, str], float]
"""The figure of each question, by group and question."""


@dataclass(frozen=True)
class Study:
    """Recipes on one dataset, stored one way; its files hold the answers with and without rerankers."""

    dataset: str
    recipes: tuple[str, ...]
    ingest: Ingest
    folder: Path
    data: Path
    cache: Path

    @property
    def measure(self) -> str:
        return MEASURES[self.dataset]

    @cached_property
    def judged(self) -> Dataset:
        whole = datasets.load(str(self.data / self.dataset))
        return narrow_dataset(whole, questions=MOST_QUESTIONS.get(self.dataset))

    @cached_property
    def stored(self) -> Ingest:
        """The way of storing; texts without times have only one."""
        timed = any(document.at for group in self.judged.groups for document in group.documents)
        return self.ingest if timed else "replayed"

    def file(self, reranking: Reranking) -> Path:
        return self.folder / f"{self.dataset}.{reranking}.{self.stored}.json"

    def run(self, wanted: Reranking) -> None:
        """Measure what a table lacks."""
        for reranking in ("none", "all"):
            mine = [recipe for recipe in self.recipes if source(recipe, wanted) == reranking]
            known = self._read(reranking)
            if missing := [name for name in mine if name not in known.get("recipes", {})]:
                self._measure(reranking, missing, known)

    def values(self, wanted: Reranking, measure: str | None = None) -> dict[str, Values]:
        """The figures of each recipe that was measured, in the usual measure or another one."""
        found: dict[str, Values] = {}
        for reranking in ("none", "all"):
            if self.file(reranking).exists():
                runs = read_baseline(self.file(reranking), self.judged).runs
                for name in self.recipes:
                    if name in runs and source(name, wanted) == reranking:
                        rows = summarise(self.judged, runs[name]).rows
                        found[name] = {row.key: row.turns[measure or self.measure] for row in rows}
        return {name: found[name] for name in self.recipes if name in found}

    def in_measures(self, wanted: Reranking, measures: Sequence[str]) -> Iterator[str]:
        """A table with a row per recipe and a column per measure."""
        columns = [self.values(wanted, measure) for measure in measures]
        figures = {name: [percent(fmean(column[name].values())) for column in columns] for name in columns[0]}
        yield from _table([("", *measures), *((f"`{name}`", *row) for name, row in figures.items())])

    def _measure(self, reranking: Reranking, missing: Sequence[str], known: dict[str, Any]) -> None:
        started = perf_counter()
        experiment = prepare(
            Config(), self.cache, recipes=missing, reranking=reranking, ingest=self.stored, cached_queries=True
        )
        data = results_to_data(experiment.measure(self.judged), answers=True)
        data["recipes"] = known.get("recipes", {}) | data["recipes"]
        del data["comparisons"]  # of these recipes alone
        self._write(reranking, data)
        took = f"{perf_counter() - started:,.0f} s"
        print(f"{self.dataset}, reranking {reranking}, {', '.join(missing)}: {took}", file=sys.stderr, flush=True)

    def _read(self, reranking: Reranking) -> dict[str, Any]:
        file = self.file(reranking)
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def _write(self, reranking: Reranking, data: dict[str, Any]) -> None:
        file = self.file(reranking)
        self.folder.mkdir(parents=True, exist_ok=True)
        whole = file.with_suffix(".part")
        whole.write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(whole, file)


def source(recipe: str, wanted: Reranking) -> Reranking:
    """The run that has the figures of a recipe."""
    if wanted == "documented":
        (pipeline,) = choose_recipes([recipe], dict(RECIPES))
        return "all" if reranks(pipeline) else "none"
    return wanted


@dataclass(frozen=True)
class Row:
    """One dataset: the figure of each recipe, and its difference from the first."""

    dataset: str
    measure: str
    questions: int
    figures: Mapping[str, Interval]
    differences: Mapping[str, Comparison]

    @classmethod
    def of(cls, study: Study, wanted: Reranking) -> Row | None:
        values = study.values(wanted)
        if not values:
            return None
        first = values.get(study.recipes[0], {})
        others = {name: one for name, one in values.items() if first and one is not first}
        return cls(
            dataset=study.dataset,
            measure=study.measure,
            questions=len(next(iter(values.values()))),
            figures={name: mean_interval(list(one.values())) for name, one in values.items()},
            differences={
                name: compare(list(first.values()), [one[key] for key in first]) for name, one in others.items()
            },
        )

    def figure(self, recipe: str) -> str:
        """The figure in per cent with its interval; the best is bold, one that may be as good as the first marked."""
        if recipe not in self.figures:
            return ""
        one, best = self.figures[recipe], max(self.figures.values(), key=lambda other: other.mean)
        share = percent(one.mean)
        shown = f"**{share}**" if share == percent(best.mean) else share
        alike = recipe in self.differences and self.differences[recipe].p >= SIGNIFICANT
        return f"{shown} ({interval_text((one.low, one.high))}){SAME if alike else ''}"

    def difference(self, recipe: str) -> str:
        """The difference from the first recipe in points, with its interval and p-value."""
        if recipe not in self.differences:
            return ""
        one = self.differences[recipe]
        less = one.difference
        return f"{points(less.mean)} ({points(less.low)} to {points(less.high)}), p {chance(one.p)}"


def markdown(rows: Sequence[Row], recipes: Sequence[str]) -> Iterator[str]:
    """The table of figures, and the table of differences."""
    first, *others = recipes
    yield from _table([(*HEAD, *recipes), *(_cells(row, recipes, row.figure) for row in rows)])
    yield ""
    yield (
        f"Per cent, with 95 % bootstrap intervals. Bold: the best of a dataset.{SAME}: not significantly different "
        f"from `{first}` (paired randomisation test, p ≥ {SIGNIFICANT})."
    )
    if others:
        yield ""
        yield f"Points below or above `{first}`, question by question, with 95 % bootstrap intervals:"
        yield ""
        yield from _table([(*HEAD, *others), *(_cells(row, others, row.difference) for row in rows)])


def _cells(row: Row, recipes: Sequence[str], cell: Any) -> tuple[str, ...]:
    return (f"{row.dataset}, {row.questions:,}", row.measure, *map(cell, recipes))


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    head, *others = [f"| {' | '.join(row)} |" for row in rows]
    yield head
    yield "|" + "---|" * len(rows[0])
    yield from others


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where results are kept")
    parser.add_argument("--reranking", choices=get_args(Reranking), default="documented")
    parser.add_argument("--ingest", choices=get_args(Ingest), default="replayed")
    parser.add_argument("--sets", nargs="+", choices=MEASURES, default=list(MEASURES), metavar="NAME")
    parser.add_argument("--recipes", nargs="+", default=[*RECIPES, "bm25"], metavar="NAME")
    parser.add_argument("--measures", nargs="+", metavar="NAME", help="a table per dataset, with a column per measure")
    parser.add_argument("--show", action="store_true", help="measure nothing, print what is there")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "eval", help="the datasets")
    parser.add_argument("--cache", type=Path, default=default_folder(), help="the cache of vectors and scores")
    given = parser.parse_args(arguments)
    rows: list[Row | None] = []
    for name in given.sets:
        if not (given.data / name).exists():
            print(f"{name}: skipped, it is not in {given.data}", file=sys.stderr)
            continue
        study = Study(name, tuple(given.recipes), given.ingest, given.folder, given.data, given.cache)
        if not given.show:
            study.run(given.reranking)
        if given.measures:
            print("\n".join(study.in_measures(given.reranking, given.measures)), end="\n\n")
            continue
        rows.append(Row.of(study, given.reranking))
    if given.measures:
        return 0
    print(f"Reranking {given.reranking}, ingest {given.ingest}:\n")
    for line in markdown([row for row in rows if row is not None], given.recipes):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())

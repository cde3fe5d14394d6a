"""The results of a bench as one value, its JSON document, and comparisons with an earlier run."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from memorist.errors import InvalidInput
from memorist.model import from_data, to_data
from memorist.recall.data import to_data as recipe_to_data
from memorist.recall.pipeline import Pipeline
from memorist_bench.measures import Figures, MeasurePart, Summary, summarise
from memorist_bench.model import Answer, BenchRun, Dataset, Ingest, Reranking
from memorist_bench.space import Setup, needs_reranker
from memorist_bench.statistics import CONFIDENCE, compare, mean_interval

WITH_INTERVALS = ("any@1", "any@5", "recall@5", "recall@10", "ndcg@10")
"""Measures that have an interval and are compared between recipes."""
Key = tuple[str, str]
"""A group and a question: runs are paired by it."""
REPEAT = "Write the baseline with --out on the same dataset."


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one recipe, with 95 % intervals for some of them, and the parts that were skipped.

    `reranked` if a reranker read the candidates of at least one question.
    """

    summary: Summary
    intervals: Mapping[str, tuple[float, float]]
    reranked: bool
    skipped: tuple[str, ...]
    recipe: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the recipe."""
        return self.summary.recipe


@dataclass(frozen=True, slots=True)
class Difference:
    """One recipe minus another, paired by question: the mean difference, its interval and its p-value."""

    recipe: str
    against: str
    measure: str
    questions: int
    difference: float
    low: float
    high: float
    p: float

    @property
    def verdict(self) -> Literal["better", "worse", "even"]:
        """Which recipe is ahead; even, unless the interval and the test both say so."""
        if self.low <= 0 <= self.high or self.p >= 1 - CONFIDENCE:
            return "even"
        return "better" if self.low > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that the figures depend on, so that they can be reproduced."""

    version: str
    embedder: str | None
    reranker: str | None
    limit: int
    live_queries: bool
    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    extract: str = "rules"
    reranking: Reranking = "documented"
    ingest: Ingest = "replayed"


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a bench: recipes on one dataset, in the order requested."""

    dataset: Dataset
    conditions: Conditions
    recipes: tuple[Result, ...]
    comparisons: tuple[Difference, ...]


def gather_results(
    dataset: Dataset, runs: Sequence[BenchRun], pipelines: Sequence[Pipeline], setup: Setup, conditions: Conditions
) -> Results:
    """Figures, intervals, and each of the other recipes compared with the first."""
    found = [_result(dataset, run, one, setup) for run, one in zip(runs, pipelines, strict=True)]
    first, *others = [result.summary for result in found]
    versus = [difference for other in others for difference in _compared(other, first, first.recipe)]
    return Results(dataset, conditions, tuple(found), tuple(versus))


def machine() -> dict[str, Any]:
    """The machine, without anything that identifies its owner."""
    return {
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "platform": platform.system(),
    }


@dataclass(frozen=True, slots=True)
class Baseline:
    """The answers of an earlier run, by recipe, and the ways it was measured."""

    file: Path
    runs: Mapping[str, BenchRun]
    reranking: str = "documented"
    ingest: str = "replayed"

    def label(self, recipe: str, conditions: Conditions) -> str:
        """The name of a recipe of this run, with the ways of measuring in which it differs from another run."""
        ways = [
            f"{way} {theirs}"
            for way, theirs, ours in (
                ("reranking", self.reranking, conditions.reranking),
                ("ingest", self.ingest, conditions.ingest),
            )
            if theirs != ours
        ]
        return " ".join([recipe, "of", self.file.name, *([f"({', '.join(ways)})"] if ways else [])])


def read_baseline(file: Path, dataset: Dataset) -> Baseline:
    """The answers in a document that `--out` wrote; refuses one that was measured on another dataset."""
    data = _read(file)
    if data["checksum"] != dataset.checksum:
        raise InvalidInput(
            f"{file} was measured on another dataset: {data['dataset']} with checksum {str(data['checksum'])[:12]}, "
            f"and this is {dataset.name} with {dataset.checksum[:12]}",
            remedy=REPEAT,
        )
    try:
        runs = {
            name: BenchRun(name, tuple(from_data(Answer, answer) for answer in recipe["answers"]))
            for name, recipe in data["recipes"].items()
        }
    except (InvalidInput, KeyError, TypeError, AttributeError):
        raise InvalidInput(f"{file} holds no answers to compare with", remedy=REPEAT) from None
    if not runs:
        raise InvalidInput(f"{file} holds no recipe to compare with", remedy=REPEAT)
    return Baseline(file, runs, **{way: str(data[way]) for way in ("reranking", "ingest") if way in data})


def against(results: Results, baseline: Baseline) -> Results:
    """The results, with each recipe compared with the baseline recipe of the same name, else with the first."""
    differences = [difference for result in results.recipes for difference in _against(results, result, baseline)]
    return replace(results, comparisons=(*results.comparisons, *differences))


def _against(results: Results, result: Result, baseline: Baseline) -> list[Difference]:
    name = result.name if result.name in baseline.runs else next(iter(baseline.runs))
    asked = {row.key for row in result.summary.rows}
    shared = tuple(answer for answer in baseline.runs[name].answers if (answer.group, answer.question) in asked)
    if not shared:
        raise InvalidInput(f"{baseline.file} and this run share no question", remedy=REPEAT)
    before = summarise(results.dataset, BenchRun(name, shared))
    return _compared(result.summary, before, baseline.label(name, results.conditions))


def results_to_data(results: Results, *, answers: bool = False) -> dict[str, Any]:
    """The JSON document; with `answers` it includes every ranking, which a comparison needs."""
    conditions: dict[str, Any] = to_data(results.conditions)
    return {
        "dataset": results.dataset.name,
        "checksum": results.dataset.checksum,
        "models": {name: conditions.pop(name) for name in ("embedder", "reranker")},
        **conditions,
        "recipes": {recipe.name: _result_to_data(recipe, answers) for recipe in results.recipes},
        "comparisons": _rounded(to_data(results.comparisons)),
    }


def _result(dataset: Dataset, run: BenchRun, pipeline: Pipeline, setup: Setup) -> Result:
    summary = summarise(dataset, run)
    found = {name: mean_interval([row.turns[name] for row in summary.rows if row.turns]) for name in WITH_INTERVALS}
    intervals = {name: (one.low, one.high) for name, one in found.items()}
    lacking = setup.lacks(pipeline)
    failed = Counter(stage for row in summary.rows for stage in set(row.answer.skipped))
    asked = len(summary.rows)
    return Result(
        summary=summary,
        intervals=intervals,
        reranked=any(failed[stage.kind] < asked for stage in pipeline.stages if needs_reranker(stage)),
        skipped=(
            *(f"{kind} (no {service})" for kind, service in lacking),
            *(
                f"{stage} (failed for {times:,} of {asked:,} questions)"
                for stage, times in failed.items()
                if stage not in dict(lacking)
            ),
        ),
        recipe=recipe_to_data(pipeline),
    )


def _compared(one: Summary, other: Summary, label: str) -> list[Difference]:
    first, second = ({row.key: row.turns for row in each.rows if row.turns} for each in (one, other))
    return paired_differences(one.recipe, label, first, second)


def paired_differences(
    recipe: str, label: str, one: Mapping[Key, Figures], other: Mapping[Key, Figures]
) -> list[Difference]:
    """One recipe minus another, by the figures of the questions that both answered."""
    pairs = [(figures, other[key]) for key, figures in one.items() if key in other]
    return [_difference(recipe, label, measure, pairs) for measure in WITH_INTERVALS]


def _difference(recipe: str, label: str, measure: str, pairs: Sequence[tuple[Figures, Figures]]) -> Difference:
    found = compare([other[measure] for _, other in pairs], [one[measure] for one, _ in pairs])
    less = found.difference
    return Difference(recipe, label, measure, len(pairs), less.mean, less.low, less.high, found.p)


def _read(file: Path) -> dict[str, Any]:
    try:
        data: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", remedy=REPEAT) from None
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON: {error}", remedy=REPEAT) from None
    written = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if not {"dataset", "checksum", "recipes"} <= written.keys():
        raise InvalidInput(f"{file} is not what `memorist bench` writes", remedy=REPEAT)
    return written


def _result_to_data(one: Result, answers: bool) -> dict[str, Any]:
    summary = one.summary
    figures = {
        **_part_to_data(summary.overall),
        **summary.figures,
        "at_tokens": {str(budget): share for budget, share in summary.overall.at_tokens.items()},
        "intervals": one.intervals,
        "answerable": summary.answerable and _part_to_data(summary.answerable),
        "by_type": {name: _part_to_data(part) for name, part in summary.types.items()},
        "by_stage": summary.stages,
        "abstention": summary.abstention,
        "outdated": summary.outdated,
        "reranked": one.reranked,
        "skipped": one.skipped,
    }
    kept = {"answers": to_data([row.answer for row in summary.rows]), "measures": _measures(summary)} if answers else {}
    return {**_rounded(to_data(figures)), "recipe": dict(one.recipe), **kept}


def _measures(summary: Summary) -> dict[str, list[float | None]]:
    """The measures of each answer, in their order, so that runs can be compared without the dataset."""
    return {name: [row.turns.get(name) for row in summary.rows] for name in WITH_INTERVALS}


def _part_to_data(part: MeasurePart) -> dict[str, Any]:
    return {
        "queries": part.queries,
        **part.turns,
        "abstained": part.abstained,
        "context_tokens": part.context_tokens,
        "sessions": part.sessions,
    }


def _rounded(data: Any) -> Any:
    """JSON data with every number rounded to five decimals."""
    if isinstance(data, dict):
        return {name: _rounded(one) for name, one in cast("dict[str, Any]", data).items()}
    if isinstance(data, list):
        return [_rounded(member) for member in cast("list[Any]", data)]
    return round(data, 5) if isinstance(data, float) else data

"""Experiments: choose recipes and models by the settings, ask every question of a dataset, resume interrupted runs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import memorist
from memorist.bench.cache import RunFiles, StoredEmbedder
from memorist.bench.model import Answer, BenchRun, Dataset, Group
from memorist.bench.results import Conditions, Results, gather_results, machine
from memorist.bench.space import BASELINES, LIMIT, Setup, Space
from memorist.config import Config
from memorist.errors import InvalidInput
from memorist.models import embedders, rerankers
from memorist.models.embedders.cache import CachedEmbedder
from memorist.ports import Embedder, Progress
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES, custom_recipes

ALL = "all"
"""Selects every recipe that ships."""


def choose_recipes(names: list[str], known: dict[str, Pipeline]) -> list[Pipeline]:
    """The pipelines with these names, without repeats; `known` are the recipes besides the baselines."""
    pipelines = {**BASELINES, **known}
    wanted = [one for name in names for one in (RECIPES if name == ALL else [name])]
    for name in wanted:
        if name not in pipelines:
            raise InvalidInput(
                f"There is no recipe {name!r}", remedy=f"Choose {ALL} or some of {', '.join([*known, *BASELINES])}."
            )
    return [pipelines[name] for name in dict.fromkeys(wanted)]


@dataclass(frozen=True, slots=True)
class Experiment:
    """The recipes to measure, and the models to measure them with."""

    pipelines: tuple[Pipeline, ...]
    setup: Setup
    cache: Path
    changes: Mapping[str, Any]
    reranker: str | None = None
    cached_queries: bool = False

    def measure(self, dataset: Dataset, *, fresh: bool = False, progress: Progress | None = None) -> Results:
        """Run every recipe; an interrupted run is resumed unless `fresh`."""
        conditions = self._conditions()
        unfinished = RunFiles(self.cache, dataset, self.pipelines, replace(conditions, machine={}))
        if fresh:
            unfinished.discard()
        runs = run(dataset, self.pipelines, self.setup, unfinished=unfinished, progress=progress)
        results = gather_results(dataset, runs, self.pipelines, self.setup, conditions)
        unfinished.discard()
        return results

    def _conditions(self) -> Conditions:
        embedder = self.setup.embedder
        return Conditions(
            version=memorist.__version__,
            embedder=None if embedder is None else embedder.generation,
            reranker=self.reranker,
            limit=self.setup.limit,
            live_queries=not self.cached_queries,
            settings=self.changes,
            machine=machine(),
            extract=self.setup.extract,
        )


def prepare(
    config: Config,
    cache: Path,
    *,
    recipes: Sequence[str] = (),
    changes: Sequence[str] = (),
    limit: int = LIMIT,
    cached_queries: bool = False,
) -> Experiment:
    """The experiment that the settings and options describe; `changes` have the form `stage.parameter=value`."""
    known = {**RECIPES, **custom_recipes(config.recipes, shipped_parts=config.untrusted_recipes)}
    wanted = parse_changes(changes)
    pipelines = change_recipes(choose_recipes(list(recipes) or [config.recipe], known), wanted)
    embedder = _without_memory(embedders.build(config.embedder, options=config.embedder_options))
    reranker = rerankers.build(config.reranker, options=config.reranker_options)
    stored = None if embedder is None else StoredEmbedder(embedder, cache, queries=cached_queries)
    return Experiment(
        pipelines=tuple(pipelines),
        setup=Setup(stored, reranker, limit, config.extract),
        cache=cache,
        changes=wanted,
        reranker=config.reranker if reranker else None,
        cached_queries=cached_queries,
    )


def parse_changes(changes: Sequence[str]) -> dict[str, Any]:
    """Changes by part and parameter; a value is parsed as JSON, else it is plain text."""
    settings: dict[str, Any] = {}
    for change in changes:
        path, separator, value = change.partition("=")
        if not separator or "." not in path.strip(". "):
            raise InvalidInput(
                f"Invalid change {change!r}", remedy="Write it as stage.parameter=value, such as rrf.k=20."
            )
        try:
            settings[path.strip()] = json.loads(value)
        except ValueError:
            settings[path.strip()] = value.strip()
    return settings


def change_recipes(pipelines: Sequence[Pipeline], settings: Mapping[str, Any]) -> list[Pipeline]:
    """Each pipeline with the settings of its parts; refuses a setting for a part that no pipeline has."""
    kinds = {one.name: {part.kind for part in one.parts()} for one in pipelines}
    for path in settings:
        part = path.rpartition(".")[0]
        if not any(part in parts for parts in kinds.values()):
            there = ", ".join(sorted({kind for parts in kinds.values() for kind in parts}))
            raise InvalidInput(f"No recipe of this run has a part {part!r}", remedy=f"They have {there}.")
    return [
        with_settings(
            one, {path: value for path, value in settings.items() if path.rpartition(".")[0] in kinds[one.name]}
        )
        for one in pipelines
    ]


def _without_memory(embedder: Embedder | None) -> Embedder | None:
    """The model without its cache: the second recipe to ask a question must not find its vector ready."""
    return embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder


def run(
    dataset: Dataset,
    pipelines: Sequence[Pipeline],
    setup: Setup,
    *,
    unfinished: RunFiles | None = None,
    progress: Progress | None = None,
) -> list[BenchRun]:
    """Ask every recipe every question; groups without questions are skipped."""
    for pipeline in pipelines:
        setup.check(pipeline)
    tell = progress or _silent
    answers: defaultdict[str, list[Answer]] = defaultdict(list)
    for group in dataset.groups:
        if group.questions:
            for name, found in _run_group(group, pipelines, setup, unfinished, tell):
                answers[name] += found
    return [BenchRun(pipeline.name, tuple(answers[pipeline.name])) for pipeline in pipelines]


def _silent(_more: int) -> None:
    pass


def work(dataset: Dataset, recipes: int) -> int:
    """The total that `run` reports as progress: each document once, each question once per recipe."""
    return sum(len(one.documents) + recipes * len(one.questions) for one in dataset.groups if one.questions)


def narrowed(dataset: Dataset, *, groups: Sequence[str] = (), questions: int | None = None) -> Dataset:
    """Only these groups, and this many questions spread evenly over them."""
    names = [group.name for group in dataset.groups]
    for name in groups:
        if name not in names:
            raise InvalidInput(
                f"{dataset.name} has no group {name!r}",
                remedy=f"Choose from {', '.join(names[:20])}{' …' if len(names) > 20 else ''}.",
            )
    kept = tuple(group for group in dataset.groups if not groups or group.name in groups)
    return replace(dataset, groups=kept if questions is None else _spread(kept, questions))


def _spread(groups: tuple[Group, ...], wanted: int) -> tuple[Group, ...]:
    total = sum(len(group.questions) for group in groups)
    if wanted < 1:
        raise InvalidInput(f"Cannot measure {wanted} questions", remedy="Ask for at least 1.")
    places = {place * total // wanted for place in range(wanted)} if wanted < total else set(range(total))
    numbered = iter(range(total))
    return tuple(
        replace(group, questions=tuple(one for one in group.questions if next(numbered) in places)) for group in groups
    )


def _run_group(
    group: Group, pipelines: Sequence[Pipeline], setup: Setup, unfinished: RunFiles | None, tell: Progress
) -> Iterator[tuple[str, tuple[Answer, ...]]]:
    known = {one.name: unfinished.answers(one.name, group.name) if unfinished else None for one in pipelines}
    for name, answers in known.items():
        if answers is not None:
            tell(len(answers))
            yield name, answers
    fresh = [one for one in pipelines if known[one.name] is None]
    if not fresh:
        tell(len(group.documents))
        return
    with Space(group, fresh, setup, progress=tell) as space:
        for pipeline in fresh:
            answers = tuple(space.answers(pipeline.name, tell))
            if unfinished:
                unfinished.add(pipeline.name, group.name, answers)
            yield pipeline.name, answers

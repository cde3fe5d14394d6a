"""Experiments: choose recipes and models by the settings, ask every question of a dataset, resume interrupted runs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import memorist
from memorist.config import Config
from memorist.errors import InvalidInput
from memorist.models import embedders, rerankers
from memorist.models.embedders.cache import CachedEmbedder
from memorist.ports import Embedder, Progress, Reranker
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES, custom_recipes
from memorist.recall.rerank import Rerank
from memorist.recall.select import Limit
from memorist_bench.cache import RunFiles, StoredEmbedder, StoredReranker
from memorist_bench.model import Answer, BenchRun, Dataset, Group, Ingest, Reranking
from memorist_bench.results import Conditions, Results, gather_results, machine
from memorist_bench.space import BASELINES, LIMIT, Setup, Space, reranks

ALL = "all"
"""Selects every recipe that ships."""


def choose_recipes(names: list[str], known: dict[str, Pipeline]) -> list[Pipeline]:
    """The pipelines with these names, without repeats; `known` are the recipes besides the baselines."""
    pipelines = {**BASELINES, **known}
    wanted = [recipe for name in names for recipe in (RECIPES if name == ALL else [name])]
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
    reranking: Reranking = "documented"
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
            reranking=self.reranking,
            ingest=self.setup.ingest,
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
    reranking: Reranking = "documented",
    ingest: Ingest = "replayed",
    cached_queries: bool = False,
) -> Experiment:
    """The experiment that the settings and options describe; `changes` have the form `stage.parameter=value`."""
    known = {**RECIPES, **custom_recipes(config.recipes, shipped_parts=config.untrusted_recipes)}
    wanted = parse_changes(changes)
    chosen = choose_recipes(list(recipes) or [config.recipe], known)
    pipelines = change_recipes(
        [with_reranker(pipeline) for pipeline in chosen] if reranking == "all" else chosen, wanted
    )
    embedder = _without_memory(embedders.build(config.embedder, options=config.embedder_options, models=config.models))
    name, reranker = _reranker(config, reranking)
    if reranker is not None and cached_queries:
        reranker = StoredReranker(reranker, cache, name)
    stored = None if embedder is None else StoredEmbedder(embedder, cache, queries=cached_queries)
    return Experiment(
        pipelines=tuple(pipelines),
        setup=Setup(stored, reranker, limit, config.extract, ingest),
        cache=cache,
        changes=wanted,
        reranker=None if reranker is None else name,
        reranking="none" if reranker is None else reranking,
        cached_queries=cached_queries,
    )


def with_reranker(pipeline: Pipeline) -> Pipeline:
    """A recipe that reranks: as it is if it has a reranker, else with that of memoria before its limit."""
    if reranks(pipeline):
        return pipeline
    place = next((place for place, stage in enumerate(pipeline.stages) if stage.kind == Limit.kind), None)
    if place is None:
        raise InvalidInput(
            f"Recipe {pipeline.name!r} has no stage {Limit.kind!r} to rerank before",
            remedy="Add one, or measure without --reranking all.",
        )
    stages = pipeline.stages
    return replace(pipeline, stages=(*stages[:place], Rerank(depth=30, blend=1.0), *stages[place:]))


def _reranker(config: Config, reranking: Reranking) -> tuple[str, Reranker | None]:
    """The name of the model, with its checksum if it is local, and the model."""
    setting = "none" if reranking == "none" else config.reranker
    reranker = rerankers.build(setting, options=config.reranker_options, models=config.models)
    if reranker is None and reranking == "all":
        raise InvalidInput("There is no reranker for all recipes", remedy="Name one with --reranker, such as auto.")
    return getattr(reranker, "generation", setting), reranker


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
    kinds = {pipeline.name: {part.kind for part in pipeline.parts()} for pipeline in pipelines}
    for path in settings:
        part = path.rpartition(".")[0]
        if not any(part in parts for parts in kinds.values()):
            there = ", ".join(sorted({kind for parts in kinds.values() for kind in parts}))
            raise InvalidInput(f"No recipe of this run has a part {part!r}", remedy=f"They have {there}.")
    return [
        with_settings(
            pipeline,
            {path: value for path, value in settings.items() if path.rpartition(".")[0] in kinds[pipeline.name]},
        )
        for pipeline in pipelines
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


def work(dataset: Dataset, pipelines: Sequence[Pipeline], setup: Setup) -> int:
    """The total that `run` reports as progress: each document once per space, each question once per recipe."""
    spaces, recipes = len(_companies(pipelines, setup)), len(pipelines)
    return sum(
        spaces * len(group.documents) + recipes * len(group.questions) for group in dataset.groups if group.questions
    )


def narrow_dataset(dataset: Dataset, *, groups: Sequence[str] = (), questions: int | None = None) -> Dataset:
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
        replace(group, questions=tuple(question for question in group.questions if next(numbered) in places))
        for group in groups
    )


def _run_group(
    group: Group, pipelines: Sequence[Pipeline], setup: Setup, unfinished: RunFiles | None, tell: Progress
) -> Iterator[tuple[str, tuple[Answer, ...]]]:
    known = {
        pipeline.name: unfinished.answers(pipeline.name, group.name) if unfinished else None for pipeline in pipelines
    }
    for name, answers in known.items():
        if answers is not None:
            tell(len(answers))
            yield name, answers
    for company in _companies(pipelines, setup):
        fresh = [pipeline for pipeline in company if known[pipeline.name] is None]
        if not fresh:
            tell(len(group.documents))
            continue
        with Space(group, fresh, setup, progress=tell) as space:
            for pipeline in fresh:
                answers = tuple(space.answers(pipeline.name, tell))
                if unfinished:
                    unfinished.add(pipeline.name, group.name, answers)
                yield pipeline.name, answers


def _companies(pipelines: Sequence[Pipeline], setup: Setup) -> list[list[Pipeline]]:
    """The recipes that may share a space, so that the figures of none depend on its company.

    Tags are rows that other recipes would count, and recalls change what is found later.
    """
    if setup.ingest == "used":
        return [[pipeline] for pipeline in pipelines]
    parts = [[pipeline for pipeline in pipelines if pipeline.follows_tags is tagged] for tagged in (False, True)]
    return [part for part in parts if part]

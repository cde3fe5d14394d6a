"""One bench from start to end: models by their settings, recipes with changes, a run that can be gone on with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memorist
from memorist.bench.cache import StoredEmbedder
from memorist.bench.journal import WorkFiles
from memorist.bench.model import Dataset
from memorist.bench.results import Conditions, Results, gather, machine
from memorist.bench.runner import LIMIT, Setup, chosen, run
from memorist.config import Config
from memorist.errors import InvalidInput
from memorist.models import embedders, rerankers
from memorist.models.embedders.cache import CachedEmbedder
from memorist.ports import Embedder, Progress
from memorist.recall.data import with_settings
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES, custom_recipes


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is to be measured, and with what."""

    pipelines: tuple[Pipeline, ...]
    setup: Setup
    cache: Path
    changes: Mapping[str, Any]
    reranker: str | None = None
    cached_queries: bool = False

    def measure(self, dataset: Dataset, *, fresh: bool = False, progress: Progress | None = None) -> Results:
        """Run every recipe, going on with an interrupted run unless `fresh`."""
        conditions = self._conditions()
        depends = (conditions.embedder, conditions.reranker, conditions.limit, conditions.live_queries)
        work = WorkFiles(self.cache, dataset, self.pipelines, *depends)
        if fresh:
            work.discard()
        runs = run(dataset, self.pipelines, self.setup, journal=work, progress=progress)
        results = gather(dataset, runs, self.pipelines, self.setup, conditions)
        work.discard()
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
    """The session that settings and options describe; `changes` are written `stage.parameter=value`."""
    known = {**RECIPES, **custom_recipes(config.recipes)}
    wanted = parsed(changes)
    pipelines = changed(chosen(list(recipes) or [config.recipe], known), wanted)
    embedder = _without_memory(embedders.build(config.embedder, options=config.embedder_options))
    reranker, packaged = rerankers.build(config.reranker), rerankers.packaged_for(config.reranker)
    stored = None if embedder is None else StoredEmbedder(embedder, cache, queries=cached_queries)
    return Experiment(
        pipelines=tuple(pipelines),
        setup=Setup(stored, reranker, limit, packaged),
        cache=cache,
        changes=wanted,
        reranker=config.reranker if reranker or packaged else None,
        cached_queries=cached_queries,
    )


def parsed(changes: Sequence[str]) -> dict[str, Any]:
    """Changes by part and parameter; a value is read as JSON, and as plain text if it is none."""
    settings: dict[str, Any] = {}
    for change in changes:
        path, separator, value = change.partition("=")
        if not separator or "." not in path.strip(". "):
            raise InvalidInput(
                f"{change!r} sets nothing", remedy="Write it as stage.parameter=value, such as rrf.k=20."
            )
        try:
            settings[path.strip()] = json.loads(value)
        except ValueError:
            settings[path.strip()] = value.strip()
    return settings


def changed(pipelines: Sequence[Pipeline], settings: Mapping[str, Any]) -> list[Pipeline]:
    """Every pipeline with the settings that concern its parts; one that concerns none of them is refused."""
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
    """The model itself: the second recipe to ask a question must not find its vector ready."""
    return embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder

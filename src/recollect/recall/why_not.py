"""Explain an absence: which stage dropped a memory, its score there, and what would have been enough."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from recollect.model import Candidate, Memory, Recall, RecallRequest, Step
from recollect.recall.pipeline import Pipeline
from recollect.recall.stage import Env, Stage


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a memory is not in an answer; `stage` is None when it is."""

    id: str
    stage: str | None
    reason: str
    score: float | None = None
    enough: float | None = None

    def __str__(self) -> str:
        return self.reason


def why_not(pipeline: Pipeline, request: RecallRequest, env: Env, memory: Memory) -> Absence:
    """Run the recall again, without counting it, and follow one memory through it."""
    request = replace(request, track=False)
    recall = pipeline.run(request, env)
    item = next((item for item in recall.items if item.memory.id == memory.id), None)
    if item is not None:
        return Absence(memory.id, None, f"it is in the answer, at rank {item.rank}", item.score)
    if refusals := recall.request.where.refusals(memory):
        return Absence(memory.id, "filter", f"the filter leaves it out: {'; '.join(refusals)}")
    wide = _widened(pipeline, env).run(request, env)
    return _dropped(recall, wide, memory.id) or _not_found(recall, wide, memory.id)


def _dropped(recall: Recall, wide: Recall, id: str) -> Absence | None:
    """The first stage that had the memory, or its hit, before and no longer after."""
    present = any(hit.id == id for found in recall.trace.found.values() for hit in found.hits)
    last: Candidate | None = None
    for step in recall.trace.steps:
        now = _candidate(step, id)
        if present and now is None and step.candidates and last is None:
            return _absence(step, id, _score_in(wide, step.stage, id))
        if last is not None and now is None:
            return _absence(step, id, last.score)
        last = now or last
    return None


def _absence(step: Step, id: str, score: float | None) -> Absence:
    enough = min((one.score for one in step.candidates), default=None)
    own = "" if score is None else f" with a score of {score:.4g}"
    wanted = "" if enough is None else f"; the last one kept has {enough:.4g}"
    return Absence(id, step.stage, f"{step.stage} dropped it{own}{wanted}", score, enough)


def _not_found(recall: Recall, wide: Recall, id: str) -> Absence:
    """No signal brought it: the one that came nearest, and the score its last hit had."""
    reports = [_nearness(recall, wide, name, id) for name in recall.trace.found]
    near = [report for report in reports if report is not None]
    silent = [f"{name} did not look: {found.skipped}" for name, found in recall.trace.found.items() if found.skipped]
    if not near:
        told = "; ".join(["no signal finds anything of the query in it", *silent])
        return Absence(id, "search", told)
    name, rank, score, enough = min(near, key=lambda report: report[1])
    missed = f"it is number {rank} by {name} with {score:.4g}; the last one asked for has {enough:.4g}"
    return Absence(id, f"search.{name}", "; ".join([missed, *silent]), score, enough)


def _nearness(recall: Recall, wide: Recall, name: str, id: str) -> tuple[str, int, float, float] | None:
    asked = recall.trace.found[name].hits
    everything = wide.trace.found.get(name)
    if everything is None or not asked:
        return None
    return next(
        ((name, rank, hit.score, asked[-1].score) for rank, hit in enumerate(everything.hits, 1) if hit.id == id), None
    )


def _widened(pipeline: Pipeline, env: Env) -> Pipeline:
    """The same pipeline with room for everything in its searches and its fusion."""
    return replace(pipeline, stages=tuple(_wide(stage, max(env.view.size, 1)) for stage in pipeline.stages))


def _wide(stage: Stage, room: int) -> Stage:
    wider: dict[str, Any] = {"keep": room, "times": room, "limit": room, "adaptive": False}
    names = {field.name for field in fields(stage)}  # pyright: ignore[reportArgumentType]  # every stage is a dataclass
    if "signals" not in names and "keep" not in names and "until_enough" not in names:
        return stage
    return replace(stage, **{name: value for name, value in wider.items() if name in names})  # pyright: ignore[reportArgumentType, reportUnknownVariableType]


def _candidate(step: Step, id: str) -> Candidate | None:
    return next((one for one in step.candidates if one.memory.id == id), None)


def _score_in(recall: Recall, stage: str, id: str) -> float | None:
    steps = (step for step in recall.trace.steps if step.stage == stage)
    return next((one.score for step in steps if (one := _candidate(step, id))), None)

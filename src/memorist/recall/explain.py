"""Why an item has its rank, and why a memory is missing from an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from memorist.errors import ModelUnavailable, NotFound
from memorist.model import Candidate, Found, Memory, Recall, RecallRequest, Step
from memorist.recall.pipeline import Pipeline, first_draft, run_stage
from memorist.recall.search import Search
from memorist.recall.select import DropShown, MinimumScore, Noise, Scope
from memorist.recall.stage import Draft, Env, Signal, Stage, missing_service
from memorist.results.finding import Absence, Explanation


def explain(recall: Recall, id: str) -> Explanation:
    """How an item of a recall got its score and its rank."""
    item = next((item for item in recall.items if item.memory.id == id), None)
    if item is None:
        raise NotFound(
            f"Memory {id!r} is not in this recall", remedy="Call why_not(query, id) to see why it was left out."
        )
    signals = Explanation(
        "found by",
        details=tuple(
            Explanation(
                f"from {name}: {_ranked(one.rank)}, score {one.score:.4g}",
                one.norm,
                tuple(Explanation(part, value) for part, value in one.parts),
            )
            for name, one in item.signals.items()
        ),
    )
    skipped = [f"{name} ({found.skipped})" for name, found in recall.trace.found.items() if found.skipped]
    not_run = (Explanation(f"did not search: {', '.join(skipped)}"),) if skipped else ()
    return Explanation(
        f"rank {item.rank} of {len(recall.items)} by recipe {recall.recipe!r}: {item.memory.text[:80]!r}",
        item.score,
        (signals, *not_run, *_effects(recall.trace.steps, id)),
    )


def _ranked(rank: int | None) -> str:
    return "computed for it" if rank is None else f"rank {rank}"


def _effects(steps: tuple[Step, ...], id: str) -> tuple[Explanation, ...]:
    effects: list[Explanation] = []
    before: tuple[int, Candidate] | None = None
    for step in steps:
        now = _place(step, id)
        if now is not None and now != before:
            effects.append(_effect(step, before, now))
            before = now
    return tuple(effects)


def _place(step: Step, id: str) -> tuple[int, Candidate] | None:
    return next(((rank, one) for rank, one in enumerate(step.candidates, 1) if one.memory.id == id), None)


def _effect(step: Step, before: tuple[int, Candidate] | None, now: tuple[int, Candidate]) -> Explanation:
    rank, candidate = now
    moved = f"rank {rank}" if before is None or before[0] == rank else f"rank {before[0]} → {rank}"
    rescored = before is None or before[1].parts is not candidate.parts
    parts = candidate.parts.items() if rescored else ()
    return Explanation(
        f"{step.stage}: {moved} of {len(step.candidates)}",
        candidate.score,
        tuple(Explanation(name, value) for name, value in parts),
    )


IGNORE_SCORE = (Scope.kind, Noise.kind, DropShown.kind)
"""Stages that drop a memory for a reason other than its score."""


def why_not(pipeline: Pipeline, request: RecallRequest, env: Env, memory: Memory) -> Absence:
    """Run the recall again, without counting it, and follow one memory through it."""
    request = replace(request, track=False)
    recall = pipeline.run(request, env)
    item = next((item for item in recall.items if item.memory.id == memory.id), None)
    if item is not None:
        return Absence(memory.id, None, f"it is in the answer, at rank {item.rank}", item.score)
    if refusals := recall.request.where.refusals(memory):
        return Absence(memory.id, "filter", f"the filter excludes it: {'; '.join(refusals)}")
    minimum = next((stage.minimum(env.view.size) for stage in pipeline.stages if isinstance(stage, MinimumScore)), None)
    if dropped := _dropped(recall, minimum, memory.id):
        return dropped
    if any(hit.id == memory.id for found in recall.trace.found.values() for hit in found.hits):
        return _not_fused(recall, _widened(pipeline, env, "keep").run(request, env), memory.id)
    if _only_searches(pipeline):
        return _not_found(recall, _places(pipeline, request, env, memory.id), memory.id)
    wide = _widened(pipeline, env, "keep", "times", "limit", "params").run(request, env)
    places = {name: _place_in(found, memory.id) for name, found in wide.trace.found.items()}
    return _refused_node(pipeline, recall, wide, memory) or _not_found(recall, places, memory.id)


def _only_searches(pipeline: Pipeline) -> bool:
    """Whether its signals run side by side, each for itself, and nothing but their hits decides what is found."""
    from memorist.recall.nodes import Nodes

    searching = [stage for stage in pipeline.stages if stage.gives == "hits" or isinstance(stage, Nodes)]
    return all(isinstance(stage, Search) for stage in searching)


Places = Mapping[str, tuple[int, float] | None]
"""The rank and the score of a memory by each signal that finds it, without limits."""


def _places(pipeline: Pipeline, request: RecallRequest, env: Env, id: str) -> Places:
    """The places of a memory, without the hits before it."""
    draft, found = first_draft(request), dict[str, tuple[int, float] | None]()
    for stage in pipeline.stages:
        if isinstance(stage, Search):
            found |= {
                signal.kind: _place_by(signal, draft, env, id)
                for signal in stage.signals
                if not missing_service(signal, env)
            }
        if stage.gives == "candidates":
            break
        draft, _ = run_stage(stage, draft, env)
    return found


def _place_by(signal: Signal, draft: Draft, env: Env, id: str) -> tuple[int, float] | None:
    try:
        return signal.place(draft, env, id)
    except ModelUnavailable:
        return None


def _place_in(found: Found, id: str) -> tuple[int, float] | None:
    return next(((rank, hit.score) for rank, hit in enumerate(found.hits, 1) if hit.id == id), None)


def _dropped(recall: Recall, minimum: float | None, id: str) -> Absence | None:
    """The absence caused by the stage after the last one that had the memory among its candidates."""
    last: Candidate | None = None
    dropper: Step | None = None
    for step in recall.trace.steps:
        if step.signal is not None:  # its step has no candidates
            continue
        now = _candidate(step, id)
        if now is not None:
            last, dropper = now, None
        elif last is not None and dropper is None:
            dropper = step
    if last is None or dropper is None:
        return None
    return _absence(dropper, id, last.score, minimum if dropper.stage == MinimumScore.kind else None)


def _not_fused(recall: Recall, roomy: Recall, id: str) -> Absence:
    """A signal found it, but the first stage with candidates did not keep it; `roomy` has its score."""
    fusion = next((step for step in recall.trace.steps if step.candidates), None)
    if fusion is None:
        return Absence(id, "search", "a signal found it, but no stage produced candidates")
    steps = (step for step in roomy.trace.steps if step.stage == fusion.stage)
    score = next((one.score for step in steps if (one := _candidate(step, id))), None)
    return _absence(fusion, id, score)


def _absence(step: Step, id: str, score: float | None, minimum: float | None = None) -> Absence:
    """The absence caused by a stage; if the score decided, with the score needed: the minimum, or the last one kept."""
    least = min((candidate.score for candidate in step.candidates), default=None) if minimum is None else minimum
    decided = least is not None and score is not None and score <= least and step.stage not in IGNORE_SCORE
    reasons = [f"{step.stage} dropped it" + ("" if score is None else f" with a score of {score:.4g}"), *step.notes]
    if decided and minimum is None:
        reasons.append(f"the last one kept has {least:.4g}")
    return Absence(id, step.stage, "; ".join(reasons), score, least if decided else None)


def _refused_node(pipeline: Pipeline, recall: Recall, wide: Recall, memory: Memory) -> Absence | None:
    """mnemosyne-graph: its kind does not fit the mode, or it is below the threshold or beyond the top-k of its kind."""
    from memorist.recall.nodes import TARGETS, Nodes

    nodes = next((stage for stage in pipeline.stages if isinstance(stage, Nodes)), None)
    step = next((step for step in wide.trace.steps if step.stage == Nodes.kind), None)
    if nodes is None or step is None:
        return None
    mode = recall.trace.mode or "mixed"
    one = _candidate(step, memory.id)
    if memory.kind not in TARGETS[mode] and one is None:
        wanted = ", ".join(TARGETS[mode])
        return Absence(memory.id, Nodes.kind, f"a question of mode {mode} asks for {wanted}, and it is {memory.kind}")
    if one is None:
        return None
    tested, threshold = nodes.tested(one), nodes.threshold(one)
    if tested < threshold:
        reason = f"its {nodes.threshold_on} is {tested:.4g}, and {memory.kind} memories need {threshold:.4g}"
        return Absence(memory.id, Nodes.kind, reason, tested, threshold)
    return _beyond_top(recall, Nodes.kind, one)


def _beyond_top(recall: Recall, kind: str, one: Candidate) -> Absence:
    kept = next(step for step in recall.trace.steps if step.stage == kind).candidates
    same = [other.score for other in kept if other.memory.kind is one.memory.kind]
    enough = min(same, default=None)
    reason = (
        f"its score is {one.score:.4g}, and {len(same)} {one.memory.kind} memories score at least {enough or 0:.4g}"
    )
    return Absence(one.memory.id, kind, reason, one.score, enough)


def _not_found(recall: Recall, places: Places, id: str) -> Absence:
    """No signal returned it: the signal that ranked it highest, and the score of that signal's last hit."""
    reports = [_nearness(recall, places, name) for name in recall.trace.found]
    near = [report for report in reports if report is not None]
    skipped = [f"{name} did not search: {found.skipped}" for name, found in recall.trace.found.items() if found.skipped]
    if not near:
        return Absence(id, "search", "; ".join(["no signal matches it with the query", *skipped]))
    name, rank, score, enough = min(near, key=lambda report: report[1])
    missed = f"{name} ranks it {rank} with {score:.4g}; the last one requested has {enough:.4g}"
    return Absence(id, f"search.{name}", "; ".join([missed, *skipped]), score, enough)


def _nearness(recall: Recall, places: Places, name: str) -> tuple[str, int, float, float] | None:
    asked, place = recall.trace.found[name].hits, places.get(name)
    return None if place is None or not asked else (name, *place, asked[-1].score)


def _widened(pipeline: Pipeline, env: Env, *what: str) -> Pipeline:
    """The same pipeline without limits in its searches or its fusion."""
    return replace(pipeline, stages=tuple(_wide(stage, max(env.view.size, 1), what) for stage in pipeline.stages))


def _wide(stage: Stage, room: int, what: tuple[str, ...]) -> Stage:
    from memorist.recall.nodes import TARGETS, Nodes

    wider: dict[str, Any] = {"keep": room, "times": room, "limit": room}
    if isinstance(stage, Nodes):
        wider["params"] = {
            kind: {**stage.params_of(kind), "threshold": 0.0, "top_k": room} for kind in TARGETS["mixed"]
        }
    names = [field.name for field in fields(stage) if field.name in what and field.name in wider]  # pyright: ignore[reportArgumentType]  # every stage is a dataclass
    return replace(stage, **{name: wider[name] for name in names})  # pyright: ignore[reportArgumentType, reportUnknownVariableType]


def _candidate(step: Step, id: str) -> Candidate | None:
    place = _place(step, id)
    return None if place is None else place[1]

"""Sessions: the runs of an agent, their steps and rewards, and what was learnt from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from memorist.engine.engine import Engine
from memorist.engine.vocabulary import run_of
from memorist.errors import NotFound
from memorist.model import MOST_CLASSIFIED, PROVENANCE, Kind, Memory
from memorist_server.inspector.browse import newest
from memorist_server.inspector.calls import Reading
from memorist_server.inspector.pages import show

router = APIRouter(prefix="/inspect/{space}/sessions")
PAGE = 50
MOST_STEPS = 500
STATES = ("open", "closed", "failed")
LESSONS = {
    Kind.PROCEDURAL: "How it is done",
    Kind.SEMANTIC: "What is true",
    Kind.SUBGOAL: "Subgoals",
}
"""The kinds of lessons that are shown, with their titles."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of a session, with the reward that it was given or that was read from what followed."""

    number: int
    memory: Memory
    observation: str
    action: str
    subgoal: str
    reward: float | None


@router.get("")
async def sessions(request: Request, call: Reading) -> Response:
    """The sessions, newest first."""
    cursor = request.query_params.get("cursor") or None
    page = await call.run(
        lambda engine: newest(
            engine,
            PAGE,
            cursor,
            kinds=[Kind.SOURCE],
            where={"metadata.state": {"in": list(STATES)}},
            max_classification=MOST_CLASSIFIED,
        )
    )
    return show(request, "sessions.html", view="sessions", page=page)


@router.get("/{id:path}")
async def session(request: Request, call: Reading, id: str) -> Response:
    """One session: its steps in order, and its lessons with the steps they rest on."""
    found = await call.run(lambda engine: _found(engine, id))
    return show(request, "session.html", view="sessions", **found)


def _found(engine: Engine, id: str) -> dict[str, Any]:
    run = run_of(engine.store, id)
    if run is None:
        raise NotFound(f"There is no session {id!r}", remedy="Choose one of the list of sessions.")
    first = max(0, run.steps - MOST_STEPS)
    steps = [_step(step) for step in run.steps_after(first, engine.store)]
    return {
        "run": run,
        "started": run.memory.times.ingested_at,
        "steps": steps,
        "left_out": first,
        "lessons": _lessons(engine, steps),
        "reward": _mean([step.reward for step in steps if step.reward is not None]),
    }


def _step(memory: Memory) -> StepRow:
    said, usage = memory.metadata, memory.usage
    stated = said.get("reward")
    return StepRow(
        memory.origin.position or 0,
        memory,
        str(said.get("observation") or memory.text),
        str(said.get("action") or ""),
        str(said.get("subgoal") or ""),
        stated if stated is not None or usage is None else usage.mean_reward,
    )


def _mean(rewards: Sequence[float]) -> float | None:
    return sum(rewards) / len(rewards) if rewards else None


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as runs without a gap: 1, 2, 3, 7 as 1 to 3 and 7 to 7."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        begins = not found or number > found[-1][1] + 1
        found[-1:] = [*found[-1:], (number, number)] if begins else [(found[-1][0], number)]
    return found


def _lessons(engine: Engine, steps: Sequence[StepRow]) -> dict[str, list[tuple[Memory, list[tuple[int, int]]]]]:
    """What rests on the steps, by kind, each with the spans of its steps."""
    numbers = {step.memory.id: step.number for step in steps}
    rests: dict[str, list[int]] = {}
    for link in engine.store.links(list(numbers), PROVENANCE):
        if link.target in numbers:
            rests.setdefault(link.source, []).append(numbers[link.target])
    known = engine.store.get([id for id in rests if id not in numbers])
    return {
        title: [
            (memory, spans(rests[memory.id]))
            for memory in known.values()
            if memory.kind is kind and memory.version_of is None
        ]
        for kind, title in LESSONS.items()
        if any(memory.kind is kind for memory in known.values())
    }

"""A session as the store keeps it: one memory of kind source for the run, one episodic memory per step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from memorist.asking.session import Turn
from memorist.errors import InvalidInput
from memorist.model import Kind, Link, Memory, isoformat, memory_id, within
from memorist.ports import Reader
from memorist.remember.record import record
from memorist.remember.sessions.links import PROVENANCE

TASK = "session"
"""The task of a session's job, which commits it when it has been idle."""
State = Literal["open", "closed", "failed"]


@dataclass(frozen=True, slots=True)
class Run:
    """A session's memory, read: how many steps it has, and how many of them were learnt from."""

    id: str
    memory: Memory

    @property
    def goal(self) -> str | None:
        """What the agent was to achieve."""
        return self.memory.metadata.get("goal")

    @property
    def state(self) -> State:
        """Open, closed, or failed: what was learnt could not be told yet, and is tried again."""
        return self.memory.metadata.get("state", "open")

    @property
    def steps(self) -> int:
        """The number of the last step."""
        return self.memory.metadata.get("steps", 0)

    @property
    def learnt(self) -> int:
        """The number of the last step that was learnt from."""
        return self.memory.metadata.get("learnt", 0)

    def steps_after(self, number: int, reader: Reader) -> list[Memory]:
        """The steps after one, in order; those that were forgotten are left out."""
        keys = (step_key(self.id, later) for later in range(number + 1, self.steps + 1))
        known = reader.get([memory_id("", scope=self.memory.scope, key=key) for key in keys])
        return sorted(known.values(), key=lambda step: step.origin.position or 0)

    def revised(self, **metadata: Any) -> Memory:
        """Its memory with other metadata."""
        return replace(self.memory, metadata={**self.memory.metadata, **metadata})


def session_key(id: str) -> str:
    """The key of a session's own memory."""
    return f"session/{id}"


def step_key(id: str, number: int) -> str:
    """The key of a step."""
    return f"step/{number}/session/{id}"


def subgoal_key(id: str, first: int | None) -> str:
    """The key of the subgoal of the trajectory that begins with this step."""
    return f"subgoal/{first}/session/{id}"


def run_of(reader: Reader, id: str) -> Run | None:
    """A session, or None where there is none of that id."""
    found = [one for one in reader.keyed([session_key(id)]) if one.version_of is None and one.kind is Kind.SOURCE]
    return Run(id, found[-1]) if found else None


def run_memory(id: str, goal: str | None, scope: str, now: datetime) -> Memory:
    """The memory of a new session; its text is the goal."""
    started = {"goal": goal, "state": "open", "started": isoformat(now), "steps": 0, "learnt": 0, "error": None}
    return record(
        goal or f"Session {id}.",
        now,
        kind=Kind.SOURCE,
        scope=scope,
        key=session_key(id),
        session=id,
        metadata=started,
    )


def step_text(observation: str, action: str | None) -> str:
    """A step in words: what was observed, as it was, and the action on a line of its own."""
    did = f"Action: {action}" if action and action.strip() else ""
    return "\n".join(part for part in (observation, did) if part)


def checked_step(run: Run, observation: str, action: str | None, reward: float | None, now: datetime) -> Memory:
    """The memory of a session's next step."""
    for name, side in (("observation", observation), ("action", action or "")):
        if not isinstance(side, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"{name} is a {type(side).__name__}", remedy="Give a string.")
    if reward is not None:
        within("reward", reward, 0, 1)
    number = run.steps + 1
    return record(
        step_text(observation, action),
        now,
        kind=Kind.EPISODIC,
        scope=run.memory.scope,
        source=session_key(run.id),
        session=run.id,
        position=number,
        key=step_key(run.id, number),
        metadata={"observation": observation, "action": action, "reward": reward},
    )


def step_link(run: Run, step: Memory) -> Link:
    """A step comes from its session."""
    return Link(step.id, PROVENANCE, run.memory.id)


def turns_of(steps: Sequence[Memory]) -> list[Turn]:
    """Steps as they are shown to whoever reads them."""
    return [_turn(step.metadata) for step in steps]


def _turn(given: Mapping[str, Any]) -> Turn:
    return Turn(given.get("observation") or "", given.get("action") or "", reward=given.get("reward"))

"""The prompts for sessions: annotations of steps, and lessons from trajectories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from memorist.asking.wording import Schema, clip, maybe, number, record, several, text

if TYPE_CHECKING:
    from memorist.asking.asker import LLMAsker

SESSION_CHUNK = 10
"""How many steps are annotated per call."""
CONTEXT = 3
"""How many previous steps are shown as context."""
LONGEST_SIDE = 1500


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One step of an agent: its observation and action, and its state and reward if known."""

    observation: str
    action: str
    state: str | None = None
    reward: float | None = None

    def to_data(self, place: int) -> dict[str, Any]:
        """The step as the model sees it, without unknown fields."""
        known = {"state": self.state and clip(self.state, 600), "reward": self.reward}
        return {
            "step": place,
            "observation": clip(self.observation, LONGEST_SIDE),
            "action": clip(self.action, LONGEST_SIDE),
            **{name: value for name, value in known.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Annotation:
    """The state and subgoal of a step in words, and its reward from 0 to 1; None if the outcome is unknown."""

    state: str
    subgoal: str
    reward: float | None


def annotate(asker: LLMAsker, goal: str, turns: Sequence[AgentStep]) -> list[Annotation]:
    """One annotation per step, in order. A step is judged by the observation that follows it.

    Up to ten steps per call. Small models may stop early, so the next call continues where the answer ended. Each call
    also sees the previous steps with their subgoals, so that the wording of a subgoal does not change.
    """
    done: list[Annotation] = []
    while len(done) < len(turns):
        done += _chunk(asker, goal, turns, done)
    return done


def _chunk(asker: LLMAsker, goal: str, turns: Sequence[AgentStep], done: Sequence[Annotation]) -> list[Annotation]:
    start, end = len(done), min(len(done) + SESSION_CHUNK, len(turns))
    following = turns[end].observation if end < len(turns) else None
    data = {
        "goal": clip(goal, LONGEST_SIDE),
        "previous": [
            {**turns[place].to_data(place + 1), "subgoal": done[place].subgoal}
            for place in range(max(0, start - CONTEXT), start)
        ],
        "steps": [turns[place].to_data(place + 1) for place in range(start, end)],
        "next_observation": following and clip(following, LONGEST_SIDE),
    }
    one = record(state=text(600), subgoal=text(200), reward=maybe(number(0, 1)))
    schema = record(steps=several(one, 1, end - start))
    return asker.ask("annotate", data, schema, lambda answer: [_annotation(step) for step in answer["steps"]])


def _annotation(step: dict[str, Any]) -> Annotation:
    reward = step["reward"]
    return Annotation(step["state"].strip(), step["subgoal"].strip(), None if reward is None else float(reward))


TRAJECTORY_CHUNK = 30
"""How many steps of a trajectory are read per call."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proposition:
    """A fact that a trajectory shows, its concepts in lower case, and its confidence."""

    text: str
    concepts: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction with its intent, condition and outcome."""

    intent: str
    condition: str
    instruction: str
    outcome: str


def propositions(asker: LLMAsker, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> tuple[Proposition, ...]:
    """The facts that a trajectory shows."""
    one = record(text=text(500), concepts=several(text(60), 1, 6), confidence=number(0, 1))
    return _learnt(asker, "propositions", (goal, subgoal), turns, one, _proposition)


def instructions(asker: LLMAsker, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> tuple[Instruction, ...]:
    """The instructions that can be learnt from a trajectory."""
    one = record(intent=text(200), condition=text(400), instruction=text(1000), outcome=text(400))
    return _learnt(asker, "instructions", (goal, subgoal), turns, one, _instruction)


def _learnt(
    asker: LLMAsker,
    step: str,
    aims: tuple[str, str],
    turns: Sequence[AgentStep],
    one: Schema,
    make: Callable[[dict[str, Any]], T | None],
) -> tuple[T, ...]:
    schema = record(**{step: several(one, 0, 20)})
    goal, subgoal = (clip(aim, LONGEST_SIDE) for aim in aims)

    def learnt(answer: Any) -> list[T]:
        return [made for given in answer[step] if (made := make(given)) is not None]

    found: list[T] = []
    for start in range(0, len(turns), TRAJECTORY_CHUNK):
        steps = [turn.to_data(place) for place, turn in enumerate(turns[start : start + TRAJECTORY_CHUNK], start + 1)]
        found += asker.ask(step, {"goal": goal, "subgoal": subgoal, "steps": steps}, schema, learnt)
    return tuple(dict.fromkeys(found))


def _proposition(given: dict[str, Any]) -> Proposition | None:
    concepts = dict.fromkeys(" ".join(concept.casefold().split()) for concept in given["concepts"])
    said = given["text"].strip()
    return Proposition(said, tuple(filter(None, concepts)), float(given["confidence"])) if said else None


def _instruction(given: dict[str, Any]) -> Instruction | None:
    parts = {name: given[name].strip() for name in ("intent", "condition", "instruction", "outcome")}
    return Instruction(**parts) if parts["intent"] and parts["instruction"] else None

"""What a model tells of an agent's steps: the state each found, what it was for, and how well it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memorist.asking.asker import Asker
from memorist.asking.fence import clipped
from memorist.asking.shape import maybe, number, record, several, text

CHUNK = 10
"""Steps that are asked about at once."""
CONTEXT = 3
"""Steps before them that are shown."""
LONGEST_SIDE = 1500


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of an agent: what it saw and what it did; state and reward where they are known."""

    observation: str
    action: str
    state: str | None = None
    reward: float | None = None

    def to_data(self, place: int) -> dict[str, Any]:
        """What the model is shown; what is not known is left out."""
        known = {"state": self.state and clipped(self.state, 600), "reward": self.reward}
        return {
            "step": place,
            "observation": clipped(self.observation, LONGEST_SIDE),
            "action": clipped(self.action, LONGEST_SIDE),
            **{name: value for name, value in known.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Annotation:
    """A step's state and subgoal in words, and its reward from 0 to 1; None when nothing shows how it went."""

    state: str
    subgoal: str
    reward: float | None


def annotate(asker: Asker, goal: str, turns: Sequence[Turn]) -> list[Annotation]:
    """One annotation per step, in order; a step is judged by the observation that follows it.

    Ten steps a call, and on from wherever an answer stops: small models tire. A call is shown the steps before its own
    with their subgoals, so that one subgoal keeps its words.
    """
    done: list[Annotation] = []
    while len(done) < len(turns):
        done += _chunk(asker, goal, turns, done)
    return done


def _chunk(asker: Asker, goal: str, turns: Sequence[Turn], done: Sequence[Annotation]) -> list[Annotation]:
    start, end = len(done), min(len(done) + CHUNK, len(turns))
    following = turns[end].observation if end < len(turns) else None
    data = {
        "goal": clipped(goal, LONGEST_SIDE),
        "previous": [
            {**turns[place].to_data(place + 1), "subgoal": done[place].subgoal}
            for place in range(max(0, start - CONTEXT), start)
        ],
        "steps": [turns[place].to_data(place + 1) for place in range(start, end)],
        "next_observation": following and clipped(following, LONGEST_SIDE),
    }
    one = record(state=text(600), subgoal=text(200), reward=maybe(number(0, 1)))
    schema = record(steps=several(one, 1, end - start))
    return asker.ask("annotate", data, schema, lambda answer: [_annotation(step) for step in answer["steps"]])


def _annotation(step: dict[str, Any]) -> Annotation:
    reward = step["reward"]
    return Annotation(step["state"].strip(), step["subgoal"].strip(), None if reward is None else float(reward))

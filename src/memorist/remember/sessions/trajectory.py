"""Cut a session into trajectories: runs of steps that serve one subgoal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING

from memorist.asking.session import Annotation, Turn
from memorist.model import Memory
from memorist.remember.sessions.extractor import UNKNOWN_REWARD, clean
from memorist.remember.sessions.likeness import neighbouring
from memorist.remember.sessions.subgoals import SAME_SUBGOAL

if TYPE_CHECKING:
    from memorist.ports import Vector

UNNAMED = "go on"
"""The subgoal of steps that say nothing about what they are for."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was read: its memory, what is shown of it, and what it was for."""

    memory: Memory
    turn: Turn
    subgoal: str

    @property
    def reward(self) -> float:
        """How well it went: as the agent was told, else as it was judged, else 0.5."""
        return UNKNOWN_REWARD if self.turn.reward is None else self.turn.reward


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Consecutive steps that serve one subgoal."""

    steps: tuple[Step, ...]

    @property
    def subgoal(self) -> str:
        """The wording that most of its steps have, the first among equals."""
        return Counter(step.subgoal for step in self.steps).most_common(1)[0][0]

    @property
    def reward(self) -> float:
        """The mean reward of its steps."""
        return fsum(step.reward for step in self.steps) / len(self.steps)

    @property
    def turns(self) -> list[Turn]:
        """What is shown of its steps."""
        return [step.turn for step in self.steps]


def annotated(memories: Sequence[Memory], turns: Sequence[Turn], found: Sequence[Annotation], goal: str) -> list[Step]:
    """Steps with what was found about them; a given reward stands, a missing subgoal is that of the step before."""
    steps: list[Step] = []
    for memory, turn, one in zip(memories, turns, found, strict=True):
        subgoal = clean(one.subgoal) or (steps[-1].subgoal if steps else goal or UNNAMED)
        reward = one.reward if turn.reward is None else turn.reward
        steps.append(Step(memory, replace(turn, state=clean(one.state) or None, reward=reward), subgoal))
    return steps


def cut(steps: Sequence[Step], embed: Callable[[Sequence[str]], Vector | None]) -> list[Trajectory]:
    """A new trajectory opens where a subgoal's cosine with the one before it is below 0.75; words without vectors."""
    texts = [step.subgoal for step in steps]
    runs: list[list[Step]] = []
    for step, alike in zip(steps, [None, *neighbouring(texts, _rows(texts, embed))], strict=False):
        if alike is None or alike < SAME_SUBGOAL:
            runs.append([])
        runs[-1].append(step)
    return [Trajectory(tuple(run)) for run in runs]


def _rows(texts: Sequence[str], embed: Callable[[Sequence[str]], Vector | None]) -> Vector | None:
    """Each wording is embedded once; most steps share theirs."""
    distinct = list(dict.fromkeys(texts))
    rows = embed(distinct)
    return None if rows is None else rows[[distinct.index(text) for text in texts]]

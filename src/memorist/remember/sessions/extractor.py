"""What is asked about a session: of a language model or of rules, in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memorist.asking.session import Annotation, Turn
from memorist.asking.trajectory import Instruction, Proposition

UNKNOWN_REWARD = 0.5
"""The reward of a step that nothing shows to have helped or harmed."""


class Extractor(Protocol):
    """Reads an agent's steps. Raises ModelUnavailable when it cannot for now."""

    @property
    def name(self) -> str:
        """Who it is: `rules`, or the model's name."""
        ...

    def annotate(self, goal: str, turns: Sequence[Turn]) -> Sequence[Annotation]:
        """State, subgoal and reward of each step; a step's reward shows in the observation after it."""
        ...

    def propositions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> Sequence[Proposition]:
        """What a trajectory shows to be so."""
        ...

    def instructions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> Sequence[Instruction]:
        """What a trajectory shows about how to do things."""
        ...


def clean(text: str) -> str:
    """A text that can be stored, whoever wrote it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode().strip()

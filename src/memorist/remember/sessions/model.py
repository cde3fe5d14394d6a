"""Read a session with a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from memorist.asking import Asker, Askers, BudgetSpent
from memorist.asking import session as asking_session
from memorist.asking import trajectory as asking_trajectory
from memorist.asking.session import Annotation, Turn
from memorist.asking.trajectory import Instruction, Proposition
from memorist.remember.sessions.extractor import Extractor

T = TypeVar("T")


class Model:
    """Asks a model, with a budget for the annotations and one for each thing asked of a trajectory.

    A step that has no model, or finds its budget spent, is done by `otherwise`: asking again would spend it again.
    """

    def __init__(self, askers: Askers, otherwise: Extractor) -> None:
        self._askers = askers
        self._otherwise = otherwise

    @property
    def name(self) -> str:
        """The models in use."""
        asker = self._askers.for_extraction()
        steps = ("annotate", "propositions", "instructions")
        names = dict.fromkeys(asker and asker.model_for(step) for step in steps)
        return ", ".join(name or self._otherwise.name for name in names)

    def annotate(self, goal: str, turns: Sequence[Turn]) -> Sequence[Annotation]:
        """State, subgoal and reward of each step."""
        return self._asked(
            "annotate",
            lambda asker: asking_session.annotate(asker, goal, turns),
            lambda: self._otherwise.annotate(goal, turns),
        )

    def propositions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> Sequence[Proposition]:
        """What a trajectory shows to be so."""
        return self._asked(
            "propositions",
            lambda asker: asking_trajectory.propositions(asker, goal, subgoal, turns),
            lambda: self._otherwise.propositions(goal, subgoal, turns),
        )

    def instructions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> Sequence[Instruction]:
        """What a trajectory shows about how to do things."""
        return self._asked(
            "instructions",
            lambda asker: asking_trajectory.instructions(asker, goal, subgoal, turns),
            lambda: self._otherwise.instructions(goal, subgoal, turns),
        )

    def _asked(self, step: str, ask: Callable[[Asker], T], otherwise: Callable[[], T]) -> T:
        asker = self._askers.for_extraction()
        if asker is None or asker.model_for(step) is None:
            return otherwise()
        try:
            return ask(asker)
        except BudgetSpent:
            return otherwise()

"""Read a session without a language model."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from memorist.asking.session import Annotation, Turn
from memorist.asking.trajectory import Instruction, Proposition
from memorist.remember.sessions.extractor import UNKNOWN_REWARD
from memorist.remember.sessions.outcomes import outcome
from memorist.remember.sessions.statements import statements
from memorist.remember.sessions.subgoals import announced, as_phrase, subgoals
from memorist.text.sentences import sentences

WORTH_REPEATING = 0.4
"""A trajectory of less mean reward teaches no procedure: rules cannot tell which of its actions was the wrong one."""
MOST_ACTIONS = 12
LONGEST_ACTION, LONGEST_STATE = 300, 600


class Rules:
    """The deterministic counterpart of a model: the same answers in every process, and never unavailable."""

    name = "rules"

    def annotate(self, goal: str, turns: Sequence[Turn]) -> list[Annotation]:
        """State = first sentence of the observation; reward by the words of the next observation."""
        aims = subgoals(goal, turns)
        following = [*turns, None][1:]
        return [
            Annotation(first_sentence(turn.observation), aim, _reward(turn, after))
            for turn, aim, after in zip(turns, aims, following, strict=True)
        ]

    def propositions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> tuple[Proposition, ...]:
        """At most five plain statements of what was observed."""
        return statements(turns)

    def instructions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> tuple[Instruction, ...]:
        """The actions that did not fail, in order; none of a trajectory that failed as a whole."""
        rewards = [UNKNOWN_REWARD if turn.reward is None else turn.reward for turn in turns]
        worked = [turn for turn, reward in zip(turns, rewards, strict=True) if reward >= UNKNOWN_REWARD]
        kept = [turn.action for turn in worked if announced(turn) != as_phrase(subgoal)]  # what for is no what to do
        actions = list(dict.fromkeys(action for text in kept if (action := _clipped(text, LONGEST_ACTION))))
        if not actions or fsum(rewards) / len(rewards) < WORTH_REPEATING:
            return ()
        condition, outcome = first_sentence(turns[0].observation), first_sentence(turns[-1].observation)
        return (Instruction(as_phrase(subgoal), condition, "; ".join(actions[:MOST_ACTIONS]), outcome),)


def first_sentence(text: str) -> str:
    """The first sentence of a text, clipped."""
    found = sentences(text[: 4 * LONGEST_STATE])
    return _clipped(found[0], LONGEST_STATE) if found else ""


def _reward(turn: Turn, after: Turn | None) -> float | None:
    if turn.reward is not None:
        return turn.reward
    if after is not None:
        return outcome(after.observation)
    return None if turn.action else outcome(turn.observation)  # a last look tells how it all ended


def _clipped(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest].rstrip()} …"

"""What a model learns from a trajectory: what is so, and how things are done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memorist.asking.asker import Asker
from memorist.asking.fence import clipped
from memorist.asking.session import LONGEST_SIDE, Turn
from memorist.asking.shape import Schema, number, record, several, text

CHUNK = 30
"""Steps that are read at once."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proposition:
    """Something that a trajectory shows to be so, its concepts in lower case, and how sure that is."""

    text: str
    concepts: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Instruction:
    """What to do, what for, when, and what then happens."""

    intent: str
    condition: str
    instruction: str
    outcome: str


def propositions(asker: Asker, goal: str, subgoal: str, turns: Sequence[Turn]) -> tuple[Proposition, ...]:
    """What a trajectory shows to be so."""
    one = record(text=text(500), concepts=several(text(60), 1, 6), confidence=number(0, 1))
    return _learnt(asker, "propositions", (goal, subgoal), turns, one, _proposition)


def instructions(asker: Asker, goal: str, subgoal: str, turns: Sequence[Turn]) -> tuple[Instruction, ...]:
    """What a trajectory shows about how to do things."""
    one = record(intent=text(200), condition=text(400), instruction=text(1000), outcome=text(400))
    return _learnt(asker, "instructions", (goal, subgoal), turns, one, _instruction)


def _learnt(
    asker: Asker,
    step: str,
    aims: tuple[str, str],
    turns: Sequence[Turn],
    one: Schema,
    make: Callable[[dict[str, Any]], T | None],
) -> tuple[T, ...]:
    schema = record(**{step: several(one, 0, 20)})
    goal, subgoal = (clipped(aim, LONGEST_SIDE) for aim in aims)

    def learnt(answer: Any) -> list[T]:
        return [made for given in answer[step] if (made := make(given)) is not None]

    found: list[T] = []
    for start in range(0, len(turns), CHUNK):
        steps = [turn.to_data(place) for place, turn in enumerate(turns[start : start + CHUNK], start + 1)]
        found += asker.ask(step, {"goal": goal, "subgoal": subgoal, "steps": steps}, schema, learnt)
    return tuple(dict.fromkeys(found))


def _proposition(given: dict[str, Any]) -> Proposition | None:
    concepts = dict.fromkeys(" ".join(one.casefold().split()) for one in given["concepts"])
    said = given["text"].strip()
    return Proposition(said, tuple(filter(None, concepts)), float(given["confidence"])) if said else None


def _instruction(given: dict[str, Any]) -> Instruction | None:
    parts = {name: given[name].strip() for name in ("intent", "condition", "instruction", "outcome")}
    return Instruction(**parts) if parts["intent"] and parts["instruction"] else None

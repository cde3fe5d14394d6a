"""What sessions derive from their steps: the kinds, keys and words of it, for sessions and for forgetting."""

from __future__ import annotations

from functools import cache
from math import sqrt

from memorist.model import HIERARCHY, MEMBERSHIP, Kind, Memory
from memorist.text.phrases import stems
from memorist.text.words import STOP_WORDS

DERIVED = (Kind.SEMANTIC, Kind.PROCEDURAL, Kind.SUBGOAL, Kind.TAG, Kind.INTENT)
"""Kinds of memories that are made from others, and can be made again."""
LABELS = {Kind.TAG: MEMBERSHIP, Kind.INTENT: HIERARCHY}
"""Kinds that are only labels of other memories, each with the relation that leads to it."""
STEP_FINDINGS = ("state", "subgoal")
"""Metadata that a commit adds to a step."""


def is_label(memory: Memory) -> bool:
    """Whether a memory is a label that a session made; a caller may remember a tag, too, and it stands by itself."""
    return memory.kind in LABELS and bool(memory.metadata.get("by"))


def session_key(id: str) -> str:
    """The key of a session's own memory."""
    return f"session/{id}"


def step_key(id: str, number: int) -> str:
    """The key of a step."""
    return f"step/{number}/session/{id}"


def source_key(step: str) -> str:
    """The key of the source of a step, by the step's key."""
    return f"source/{step}"


def counterpart(key: str) -> str:
    """The key of a step's source, or of a source's step; both hold the same words and are forgotten together."""
    return key.removeprefix("source/") if key.startswith(source_key("step/")) else source_key(key)


def subgoal_key(id: str, first: int | None) -> str:
    """The key of the subgoal of the trajectory that begins with this step."""
    return f"subgoal/{first}/session/{id}"


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text's words without stop words; all stems of a text that has nothing else."""
    found = stems(text)
    return found - _common_stems() or found


@cache
def _common_stems() -> frozenset[str]:
    return frozenset(word for phrase in STOP_WORDS["en"] for word in stems(phrase))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """|A ∩ B| / √(|A|·|B|): the cosine of two sets of words."""
    return len(one & other) / sqrt(len(one) * len(other)) if one and other else float(one == other)

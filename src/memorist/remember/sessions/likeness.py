"""How alike short texts are: by an embedder's cosine, or without one by the words they share."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

from memorist.text.phrases import stems
from memorist.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from memorist.ports import Vector

_COMMON = frozenset(word for phrase in STOP_WORDS["en"] for word in stems(phrase))


def telling(text: str) -> frozenset[str]:
    """The stems of a text's words, without those of grammar unless nothing else is left."""
    found = stems(text)
    return found - _COMMON or found


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """|A ∩ B| / √(|A|·|B|): the cosine of two sets of words."""
    return len(one & other) / sqrt(len(one) * len(other)) if one and other else float(one == other)


def neighbouring(texts: Sequence[str], rows: Vector | None) -> list[float]:
    """How alike each text is to the one before it; `rows` are their vectors, if there are any."""
    if rows is not None:
        return [float(rows[place - 1] @ rows[place]) for place in range(1, len(texts))]
    words = [telling(text) for text in texts]
    return [shared(words[place - 1], words[place]) for place in range(1, len(texts))]

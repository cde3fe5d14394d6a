"""BM25, the one formula that every store scores by.

S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009,
with the inverse document frequency of Apache Lucene, which is never negative.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Number = TypeVar("Number", float, NDArray[np.float64])

K1 = 1.2
"""How soon more occurrences of a word stop mattering."""
B = 0.75
"""How much a long text is held against its words; 0 is not at all."""


def idf(documents: int, containing: int) -> float:
    """How much a word tells that is in `containing` of so many documents: ln(1 + (N − n + ½)/(n + ½))."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


def length_norm(length: Number, mean_length: float) -> Number:
    """The part of the formula that a document's length decides: k₁·(1 − b + b·length/mean)."""
    return K1 * (1 - B + B * length / mean_length)


def weight(frequency: Number, norm: Number) -> Number:
    """What `frequency` occurrences of a word are worth, before idf: f·(k₁ + 1)/(f + norm)."""
    return frequency * (K1 + 1) / (frequency + norm)

"""Int8 arithmetic of the finished models: one fixed scale for the input of a product, one for each column of weights.

    y = x W + b  ≈  s_x · s_column · ((q_x − z) q_W) + b
    q_x = round(x / (d · s_x)) + z,   q_W = round(d · W / s_column)

The scales of x are fixed when the model is made, so a text's result never depends on the texts that share its
batch, and nothing is measured while it runs. A few channels are far larger than the rest; dividing each by a
factor d that its rows of W take over lets one scale serve them all (SmoothQuant, Xiao et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Seven bits of weight: x86 processors without VNNI add two u8 × s8 products in 16 bits with saturation,
# and 2 · 255 · 63 still fits.
WEIGHT_LIMIT = 63
# A table row is only looked up, never multiplied in integers, so it has all eight bits.
TABLE_LIMIT = 127
STEPS = 255
SMALLEST = 1e-10  # a row or channel of zeros stays zeros
MIGRATION = 0.8  # the share of a channel's size that its weights take over; 0.5 to 0.9 tried, see README.md

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the largest value seen in each channel of an input."""

    low: Floats
    high: Floats

    def merged(self, other: Span) -> Span:
        return Span(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @property
    def size(self) -> Floats:
        return np.maximum(np.abs(self.low), np.abs(self.high))


def quantise_columns(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Integers and a scale for each output column of a weight matrix."""
    scale = np.maximum(np.abs(matrix).max(axis=0) / WEIGHT_LIMIT, SMALLEST).astype(np.float32)
    return np.rint(matrix / scale).astype(np.int8), scale


def quantise_rows(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Integers and a scale for each row of an embedding table."""
    scale = np.maximum(np.abs(table).max(axis=1, keepdims=True) / TABLE_LIMIT, SMALLEST)
    return np.rint(table / scale).astype(np.int8), scale.astype(np.float32)


def divisors(span: Span, matrix: Floats) -> Floats:
    """What to divide each channel by: size(x)^m / size(W)^(1−m), with a geometric mean of 1."""
    largest = np.maximum(np.abs(matrix).max(axis=1), SMALLEST)
    sizes = np.maximum(span.size, SMALLEST) ** MIGRATION / largest ** (1 - MIGRATION)
    return (sizes / np.exp(np.log(sizes).mean())).astype(np.float32)


def input_scale(span: Span, divided_by: Floats) -> tuple[np.float32, np.uint8]:
    """Scale and zero point that give every value of the span a step of its own; zero is one of them."""
    low = min(0.0, float((span.low / divided_by).min()))
    high = max(0.0, float((span.high / divided_by).max()))
    scale = max((high - low) / STEPS, SMALLEST)
    return np.float32(scale), np.uint8(round(-low / scale))

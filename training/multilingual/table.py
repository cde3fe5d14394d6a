"""A word table of four bits: two numbers a byte, and one scale a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
LEVELS = 7
"""Four bits: −8 to 7 around a zero that stays zero."""


def four_bits(table: Floats) -> tuple[NDArray[np.uint8], Floats]:
    """Two numbers a byte and a scale a row; each row is clipped where that loses least."""
    largest = np.abs(table).max(axis=1, keepdims=True)
    best, error, scale = np.zeros(table.shape, np.int8), np.full((len(table), 1), np.inf), largest.copy()
    for share in (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6):
        step = np.maximum(largest * share / LEVELS, 1e-12)
        integers = np.clip(np.rint(table / step), -8, LEVELS)
        loss = ((integers * step - table) ** 2).sum(axis=1, keepdims=True)
        better = loss < error
        best, error, scale = (
            np.where(better, integers, best).astype(np.int8),
            np.minimum(loss, error),
            np.where(better, step, scale),
        )
    shifted = (best + 8).astype(np.uint8)
    half = table.shape[1] // 2
    packed: NDArray[np.uint8] = shifted[:, :half] | np.left_shift(shifted[:, half:], np.uint8(4))
    return packed, scale[:, 0].astype(np.float32)


def unpacked(packed: NDArray[np.uint8], scale: Floats) -> Floats:
    """The table again, as the finished model reads it."""
    both = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    return both * scale[:, None]

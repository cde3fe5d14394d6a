"""What follows the size of the store: fitted by benchmarks/adaptive.py, told in docs/explanation/adaptive.md."""

from __future__ import annotations

from math import log2

SMALLEST, LARGEST = 100, 100_000
"""Memories below and above which nothing changes: fitted from 100 to 10,000, continued unmeasured to 100,000."""
POOL_A_DOUBLING = 1 / 3
"""The part of the fixed pool that serves the smallest store, and that each doubling of the store adds."""
MINIMUM_A_DOUBLING = 0.05
"""How much of the fixed minimum each doubling of the store takes away."""


def pool_share(size: int) -> float:
    """The number to multiply a fixed pool by: (1 + log2(size / 100)) / 3."""
    return POOL_A_DOUBLING * (1 + _doublings(size))


def minimum_share(size: int) -> float:
    """The number to multiply a fixed minimum score by: 1 − 0.05 · log2(size / 100)."""
    return 1 - MINIMUM_A_DOUBLING * _doublings(size)


def _doublings(size: int) -> float:
    return log2(min(max(size, SMALLEST), LARGEST) / SMALLEST)

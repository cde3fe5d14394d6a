"""Vectors as one bit a dimension, to find candidates among very many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.growing import Growing

Vectors = NDArray[np.float32]


class Signs:
    """Which dimensions of each vector are positive, 64 to a number, one column for each number."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._columns = [Growing(np.uint64) for _ in range(-(-dim // 64))]

    def extend(self, vectors: Vectors) -> None:
        """Append the signs of more vectors."""
        for column, words in zip(self._columns, _packed(vectors).T, strict=True):
            column.extend(words)

    def __len__(self) -> int:
        return len(self._columns[0])

    def agreement(self, probes: Vectors, count: int) -> NDArray[np.int32]:
        """In how many dimensions each of the first vectors has the sign of the probe most alike."""
        first, *others = _packed(probes)
        fewest = self._differing(first, count)
        for probe in others:
            np.minimum(fewest, self._differing(probe, count), out=fewest)
        return self._dim - fewest.astype(np.int32)

    def _differing(self, probe: NDArray[np.uint64], count: int) -> NDArray[np.uint16]:
        differing = np.zeros(count, np.uint16)
        for column, word in zip(self._columns, probe, strict=True):
            differing += np.bitwise_count(column.first(count) ^ word)
        return differing


def _packed(vectors: Vectors) -> NDArray[np.uint64]:
    octets = np.packbits(vectors > 0, axis=1)
    return np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))).view(np.uint64)

"""Vectors: exact cosines, with candidates preselected by their binary codes beyond 50,000 rows."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.binary_codes import BinaryCodes
from memorist.stores.index.columns import Growing, best_places

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]

EXACT_ROWS = 50_000
"""Up to so many admitted rows every vector is compared; beyond, those whose signs agree best."""
SHORTLIST = 2_000
"""At least so many vectors are compared after a scan by signs, and 40 for each hit asked for."""
_ROUNDING = 1e-4
"""More than the rounding error of a product of two vectors of length 1."""


def unit(vectors: NDArray[Any]) -> Vectors:
    """Rows of length 1; a row without a direction (zero, NaN, infinite) becomes NaN."""
    with np.errstate(all="ignore"):
        wide = np.array(vectors, np.float32)
        wide /= np.sqrt(np.einsum("nd,nd->n", wide, wide, dtype=np.float64)).astype(np.float32)[:, None]
    return wide


def sound(vectors: Vectors) -> Mask:
    """Which rows hold numbers only."""
    return np.logical_and.reduce(np.isfinite(vectors), axis=1)


class Matrix:
    """Vectors of length 1, for the rows that have one; rows ascending."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._rows = Growing(np.intp)
        self._vectors = Growing(np.float32, dim)
        self._signs = BinaryCodes(dim)
        self._lock = Lock()

    def extend(self, rows: Sequence[int], vectors: Sequence[NDArray[Any]]) -> None:
        """Append vectors of later rows; those without a direction are left out."""
        given = unit(np.concatenate(vectors).reshape(len(rows), self.dim))
        kept = sound(given)
        self._vectors.extend(given if kept.all() else given[kept])
        self._rows.extend(np.array(rows, np.intp)[kept])

    def taken(self, rows: NDArray[np.intp]) -> Matrix:
        """The same vectors for some of the rows, renumbered from 0."""
        own = self._rows.first(len(self._rows))
        kept = np.flatnonzero(np.isin(own, rows))
        copy = Matrix(self.dim)
        copy._vectors = self._vectors.taken(kept)
        copy._rows.extend(np.searchsorted(rows, own[kept]))
        return copy

    def of(self, rows: NDArray[np.intp]) -> tuple[Mask, Vectors]:
        """Which of these rows have a vector, and the vectors of those."""
        having, places = self._places(rows)
        return having, self._vectors.first(len(self._rows))[places]

    def candidates(self, probes: Vectors, allowed: Mask, limit: int) -> NDArray[np.intp]:
        """Allowed rows among which are the nearest `limit`: surely up to `EXACT_ROWS`, almost surely beyond."""
        own, vectors = self._until(len(allowed))
        places = np.flatnonzero(allowed[own])
        if len(places) <= limit:
            return own[places]
        if len(places) > EXACT_ROWS:
            agreement = self._agreement(probes, vectors)[places]
            return own[places[best_places(agreement, max(SHORTLIST, 40 * limit))]]
        few = len(places) * 4 < len(own)
        cosines = _products(vectors[places], probes) if few else _products(vectors, probes)[places]
        last = cosines[best_places(cosines, limit)].min()
        return own[places[cosines >= last - _ROUNDING]]

    def cosines(self, probes: Vectors, rows: NDArray[np.intp]) -> Vectors:
        """The largest cosine of each row to any of the probes; −∞ where the row has no vector."""
        scores = np.full(len(rows), -np.inf, np.float32)
        having, vectors = self.of(rows)
        scores[having] = _row_by_row(vectors, probes)
        return scores

    def _places(self, rows: NDArray[np.intp]) -> tuple[Mask, NDArray[np.intp]]:
        own = self._rows.first(len(self._rows))
        if not len(own):
            return np.zeros(len(rows), np.bool_), np.empty(0, np.intp)
        places = np.minimum(np.searchsorted(own, rows), len(own) - 1)
        having = own[places] == rows
        return having, places[having]

    def _agreement(self, probes: Vectors, vectors: Vectors) -> NDArray[np.int32]:
        with self._lock:
            if len(self._signs) < len(vectors):
                self._signs.extend(vectors[len(self._signs) :])
        return self._signs.agreement(probes, len(vectors))

    def _until(self, count: int) -> tuple[NDArray[np.intp], Vectors]:
        own = self._rows.first(len(self._rows))
        own = own[: int(np.searchsorted(own, count))]
        return own, self._vectors.first(len(own))


def nearest(matrices: Sequence[Matrix], probes: Vectors, allowed: Mask, limit: int) -> tuple[NDArray[np.intp], Vectors]:
    """Candidates for the `limit` nearest rows, with their largest cosine over probes and views."""
    found = [matrix.candidates(probes, allowed, limit) for matrix in matrices]
    # A row among the best by its best view is among the best of that view.
    rows = np.unique(np.concatenate([np.empty(0, np.intp), *found]))
    scores = np.full(len(rows), -np.inf, np.float32)
    for matrix in matrices:
        np.maximum(scores, matrix.cosines(probes, rows), out=scores)
    return rows, np.clip(scores, -1, 1)


def _products(vectors: Vectors, probes: Vectors) -> Vectors:
    if len(probes) == 1:
        # A product with the whole matrix wakes threads of BLAS, which cost more than they save on a busy machine.
        return np.vecdot(vectors, probes[0])
    return (vectors @ probes.T).max(axis=1)


def _row_by_row(vectors: Vectors, probes: Vectors) -> Vectors:
    """Slower than BLAS, but equal vectors get equal scores wherever they stand, so that ties are ties."""
    return np.einsum("nd,pd->np", vectors, probes).max(axis=1)

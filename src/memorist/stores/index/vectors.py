"""Vectors: exact cosines, with candidates preselected by their binary codes beyond 50,000 rows."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.arrays import AccessPattern, Chosen, GrowingArray, Mapped, Written, under
from memorist.stores.index.binary_codes import BinaryCodes
from memorist.stores.index.columns import distinct, top_positions

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]

EXACT_ROWS = 50_000
"""Up to this many admitted rows, every vector is compared; beyond it, only those with the best sign agreement."""
SHORTLIST = 2_000
"""After a scan of sign bits, at least this many vectors are compared, and at least 40 per requested hit."""
_BLOCK = 8192
"""Vectors that are read together, so that comparing all of them takes no copy of all."""
_ROUNDING = 1e-4
"""Larger than the rounding error of the product of two unit vectors."""


def normalize(vectors: NDArray[Any]) -> Vectors:
    """Rows scaled to length 1; a row without a direction (zero, NaN, infinite) becomes NaN."""
    with np.errstate(all="ignore"):
        wide = np.array(vectors, np.float32)
        wide /= np.sqrt(np.einsum("nd,nd->n", wide, wide, dtype=np.float64)).astype(np.float32)[:, None]
    return wide


def finite_rows(vectors: Vectors) -> Mask:
    """A mask of the rows with finite numbers only."""
    return np.logical_and.reduce(np.isfinite(vectors), axis=1)


class VectorMatrix:
    """Unit vectors of the rows that have one, in ascending order of rows."""

    def __init__(self, dim: int, expected: int = 0) -> None:
        self.dim = dim
        self._rows = GrowingArray(np.intp)
        self._vectors = GrowingArray(np.float32, dim)
        self._vectors.reserve(expected)
        self._signs = BinaryCodes(dim)
        self._lock = Lock()
        self._last_admitted: tuple[Mask, Mask, NDArray[np.intp]] | None = None

    def extend(self, rows: Sequence[int], vectors: Sequence[NDArray[Any]]) -> None:
        """Append vectors of later rows; vectors without a direction are left out."""
        given = normalize(np.concatenate(vectors).reshape(len(rows), self.dim))
        kept = finite_rows(given)
        self._vectors.extend(given if kept.all() else given[kept])
        self._rows.extend(np.array(rows, np.intp)[kept])

    @property
    def nbytes(self) -> int:
        """The bytes of its vectors."""
        return self._vectors.nbytes

    def select(self, rows: NDArray[np.intp]) -> VectorMatrix:
        """The vectors of some of the rows, renumbered from 0."""
        own = self._rows.head(len(self._rows))
        kept = np.flatnonzero(np.isin(own, rows))
        copy = VectorMatrix(self.dim)
        copy._vectors = self._vectors.select(kept)
        copy._rows.extend(np.searchsorted(rows, own[kept]))
        return copy

    def parts(self, alive: Mask) -> Written:
        """The arrays of the living rows, renumbered from 0, to write."""
        own = self._until(len(alive))
        self._sign(len(own))
        places = np.flatnonzero(alive[own])
        numbers = np.cumsum(alive) - 1
        return {
            "rows": Chosen(numbers[own[places]]),
            "vectors": Chosen(
                self._vectors.head(len(own)), None if len(places) == len(own) else places, AccessPattern.SCATTERED
            ),
            **under("signs", self._signs.parts(places)),
        }

    @classmethod
    def of(cls, parts: Mapped) -> VectorMatrix:
        """The vectors of mapped arrays."""
        vectors = parts.growing("vectors")
        made = cls(vectors.at(slice(0)).shape[1])
        made._rows, made._vectors = parts.growing("rows"), vectors
        made._signs = BinaryCodes.of(made.dim, parts.under("signs"))
        return made

    def lookup(self, rows: NDArray[np.intp]) -> tuple[Mask, Vectors]:
        """A mask of the rows that have a vector, and their vectors."""
        having, places = self._places(rows)
        return having, self._vectors.take(places)

    def has_any(self, rows: NDArray[np.intp]) -> bool:
        """Whether any of the rows has a vector."""
        return bool(self._places(rows)[0].any())

    def candidates(self, probes: Vectors, allowed: Mask, limit: int) -> NDArray[np.intp]:
        """Allowed rows that include the nearest `limit`: always up to `EXACT_ROWS`, almost always beyond."""
        own = self._until(len(allowed))
        admitted, refused = self._admitted(allowed, own)
        count = len(own) - len(refused)
        if count > max(EXACT_ROWS, limit):
            self._sign(len(own))
            agreement = self._signs.agreement(probes, len(own))
            agreement[refused] = -1
            return own[top_positions(agreement, min(max(SHORTLIST, 40 * limit), count))]
        places = np.flatnonzero(admitted)
        if len(places) <= limit:
            return own[places]
        few = len(places) * 4 < len(own)
        vectors = self._vectors.take(places) if few else self._vectors.head(len(own))
        cosines = _products(vectors, probes) if few else _products(vectors, probes)[places]
        last = cosines[top_positions(cosines, limit)].min()
        return own[places[cosines >= last - _ROUNDING]]

    def cosines(self, probes: Vectors, rows: NDArray[np.intp]) -> Vectors:
        """The largest cosine of each row to any probe; −∞ for a row without a vector."""
        scores = np.full(len(rows), -np.inf, np.float32)
        having, places = self._places(rows)
        blocks = [places[start : start + _BLOCK] for start in range(0, len(places), _BLOCK)]
        found = [_row_by_row(self._vectors.take(block), probes) for block in blocks]
        scores[having] = np.concatenate([np.empty(0, np.float32), *found])
        return scores

    def _admitted(self, allowed: Mask, own: NDArray[np.intp]) -> tuple[Mask, NDArray[np.intp]]:
        """Which of its rows are allowed, and the places of the others; kept for the next recall with this filter."""
        last = self._last_admitted
        if last is None or last[0] is not allowed:
            admitted = allowed[own]
            last = self._last_admitted = allowed, admitted, np.flatnonzero(~admitted)
        return last[1], last[2]

    def _places(self, rows: NDArray[np.intp]) -> tuple[Mask, NDArray[np.intp]]:
        own = self._rows.head(len(self._rows))
        if not len(own):
            return np.zeros(len(rows), np.bool_), np.empty(0, np.intp)
        if own[-1] == len(own) - 1:  # the first rows, without a gap
            having = rows < len(own)
            return having, rows[having]
        places = np.minimum(np.searchsorted(own, rows), len(own) - 1)
        having = own[places] == rows
        return having, places[having]

    def _sign(self, count: int) -> None:
        with self._lock:
            if len(self._signs) < count:
                self._signs.extend(self._vectors.slice(len(self._signs), count))

    def _until(self, count: int) -> NDArray[np.intp]:
        own = self._rows.head(len(self._rows))
        return own[: int(np.searchsorted(own, count))]


def nearest(
    matrices: Sequence[VectorMatrix], probes: Vectors, allowed: Mask, limit: int
) -> tuple[NDArray[np.intp], Vectors]:
    """Candidates for the `limit` nearest rows, and their largest cosines over probes and views."""
    found = [matrix.candidates(probes, allowed, limit) for matrix in matrices]
    # A row that is among the best overall is among the best of its best view.
    rows = distinct(np.concatenate([np.empty(0, np.intp), *found]))
    scores = np.full(len(rows), -np.inf, np.float32)
    for matrix in matrices:
        np.maximum(scores, matrix.cosines(probes, rows), out=scores)
    return rows, np.clip(scores, -1, 1)


def _products(vectors: Vectors, probes: Vectors) -> Vectors:
    if len(probes) == 1:
        # A matrix product would start BLAS threads, which cost more than they save on a busy machine.
        return np.vecdot(vectors, probes[0])
    return (vectors @ probes.T).max(axis=1)


def _row_by_row(vectors: Vectors, probes: Vectors) -> Vectors:
    """Slower than BLAS, but equal vectors get equal scores in every position, so ties are exact."""
    return np.einsum("nd,pd->np", vectors, probes).max(axis=1)

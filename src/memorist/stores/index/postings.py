"""Where each lexeme occurs: rows and counts, side by side for all lexemes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Occurrences(NamedTuple):
    """Rows in which lexemes occur, how often, and which of the lexemes asked for it is."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    which: NDArray[np.intp]


class Postings(NamedTuple):
    """Compressed sparse rows by lexeme: those of lexeme i lie from starts[i] to starts[i + 1], rows ascending."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]

    def of(self, lexemes: NDArray[np.int32]) -> Occurrences:
        """The occurrences of some lexemes, one after the other; one not known yet has none."""
        known = np.minimum(lexemes, len(self.starts) - 2)
        begins = self.starts[known]
        sizes = np.where(lexemes == known, self.starts[known + 1] - begins, 0)
        if len(lexemes) == 1:
            own = slice(int(begins[0]), int(begins[0] + sizes[0]))
            return Occurrences(self.rows[own], self.counts[own], np.zeros(int(sizes[0]), np.intp))
        which = np.repeat(np.arange(len(lexemes)), sizes)
        places = np.arange(len(which)) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
        return Occurrences(self.rows[places], self.counts[places], which)

    def followed_by(self, later: Postings) -> Postings:
        """These postings and those of later rows, as one."""
        sizes = np.zeros(len(later.starts) - 1, np.int64)
        sizes[: len(self.starts) - 1] = np.diff(self.starts)
        later_sizes = np.diff(later.starts)
        starts = np.concatenate(([0], np.cumsum(sizes + later_sizes)))
        mine = np.arange(len(self.rows)) + np.repeat(later.starts[:-1], sizes)
        theirs = np.arange(len(later.rows)) + np.repeat(np.cumsum(sizes), later_sizes)
        rows, counts = np.empty((2, int(starts[-1])), np.int32)
        rows[mine], rows[theirs] = self.rows, later.rows
        counts[mine], counts[theirs] = self.counts, later.counts
        return Postings(starts, rows, counts)


NO_POSTINGS = Postings(np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))


def postings(lexemes: NDArray[np.int32], rows: NDArray[np.int32], lexicon_size: int) -> Postings:
    """Postings of a stream of lexemes and the row that each of them stands in."""
    if not len(lexemes):
        return Postings(np.zeros(max(lexicon_size, 1) + 1, np.int64), NO_POSTINGS.rows, NO_POSTINGS.counts)
    span = np.int64(rows.max()) + 1
    pairs = np.sort(lexemes * span + rows)
    firsts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
    counts = np.diff(np.append(firsts, len(pairs))).astype(np.int32)
    owners, own_rows = np.divmod(pairs[firsts], span)
    starts = np.searchsorted(owners, np.arange(lexicon_size + 1))
    return Postings(starts.astype(np.int64), own_rows.astype(np.int32), counts)

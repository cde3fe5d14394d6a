"""BM25 and trigram scores over the postings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.columns import distinct
from memorist.stores.index.lexicon import Matches
from memorist.stores.index.postings import TextIndex
from memorist.text import words

Find = Callable[[TextIndex], Matches]
_DENSE = 8


class TermScores(NamedTuple):
    """A query word's live rows, each once, and a value for each of them."""

    rows: NDArray[np.int32]
    values: NDArray[np.float64]


class CollectionStats(NamedTuple):
    """BM25 statistics of the live rows: the number of rows with words, and the length norm of each row."""

    fields: Sequence[TextIndex]
    alive: NDArray[np.bool_]
    documents: int
    norms: NDArray[np.float64]


def collection_stats(fields: Sequence[TextIndex], alive: NDArray[np.bool_]) -> CollectionStats:
    """Statistics of the first `len(alive)` rows; the lengths of several fields are added."""
    lengths = np.zeros(len(alive), np.int32)
    for field in fields:
        lengths += field.lengths(len(alive))
    own = lengths * alive
    documents = int(np.count_nonzero(own))
    mean = int(own.sum()) / documents if documents else 1.0
    return CollectionStats(fields, alive, documents, words.length_norm(lengths.astype(np.float64), mean))


def term_frequencies(within: CollectionStats, find: Find) -> TermScores:
    """The term frequency of a query word per row: the sum of counts × weights of the matching words."""
    return _term(within, find, np.add)


def term_similarities(within: CollectionStats, find: Find) -> TermScores:
    """The similarity of a query word to the most similar word of each row."""
    return _term(within, find, np.maximum)


def bm25_scores(within: CollectionStats, terms: Iterable[TermScores]) -> TermScores:
    """BM25 of every row with any of the terms; positive."""
    weighed = [
        TermScores(
            term.rows,
            words.idf(within.documents, len(term.rows)) * words.weight(term.values, within.norms[term.rows]),
        )
        for term in terms
    ]
    return _summed(weighed, len(within.alive))


def similarity_scores(within: CollectionStats, terms: Sequence[TermScores]) -> TermScores:
    """The mean similarity of the terms in each row, weighted by rarity; 0 to 1."""
    rarity = [words.idf(within.documents, len(term.rows)) for term in terms]
    share = [weight / sum(rarity) for weight in rarity]
    weighed = [TermScores(term.rows, weight * term.values) for weight, term in zip(share, terms, strict=True)]
    rows, scores = _summed(weighed, len(within.alive))
    return TermScores(rows, np.minimum(scores, 1))  # the sum of the shares may exceed 1 by a rounding error


def _term(within: CollectionStats, find: Find, combine: np.ufunc) -> TermScores:
    count = len(within.alive)
    rows, values = [np.empty(0, np.int32)], [np.empty(0)]
    for field in within.fields:
        matches = find(field)
        if not len(matches.lexemes):
            continue
        found = field.occurrences(matches.lexemes, count)
        if len(matches.lexemes) == 1:
            weights = np.broadcast_to(matches.weights, len(found.rows))
        else:
            weights = matches.weights[found.which]
        rows.append(found.rows)
        values.append(weights * found.counts if combine is np.add else weights)
    return _one_per_row(np.concatenate(rows), np.concatenate(values), combine, within.alive)


def _one_per_row(
    rows: NDArray[np.int32], values: NDArray[np.float64], combine: np.ufunc, alive: NDArray[np.bool_]
) -> TermScores:
    if not bool((rows[1:] > rows[:-1]).all()):
        rows, values = _combined(rows, values, combine, len(alive))
    living = alive[rows]
    return TermScores(rows, values) if living.all() else TermScores(rows[living], values[living])


def _combined(
    rows: NDArray[np.int32], values: NDArray[np.float64], combine: np.ufunc, count: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    if len(rows) * _DENSE < count:
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
        firsts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
        return rows[firsts], combine.reduceat(values, firsts)
    dense = np.zeros(count)
    combine.at(dense, rows, values)
    rows = np.flatnonzero(dense > 0).astype(np.int32)
    return rows, dense[rows]


_DIGITS = 12
"""Sums in a different order differ in the last bits. Rounding makes them ties, which are broken by id."""


def _summed(terms: Sequence[TermScores], count: int) -> TermScores:
    total = np.zeros(count)
    for term in terms:
        total[term.rows] += term.values
    touched = np.concatenate([np.empty(0, np.int32), *(term.rows for term in terms)])
    few = len(touched) * _DENSE < count
    rows = distinct(touched) if few else np.flatnonzero(total > 0).astype(np.int32)
    return TermScores(rows, np.round(total[rows], _DIGITS))

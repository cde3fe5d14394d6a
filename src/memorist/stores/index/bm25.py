"""BM25 and trigram scores over the postings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.lexicon import Matches
from memorist.stores.index.postings import Field
from memorist.text import words

Find = Callable[[Field], Matches]
_DENSE = 8


class Term(NamedTuple):
    """One query word: the live rows it stands in, each once, and a number for each of them."""

    rows: NDArray[np.int32]
    values: NDArray[np.float64]


class Collection(NamedTuple):
    """The live rows as BM25 sees them: how many have words, and each row's length norm."""

    fields: Sequence[Field]
    alive: NDArray[np.bool_]
    documents: int
    norms: NDArray[np.float64]


def collection(fields: Sequence[Field], alive: NDArray[np.bool_]) -> Collection:
    """Statistics of the first `len(alive)` rows; lengths of several fields add up."""
    lengths = np.zeros(len(alive), np.int32)
    for field in fields:
        lengths += field.lengths(len(alive))
    own = lengths * alive
    documents = int(np.count_nonzero(own))
    mean = int(own.sum()) / documents if documents else 1.0
    return Collection(fields, alive, documents, words.length_norm(lengths.astype(np.float64), mean))


def frequencies(within: Collection, find: Find) -> Term:
    """How often a query word occurs in each row: its words' counts times their weights, summed."""
    return _term(within, find, np.add)


def likenesses(within: Collection, find: Find) -> Term:
    """How alike a query word is to the word of each row that is most alike."""
    return _term(within, find, np.maximum)


def bm25_scores(within: Collection, terms: Iterable[Term]) -> Term:
    """BM25 of every row that has any of the terms, positive."""
    weighed = [
        Term(
            term.rows,
            words.idf(within.documents, len(term.rows)) * words.weight(term.values, within.norms[term.rows]),
        )
        for term in terms
    ]
    return _summed(weighed, len(within.alive))


def likeness_scores(within: Collection, terms: Sequence[Term]) -> Term:
    """The mean likeness of the terms in each row, weighted by rarity: 0 to 1."""
    rarity = [words.idf(within.documents, len(term.rows)) for term in terms]
    share = [weight / sum(rarity) for weight in rarity]
    weighed = [Term(term.rows, weight * term.values) for weight, term in zip(share, terms, strict=True)]
    rows, scores = _summed(weighed, len(within.alive))
    return Term(rows, np.minimum(scores, 1))  # shares may add up to a rounding error more


def _term(within: Collection, find: Find, combine: np.ufunc) -> Term:
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
) -> Term:
    if not bool((rows[1:] > rows[:-1]).all()):
        rows, values = _combined(rows, values, combine, len(alive))
    living = alive[rows]
    return Term(rows, values) if living.all() else Term(rows[living], values[living])


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
"""Sums of the same parts in another order differ in the last bit; without it they tie, and ids decide."""


def _summed(terms: Sequence[Term], count: int) -> Term:
    total = np.zeros(count)
    for term in terms:
        total[term.rows] += term.values
    touched = np.concatenate([np.empty(0, np.int32), *(term.rows for term in terms)])
    few = len(touched) * _DENSE < count
    rows = np.unique(touched) if few else np.flatnonzero(total > 0).astype(np.int32)
    return Term(rows, np.round(total[rows], _DIGITS))

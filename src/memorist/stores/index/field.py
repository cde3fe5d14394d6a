"""One text field: its postings, and BM25, trigram and substring scores over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.columns import Growing
from memorist.stores.index.words import (
    FUZZY_LENGTH,
    NO_POSTINGS,
    Layers,
    Lexicon,
    Matches,
    Occurrences,
    Postings,
    Stems,
    Substrings,
    Trigrams,
    matches,
    postings,
)
from memorist.text import words

_RECENT_ROWS = 1024


class Field:
    """The words of one field, as `analyse` wrote them, one text a row."""

    def __init__(self) -> None:
        self._texts: list[str | None] = []
        self._lengths = Growing(np.int32)
        self._lexicon = Lexicon()
        self._stems = Stems(self._lexicon)
        self._substrings = Layers(Substrings)
        self._trigrams = Layers(Trigrams)
        self._sorted = _Sorted(NO_POSTINGS, 0)
        self._lock = Lock()

    def extend(self, texts: Iterable[str | None]) -> None:
        """Append one analysed text a row; None where the memory has no such field."""
        self._texts.extend(texts)

    def taken(self, rows: NDArray[np.intp]) -> Field:
        """The same field for some of the rows, unread."""
        kept = Field()
        chosen: list[int] = rows.tolist()
        kept.extend([self._texts[row] for row in chosen])
        return kept

    @property
    def texts(self) -> Sequence[str | None]:
        """The analysed texts, one a row."""
        return self._texts

    def lengths(self, count: int) -> NDArray[np.int32]:
        """How many words each of the first rows has."""
        with self._lock:
            self._read(count)
        return self._lengths.first(count)

    def by_stem(self, word: str) -> Matches:
        """Words that share a stem with this one."""
        with self._lock:
            return self._stems.find(word)

    def by_part(self, part: str) -> Matches:
        """Words that contain this part."""
        with self._lock:
            return _joined([layer.find(part) for layer in self._substrings.over(self._lexicon.words)])

    def by_likeness(self, word: str) -> Matches:
        """Words alike by their trigrams; short ones only when spelled the same."""
        with self._lock:
            if len(word) < FUZZY_LENGTH:
                return matches(self._lexicon.spelled(word))
            return _joined([layer.find(word) for layer in self._trigrams.over(self._lexicon.words)])

    def occurrences(self, lexemes: NDArray[np.int32], count: int) -> Occurrences:
        """Where lexemes occur within the first rows."""
        found = self._sorted.of(lexemes)
        if count >= len(self._lengths):
            return found
        within = found.rows < count
        return Occurrences(found.rows[within], found.counts[within], found.which[within])

    def _read(self, count: int) -> None:
        done = len(self._lengths)
        if done >= count:
            return
        base = self._sorted.rows
        if count - base > max(_RECENT_ROWS, base // 16):
            later, lengths = self._bulk(base, count)
            self._sorted = _Sorted(self._sorted.postings.followed_by(later), count)
            self._lengths.extend(lengths[done - base :])
        else:
            for row in range(done, count):
                self._read_one(row)

    def _bulk(self, start: int, end: int) -> tuple[Postings, NDArray[np.int32]]:
        lengths = np.zeros(end - start, np.int32)
        by_language: dict[str, tuple[list[int], list[str]]] = {}
        for row in range(start, end):
            language, _, words = (self._texts[row] or "").partition(" ")
            if words:
                rows, texts = by_language.setdefault(language, ([], []))
                rows.append(row)
                texts.append(words)
                lengths[row - start] = words.count(" ") + 1
        lexemes, rows = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for language, (own, texts) in by_language.items():
            words = " ".join(texts).split(" ")
            lexemes.append(self._lexicon.numbered(language, words, len(words)))
            rows.append(np.repeat(np.array(own, np.int32), lengths[np.array(own) - start]))
        return postings(np.concatenate(lexemes), np.concatenate(rows), len(self._lexicon.words)), lengths

    def _read_one(self, row: int) -> None:
        language, _, text = (self._texts[row] or "").partition(" ")
        words = text.split(" ") if text else []
        numbers = self._lexicon.numbered(language, words, len(words)) if words else np.empty(0, np.int32)
        self._sorted.add(row, Counter(numbers.tolist()))
        self._lengths.extend(np.array([len(words)], np.int32))


class _Sorted:
    """Postings of the first rows in order, and of the few rows since by lexeme."""

    def __init__(self, postings: Postings, rows: int) -> None:
        self.postings = postings
        self.rows = rows
        self._recent: dict[int, list[tuple[int, int]]] = {}

    def add(self, row: int, counts: Counter[int]) -> None:
        for lexeme, count in counts.items():
            self._recent.setdefault(lexeme, []).append((row, count))

    def of(self, lexemes: NDArray[np.int32]) -> Occurrences:
        found = self.postings.of(lexemes)
        if not self._recent:
            return found
        recent = [
            (row, count, which)
            for which, lexeme in enumerate(lexemes.tolist())
            for row, count in tuple(self._recent.get(lexeme, ()))
        ]
        if not recent:
            return found
        rows, counts, which = np.array(recent).T
        return Occurrences(
            np.concatenate((found.rows, rows.astype(np.int32))),
            np.concatenate((found.counts, counts.astype(np.int32))),
            np.concatenate((found.which, which)),
        )


def _joined(found: Sequence[Matches]) -> Matches:
    if len(found) == 1:
        return found[0]
    if not found:
        return matches(())
    return Matches(np.concatenate([part.lexemes for part in found]), np.concatenate([part.weights for part in found]))


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

"""The inverted index of one text field: its words in a lexicon, and their postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.columns import GrowingArray
from memorist.stores.index.lexicon import (
    FUZZY_LENGTH,
    Layered,
    Lexicon,
    Matches,
    Stems,
    Substrings,
    Trigrams,
    exact_matches,
)


class Occurrences(NamedTuple):
    """Rows in which lexemes occur, the counts, and the position of the lexeme in the request."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    which: NDArray[np.intp]


class Postings(NamedTuple):
    """Compressed sparse rows: the postings of lexeme i are starts[i] to starts[i + 1], with ascending rows."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]

    def lookup(self, lexemes: NDArray[np.int32]) -> Occurrences:
        """The occurrences of some lexemes, one lexeme after the other; an unknown lexeme has none."""
        known = np.minimum(lexemes, len(self.starts) - 2)
        begins = self.starts[known]
        sizes = np.where(lexemes == known, self.starts[known + 1] - begins, 0)
        if len(lexemes) == 1:
            own = slice(int(begins[0]), int(begins[0] + sizes[0]))
            return Occurrences(self.rows[own], self.counts[own], np.zeros(int(sizes[0]), np.intp))
        which = np.repeat(np.arange(len(lexemes)), sizes)
        places = np.arange(len(which)) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
        return Occurrences(self.rows[places], self.counts[places], which)

    def extended_by(self, later: Postings) -> Postings:
        """These postings combined with those of later rows."""
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


def build_postings(lexemes: NDArray[np.int32], rows: NDArray[np.int32], lexicon_size: int) -> Postings:
    """Postings of a stream of lexemes and their rows."""
    if not len(lexemes):
        return Postings(np.zeros(max(lexicon_size, 1) + 1, np.int64), NO_POSTINGS.rows, NO_POSTINGS.counts)
    span = np.int64(rows.max()) + 1
    pairs = np.sort(lexemes * span + rows)
    firsts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
    counts = np.diff(np.append(firsts, len(pairs))).astype(np.int32)
    owners, own_rows = np.divmod(pairs[firsts], span)
    starts = np.searchsorted(owners, np.arange(lexicon_size + 1))
    return Postings(starts.astype(np.int64), own_rows.astype(np.int32), counts)


_RECENT_ROWS = 1024


class TextIndex:
    """The words of one field, as written by `analyse`; one text per row."""

    def __init__(self) -> None:
        self._texts: list[str | None] = []
        self._lengths = GrowingArray(np.int32)
        self._lexicon = Lexicon()
        self._stems = Stems(self._lexicon)
        self._substrings = Layered(Substrings)
        self._trigrams = Layered(Trigrams)
        self._postings = _RecentPostings(NO_POSTINGS, 0)
        self._lock = Lock()

    def extend(self, texts: Iterable[str | None]) -> None:
        """Append one analysed text per row; None if the memory lacks the field."""
        self._texts.extend(texts)

    def select(self, rows: NDArray[np.intp]) -> TextIndex:
        """The field for some of the rows; its words are read when it is first searched."""
        kept = TextIndex()
        chosen: list[int] = rows.tolist()
        kept.extend([self._texts[row] for row in chosen])
        return kept

    @property
    def texts(self) -> Sequence[str | None]:
        """The analysed texts, one per row."""
        return self._texts

    def lengths(self, count: int) -> NDArray[np.int32]:
        """The number of words in each of the first `count` rows."""
        with self._lock:
            self._read(count)
        return self._lengths.head(count)

    def by_stem(self, word: str) -> Matches:
        """The lexemes that share a stem with a word."""
        with self._lock:
            return self._stems.find(word)

    def by_substring(self, part: str) -> Matches:
        """The lexemes that contain a substring."""
        with self._lock:
            return _joined([layer.find(part) for layer in self._substrings.over(self._lexicon.words)])

    def by_similarity(self, word: str) -> Matches:
        """The lexemes with similar trigrams; short words must be spelled the same."""
        with self._lock:
            if len(word) < FUZZY_LENGTH:
                return exact_matches(self._lexicon.spelled(word))
            return _joined([layer.find(word) for layer in self._trigrams.over(self._lexicon.words)])

    def rows_with(self, word: str, count: int) -> NDArray[np.int32]:
        """Those of the first `count` rows that have a word, spelled exactly so."""
        with self._lock:
            self._read(count)
            lexemes = self._lexicon.spelled(word)
        return self.occurrences(np.array(lexemes, np.int32), count).rows

    def occurrences(self, lexemes: NDArray[np.int32], count: int) -> Occurrences:
        """The occurrences of lexemes in the first `count` rows."""
        found = self._postings.lookup(lexemes)
        if count >= len(self._lengths):
            return found
        within = found.rows < count
        return Occurrences(found.rows[within], found.counts[within], found.which[within])

    def _read(self, count: int) -> None:
        done = len(self._lengths)
        if done >= count:
            return
        base = self._postings.rows
        if count - base > max(_RECENT_ROWS, base // 16):
            later, lengths = self._bulk(base, count)
            self._postings = _RecentPostings(self._postings.postings.extended_by(later), count)
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
            lexemes.append(self._lexicon.numbers_of(language, words, len(words)))
            rows.append(np.repeat(np.array(own, np.int32), lengths[np.array(own) - start]))
        return build_postings(np.concatenate(lexemes), np.concatenate(rows), len(self._lexicon.words)), lengths

    def _read_one(self, row: int) -> None:
        language, _, text = (self._texts[row] or "").partition(" ")
        words = text.split(" ") if text else []
        numbers = self._lexicon.numbers_of(language, words, len(words)) if words else np.empty(0, np.int32)
        self._postings.add(row, Counter(numbers.tolist()))
        self._lengths.extend(np.array([len(words)], np.int32))


class _RecentPostings:
    """Sorted postings of most rows, and the few newer rows by lexeme."""

    def __init__(self, postings: Postings, rows: int) -> None:
        self.postings = postings
        self.rows = rows
        self._recent: dict[int, list[tuple[int, int]]] = {}

    def add(self, row: int, counts: Counter[int]) -> None:
        for lexeme, count in counts.items():
            self._recent.setdefault(lexeme, []).append((row, count))

    def lookup(self, lexemes: NDArray[np.int32]) -> Occurrences:
        found = self.postings.lookup(lexemes)
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
        return exact_matches(())
    return Matches(np.concatenate([part.lexemes for part in found]), np.concatenate([part.weights for part in found]))

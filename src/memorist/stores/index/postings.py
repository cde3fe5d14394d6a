"""Inverted files: the postings of one text field, and its words in the lexicon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.columns import Growing
from memorist.stores.index.lexicon import FUZZY_LENGTH, Layers, Lexicon, Matches, Stems, Substrings, Trigrams, matches


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

"""The inverted index of one text field: its words in a lexicon, the rows in which they occur, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.arrays import AccessPattern, Chosen, GrowingArray, Mapped, Values, Written, under
from memorist.stores.index.columns import LabelColumn
from memorist.stores.index.lexicon import (
    FUZZY_LENGTH,
    KeptStems,
    Layered,
    Lexicon,
    Matches,
    Stems,
    Substrings,
    Trigrams,
    exact_matches,
    stems_of,
)
from memorist.stores.index.texts import Packed, SortedTexts, Texts, in_order

_RECENT_ROWS = 1024
PAGE = 5_000
"""Rows that are read together: their words are not all held at once."""


class Occurrences(NamedTuple):
    """Rows in which lexemes occur, the counts, and the position of the lexeme in the request."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    which: NDArray[np.intp]


class Postings(NamedTuple):
    """Compressed sparse rows: the postings of lexeme i are starts[i] to starts[i + 1], with ascending rows."""

    starts: NDArray[np.int64]
    rows: Values[np.int32]
    counts: Values[np.int32]

    def lookup(self, lexemes: NDArray[np.int32]) -> Occurrences:
        """The occurrences of some lexemes, one lexeme after the other; an unknown lexeme has none."""
        known = np.minimum(lexemes, len(self.starts) - 2)
        begins = self.starts[known]
        sizes = np.where(lexemes == known, self.starts[known + 1] - begins, 0)
        self.rows.need(begins, begins + sizes, self.counts)
        if len(lexemes) == 1:
            own = slice(int(begins[0]), int(begins[0] + sizes[0]))
            return Occurrences(self.rows.at(own), self.counts.at(own), np.zeros(int(sizes[0]), np.intp))
        which = np.repeat(np.arange(len(lexemes)), sizes)
        places = np.arange(len(which)) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
        return Occurrences(self.rows.at(places), self.counts.at(places), which)

    def rows_of(self, lexeme: int) -> NDArray[np.int32]:
        """The rows in which a lexeme occurs, ascending; none if it is unknown."""
        if lexeme + 1 >= len(self.starts):
            return self.rows.at(slice(0))
        return self.rows.slice(int(self.starts[lexeme]), int(self.starts[lexeme + 1]))

    def select(self, alive: NDArray[np.bool_]) -> tuple[Postings, NDArray[np.intp]]:
        """The postings of the living rows, renumbered, and the lexemes that they have, which are renumbered too."""
        every = self.rows.all()
        known = np.flatnonzero(every < len(alive))
        places = known[alive[every[known]]]
        owners = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))[places]
        sizes = np.bincount(owners, minlength=len(self.starts) - 1)
        used = np.flatnonzero(sizes)
        starts = np.concatenate(([0], np.cumsum(sizes[used])))
        rows = (np.cumsum(alive, dtype=np.int32) - np.int32(1))[every[places]]
        return _postings(starts if len(used) else NO_POSTINGS.starts, rows, self.counts.all()[places]), used

    def parts(self) -> Written:
        """The arrays to write."""
        rows, counts = (
            Chosen(values.all(), read=AccessPattern.RUNS, grows=False) for values in (self.rows, self.counts)
        )
        return {"starts": self.starts, "rows": rows, "counts": counts}

    @classmethod
    def of(cls, parts: Mapped) -> Postings:
        """The postings of mapped arrays."""
        return cls(parts.array("starts"), parts.values("rows"), parts.values("counts"))

    def extended_by(self, later: Postings) -> Postings:
        """These postings combined with those of later rows."""
        sizes = np.zeros(len(later.starts) - 1, np.int64)
        sizes[: len(self.starts) - 1] = np.diff(self.starts)
        later_sizes = np.diff(later.starts)
        starts = np.concatenate(([0], np.cumsum(sizes + later_sizes)))
        mine = np.arange(len(self.rows)) + np.repeat(later.starts[:-1], sizes)
        theirs = np.arange(len(later.rows)) + np.repeat(np.cumsum(sizes), later_sizes)
        rows, counts = np.empty((2, int(starts[-1])), np.int32)
        rows[mine], rows[theirs] = self.rows.all(), later.rows.all()
        counts[mine], counts[theirs] = self.counts.all(), later.counts.all()
        return _postings(starts, rows, counts)


def _postings(starts: NDArray[np.int64], rows: NDArray[np.int32], counts: NDArray[np.int32]) -> Postings:
    return Postings(starts, Values(rows), Values(counts))


_NONE = np.empty(0, np.int32)
NO_POSTINGS = _postings(np.zeros(2, np.int64), _NONE, _NONE)


def build_postings(lexemes: NDArray[np.int32], rows: NDArray[np.int32], lexicon_size: int) -> Postings:
    """Postings of a stream of lexemes and their rows."""
    if not len(lexemes):
        return _postings(np.zeros(max(lexicon_size, 1) + 1, np.int64), _NONE, _NONE)
    span = np.int64(rows.max()) + 1
    pairs = np.sort(lexemes * span + rows)
    firsts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
    counts = np.diff(np.append(firsts, len(pairs))).astype(np.int32)
    owners, own_rows = np.divmod(pairs[firsts], span)
    starts = np.searchsorted(owners, np.arange(lexicon_size + 1))
    return _postings(starts.astype(np.int64), own_rows.astype(np.int32), counts)


class TextIndex:
    """The words of one field, as written by `analyse`; one text per row."""

    def __init__(self) -> None:
        self._texts = Texts[str | None]()
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
        kept.extend(self._texts.chosen(rows))
        return kept

    def parts(self, alive: NDArray[np.bool_]) -> Written:
        """The arrays of the living rows, renumbered, without words that only others have, to write."""
        count = len(alive)
        with self._lock:
            self._read(count)
            base, postings = self._postings.rows, self._postings.postings
            if base < count:
                postings = postings.extended_by(self._bulk(base, count)[0])
        postings, used = postings.select(alive)
        words, numbers = self._lexicon.words.packed(used), used.tolist()
        spoken, languages = self._lexicon.languages_of(numbers), LabelColumn()
        languages.extend(spoken)
        decoded = Texts[str](words)[:]
        rows = np.flatnonzero(alive)
        return {
            **under("texts", self._texts.packed(rows).parts(AccessPattern.SCATTERED)),
            "lengths": Chosen(self._lengths.head(count), rows),
            **under("words", in_order(words).parts()),
            **under("languages", languages.parts(np.arange(len(used)))),
            **under("stems", stems_of(decoded, spoken).parts()),
            **under("trigrams", Trigrams(decoded, 0).parts()),
            **under("postings", postings.parts()),
        }

    @classmethod
    def of(cls, parts: Mapped) -> TextIndex:
        """The field of mapped arrays."""
        made, languages = cls(), LabelColumn.of(parts.under("languages"))
        made._texts = Texts[str | None](Packed.of(parts.under("texts")))
        made._lengths = parts.growing("lengths")
        made._lexicon = Lexicon(SortedTexts.of(parts.under("words")), languages)
        made._stems = Stems(made._lexicon, KeptStems.of(parts.under("stems"), languages))
        known = len(made._lexicon.words)
        made._substrings.begin(Substrings(made._lexicon.kept.texts, 0), known)
        made._trigrams.begin(Trigrams.of(parts.under("trigrams")), known)
        made._postings = _RecentPostings(Postings.of(parts.under("postings")), len(made._lengths))
        return made

    @property
    def texts(self) -> Texts[str | None]:
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
        """Those of the first `count` rows that have a word, spelled exactly so; ascending."""
        with self._lock:
            self._read(count)
            lexemes = self._lexicon.spelled(word)
        parts = [self._postings.rows_of(lexeme) for lexeme in lexemes]
        rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate([_NONE, *parts]))
        return rows if count >= len(self._lengths) else rows[rows < count]

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
            self._lengths.extend(np.array([self._read_one(row) for row in range(done, count)], np.int32))

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
            for page in range(0, len(texts), PAGE):
                words = " ".join(texts[page : page + PAGE]).split(" ")
                lexemes.append(self._lexicon.numbers_of(language, words, len(words)))
            rows.append(np.repeat(np.array(own, np.int32), lengths[np.array(own) - start]))
        return build_postings(np.concatenate(lexemes), np.concatenate(rows), len(self._lexicon.words)), lengths

    def _read_one(self, row: int) -> int:
        """Add the postings of a row; returns the number of its words."""
        language, _, text = (self._texts[row] or "").partition(" ")
        words = text.split(" ") if text else []
        if words:
            self._postings.add(row, Counter(self._lexicon.numbers_of(language, words, len(words)).tolist()))
        return len(words)


class _RecentPostings:
    """Sorted postings of most rows, and the few newer rows by lexeme."""

    def __init__(self, postings: Postings, rows: int) -> None:
        self.postings = postings
        self.rows = rows
        self._recent: dict[int, list[tuple[int, int]]] = {}

    def add(self, row: int, counts: Counter[int]) -> None:
        """Add a newer row."""
        for lexeme, count in counts.items():
            self._recent.setdefault(lexeme, []).append((row, count))

    def rows_of(self, lexeme: int) -> NDArray[np.int32]:
        """The rows in which a lexeme occurs, ascending."""
        rows, recent = self.postings.rows_of(lexeme), tuple(self._recent.get(lexeme, ()))
        return np.concatenate((rows, np.array([row for row, _ in recent], np.int32))) if recent else rows

    def lookup(self, lexemes: NDArray[np.int32]) -> Occurrences:
        """The occurrences of some lexemes."""
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


def common_rows(some: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.int32]:
    """The rows that are in both; each is ascending."""
    if not len(others):
        return others
    places = np.minimum(others.searchsorted(some), len(others) - 1)
    return some[others[places] == some]


def _joined(found: Sequence[Matches]) -> Matches:
    if len(found) == 1:
        return found[0]
    if not found:
        return exact_matches(())
    return Matches(np.concatenate([part.lexemes for part in found]), np.concatenate([part.weights for part in found]))

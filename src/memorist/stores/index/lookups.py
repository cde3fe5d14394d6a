"""Looking a word up among many by a part of it, or by likeness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.lexicon import Matches

FUZZY_LENGTH = 4
"""Shorter words have too few trigrams to be alike by accident of typing rather than of chance."""
SIMILARITY = 0.3
"""The least share of common trigrams; a transposition in a word of five letters leaves a third."""


class Substrings:
    """Words joined into one string, in which a part of a word is found by scanning."""

    def __init__(self, words: Sequence[str], first: int) -> None:
        self._text = "\n".join(words)
        self._first = first
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        self._ends = np.cumsum(lengths + 1)

    def find(self, part: str) -> Matches:
        """The words that contain the part, each with how often it does, overlaps included."""
        places: list[int] = []
        place = self._text.find(part)
        while place >= 0:
            places.append(place)
            place = self._text.find(part, place + 1)
        words = np.searchsorted(self._ends, np.array(places, np.int64), side="right")
        found, times = np.unique(words, return_counts=True)
        return Matches((found + self._first).astype(np.int32), times.astype(np.float64))


class Trigrams:
    """Words by their trigrams, padded with two blanks before and one after, as PostgreSQL's pg_trgm does."""

    def __init__(self, words: Sequence[str], first: int) -> None:
        long = [number for number, word in enumerate(words) if len(word) >= FUZZY_LENGTH]
        self._numbers = np.array(long, np.int32) + np.int32(first)
        keys, owners = _distinct(*_trigrams([words[number] for number in long]))
        self._sizes = np.bincount(owners, minlength=len(long))
        self._keys, starts = np.unique(keys, return_index=True)
        self._starts = np.append(starts, len(keys))
        self._owners = owners

    def find(self, word: str) -> Matches:
        """The words at least `SIMILARITY` alike, by Jaccard similarity of their trigrams."""
        wanted = np.unique(_trigrams([word])[0])
        near = np.searchsorted(self._keys, wanted)
        known = near < len(self._keys)
        known[known] = self._keys[near[known]] == wanted[known]
        places: list[int] = near[known].tolist()
        owners = [self._owners[self._starts[at] : self._starts[at + 1]] for at in places]
        shared = np.bincount(np.concatenate([self._owners[:0], *owners]), minlength=len(self._sizes))
        touched = np.flatnonzero(shared)
        similarity = shared[touched] / (len(wanted) + self._sizes[touched] - shared[touched])
        alike = similarity >= SIMILARITY
        return Matches(self._numbers[touched[alike]], similarity[alike])


def _trigrams(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every trigram of every word as a number, and whose it is."""
    padded = [f"  {word} " for word in words]
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.int64)
    owners = np.repeat(np.arange(len(padded)), [len(word) for word in padded])
    inside = owners[2:] == owners[:-2]
    keys = (letters[:-2] << 42) | (letters[1:-1] << 21) | letters[2:]  # a code point has 21 bits
    return keys[inside], owners[2:][inside]


def _distinct(keys: NDArray[np.int64], owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Trigrams in order, each once per word."""
    if not len(keys):
        return keys, owners
    names, ranks = np.unique(keys, return_inverse=True)
    span = int(owners[-1]) + 1
    pairs = np.unique(ranks * span + owners)
    return names[pairs // span], pairs % span

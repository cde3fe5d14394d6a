"""The distinct words of a field, numbered, and the ways to look one up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.text.stems import stem, stem_all

T = TypeVar("T")
_SMALL = 1024


class Matches(NamedTuple):
    """Lexemes that a query word stands for, and how much each of them counts."""

    lexemes: NDArray[np.int32]
    weights: NDArray[np.float64]


def matches(lexemes: Sequence[int]) -> Matches:
    """Lexemes that count 1 each."""
    return Matches(np.array(lexemes, np.int32), np.ones(len(lexemes)))


class Lexicon:
    """Numbers for lexemes: a word in a language, since the same letters have other stems in another."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.languages: list[str] = []
        self._numbers: dict[str, _Numbers] = {}

    def numbered(self, language: str, words: Iterable[str], count: int) -> NDArray[np.int32]:
        """The numbers of so many words of a language; an unseen one gets the next."""
        numbers = self._numbers.get(language)
        if numbers is None:
            numbers = self._numbers[language] = _Numbers(language, self)
        return np.fromiter(map(numbers.__getitem__, words), np.int32, count)

    def spelled(self, word: str) -> list[int]:
        """The lexemes written exactly so, one for each language that has it."""
        return [numbers[word] for numbers in self._numbers.values() if word in numbers]


class _Numbers(dict[str, int]):
    def __init__(self, language: str, lexicon: Lexicon) -> None:
        self._language = language
        self._lexicon = lexicon

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self._lexicon.words)
        self._lexicon.words.append(word)
        self._lexicon.languages.append(self._language)
        return number


class Stems:
    """Lexemes by their stem, within each language."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._read = 0
        self._lexemes: dict[str, dict[str, list[int]]] = {}

    def find(self, word: str) -> Matches:
        """The lexemes that share a stem with the word, in whichever language."""
        self._catch_up()
        found: list[int] = []
        for language, lexemes in self._lexemes.items():
            found += lexemes.get(stem(word, language), ())
        return matches(found)

    def _catch_up(self) -> None:
        fresh: dict[str, list[int]] = {}
        for number in range(self._read, len(self._lexicon.words)):
            fresh.setdefault(self._lexicon.languages[number], []).append(number)
        for language, numbers in fresh.items():
            lexemes = self._lexemes.setdefault(language, {})
            stems = stem_all([self._lexicon.words[number] for number in numbers], language)
            for form, number in zip(stems, numbers, strict=True):
                lexemes.setdefault(form, []).append(number)
        self._read = len(self._lexicon.words)


class Layers(Generic[T]):
    """A structure over a growing list of words: a large part made rarely, and a small one of what came since."""

    def __init__(self, make: Callable[[Sequence[str], int], T]) -> None:
        self._make = make
        self._large: T | None = None
        self._small: T | None = None
        self._large_end = 0
        self._small_end = 0

    def over(self, words: Sequence[str]) -> list[T]:
        """The parts that together cover all words; each was made from words and the first one's number."""
        end = len(words)
        if end - self._large_end > max(_SMALL, self._large_end // 8):
            self._large, self._large_end = self._make(words, 0), end
            self._small, self._small_end = None, end
        elif end > self._small_end:
            self._small, self._small_end = self._make(words[self._large_end :], self._large_end), end
        return [part for part in (self._large, self._small) if part is not None]

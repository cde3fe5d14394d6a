"""The lexicon: numbers for words, and the ways a query word finds them: by stem, by part, by trigrams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.arrays import Mapped, Written
from memorist.stores.index.columns import LabelColumn
from memorist.stores.index.texts import NONE_SORTED, Packed, SortedTexts, Texts, encode_text, in_order, pack_texts
from memorist.text.words import stem, stem_all

T = TypeVar("T")
_SMALL = 1024


class Matches(NamedTuple):
    """The lexemes that match a query word, and their weights."""

    lexemes: NDArray[np.int32]
    weights: NDArray[np.float64]


def exact_matches(lexemes: Sequence[int]) -> Matches:
    """Lexemes with weight 1."""
    return Matches(np.array(lexemes, np.int32), np.ones(len(lexemes)))


class Lexicon:
    """Numbers for lexemes. A lexeme is a word in a language, because stems differ between languages.

    The first lexemes may be packed, with the numbers of their languages.
    """

    def __init__(self, kept: SortedTexts = NONE_SORTED, languages: LabelColumn | None = None) -> None:
        self.words = Texts[str](kept.texts)
        self.new_languages: list[str] = []
        self.kept = kept
        self.kept_languages = languages or LabelColumn()
        self._numbers: dict[str, _Numbers] = {}

    def numbers_of(self, language: str, words: Iterable[str], count: int) -> NDArray[np.int32]:
        """The numbers of `count` words of a language; a new word gets the next number."""
        numbers = self._numbers.get(language)
        if numbers is None:
            numbers = self._numbers[language] = _Numbers(language, self)
        return np.fromiter(map(numbers.__getitem__, words), np.int32, count)

    def spelled(self, word: str) -> list[int]:
        """The lexemes with exactly this spelling, one per language that has it."""
        new = [numbers[word] for numbers in self._numbers.values() if word in numbers]
        return list(dict.fromkeys((*self.kept.find_all(word), *new)))

    def languages_of(self, lexemes: Iterable[int]) -> list[str]:
        """The language of each lexeme."""
        names, known = list(map(str, self.kept_languages.numbers)), len(self.kept.order)
        codes: list[int] = self.kept_languages.codes.head(known).tolist()
        return [names[codes[lexeme]] if lexeme < known else self.new_languages[lexeme - known] for lexeme in lexemes]


class _Numbers(dict[str, int]):
    def __init__(self, language: str, lexicon: Lexicon) -> None:
        self._language = language
        self._lexicon = lexicon
        self._code = lexicon.kept_languages.numbers.get(language)

    def __missing__(self, word: str) -> int:
        number = self[word] = self._kept(word)
        return number

    def _kept(self, word: str) -> int:
        lexicon = self._lexicon
        if self._code is not None:
            for number in lexicon.kept.find_all(word):
                if lexicon.kept_languages.codes.head(number + 1)[number] == self._code:
                    return number
        lexicon.words.extend((word,))
        lexicon.new_languages.append(self._language)
        return len(lexicon.words) - 1


class Stems:
    """Lexemes by stem, per language."""

    def __init__(self, lexicon: Lexicon, kept: KeptStems | None = None) -> None:
        self._lexicon = lexicon
        self._kept = kept
        self._read = len(lexicon.kept.order)
        self._lexemes: dict[str, dict[str, list[int]]] = {}

    def find(self, word: str) -> Matches:
        """The lexemes that share a stem with the word in any language."""
        self._catch_up()
        found = [] if self._kept is None else self._kept.find(word)
        for language, lexemes in self._lexemes.items():
            found += lexemes.get(stem(word, language), ())
        return exact_matches(found)

    def _catch_up(self) -> None:
        known = len(self._lexicon.kept.order)
        fresh: dict[str, list[int]] = {}
        for number in range(self._read, len(self._lexicon.words)):
            fresh.setdefault(self._lexicon.new_languages[number - known], []).append(number)
        for language, numbers in fresh.items():
            lexemes = self._lexemes.setdefault(language, {})
            stems = stem_all([self._lexicon.words[number] for number in numbers], language)
            for form, number in zip(stems, numbers, strict=True):
                lexemes.setdefault(form, []).append(number)
        self._read = len(self._lexicon.words)


class KeptStems(NamedTuple):
    """The stems of packed lexemes, each with its language before it, and the lexemes of each stem."""

    stems: SortedTexts
    starts: NDArray[np.int64]
    lexemes: NDArray[np.int32]
    languages: Sequence[str]

    def find(self, word: str) -> list[int]:
        """The lexemes that share a stem with the word in any language."""
        found: list[int] = []
        for language in self.languages:
            place = self.stems.find(_spoken(language, stem(word, language)))
            if place is not None:
                found += self.lexemes[int(self.starts[place]) : int(self.starts[place + 1])].tolist()
        return found

    def parts(self) -> Written:
        """The arrays to write."""
        return {**self.stems.parts(), "starts": self.starts, "lexemes": self.lexemes}

    @classmethod
    def of(cls, parts: Mapped, languages: LabelColumn) -> KeptStems:
        """The stems of mapped arrays."""
        spoken = [language for language in languages.numbers if language is not None]
        return cls(SortedTexts.of(parts), parts.array("starts"), parts.array("lexemes"), spoken)


def _spoken(language: str, form: str) -> str:
    return f"{language} {form}"


def stems_of(words: Sequence[str], languages: Sequence[str]) -> KeptStems:
    """The stems of lexemes."""
    numbers: dict[str, list[int]] = {}
    for number, language in enumerate(languages):
        numbers.setdefault(language, []).append(number)
    lexemes: dict[str, list[int]] = {}
    for language, own in numbers.items():
        for form, number in zip(stem_all([words[number] for number in own], language), own, strict=True):
            lexemes.setdefault(_spoken(language, form), []).append(number)
    sizes = np.fromiter(map(len, lexemes.values()), np.int64, len(lexemes))
    every = np.fromiter(chain.from_iterable(lexemes.values()), np.int32, len(words))
    return KeptStems(in_order(pack_texts(lexemes)), np.concatenate(([0], np.cumsum(sizes))), every, list(numbers))


class Layered(Generic[T]):
    """A structure over a growing list of words: a large part that is rebuilt rarely, and a small part for new words."""

    def __init__(self, make: Callable[[Sequence[str], int], T]) -> None:
        self._make = make
        self._large: T | None = None
        self._small: T | None = None
        self._large_end = 0
        self._small_end = 0

    def begin(self, large: T, end: int) -> None:
        """Take the large part as given; it covers the words before `end`."""
        self._large, self._large_end, self._small_end = large, end, end

    def over(self, words: Sequence[str]) -> list[T]:
        """The parts that together cover all words; each is built from words and the number of the first one."""
        end = len(words)
        if end - self._large_end > max(_SMALL, self._large_end // 8):
            self._large, self._large_end = self._make(words[:], 0), end
            self._small, self._small_end = None, end
        elif end > self._small_end:
            self._small, self._small_end = self._make(words[self._large_end :], self._large_end), end
        return [part for part in (self._large, self._small) if part is not None]


FUZZY_LENGTH = 4
"""Shorter words have too few trigrams: similar ones are chance, not typos."""
SIMILARITY = 0.3
"""The minimum share of common trigrams; a transposition in a word of five letters leaves a third."""


class Substrings:
    """All words joined into one string of bytes, which is scanned for a substring."""

    def __init__(self, words: Sequence[str] | Packed, first: int) -> None:
        self._words = words if isinstance(words, Packed) else pack_texts(words)
        self._first = first

    @cached_property
    def _joined(self) -> bytes:
        return self._words.blob.all().tobytes()

    def find(self, part: str) -> Matches:
        """The words that contain the substring, weighted by the number of occurrences, overlaps included."""
        places: list[int] = []
        wanted = encode_text(part)
        place = self._joined.find(wanted)
        while place >= 0:
            places.append(place)
            place = self._joined.find(wanted, place + 1)
        words = np.searchsorted(self._words.ends.all(), np.array(places, np.int64), side="right")
        found, times = np.unique(words, return_counts=True)
        return Matches((found + self._first).astype(np.int32), times.astype(np.float64))


_TRIGRAM_ARRAYS = ("numbers", "sizes", "keys", "starts", "owners")


class Trigrams:
    """Words by trigram, padded with two blanks before and one after, as in PostgreSQL's pg_trgm."""

    def __init__(self, words: Sequence[str], first: int) -> None:
        long = [number for number, word in enumerate(words) if len(word) >= FUZZY_LENGTH]
        self._numbers = np.array(long, np.int32) + np.int32(first)
        keys, owners = _distinct(*_trigrams([words[number] for number in long]))
        self._sizes = np.bincount(owners, minlength=len(long))
        self._keys, starts = np.unique(keys, return_index=True)
        self._starts = np.append(starts, len(keys))
        self._owners = owners

    def parts(self) -> Written:
        """The arrays to write."""
        return {name: getattr(self, f"_{name}") for name in _TRIGRAM_ARRAYS}

    @classmethod
    def of(cls, parts: Mapped) -> Trigrams:
        """The trigrams of mapped arrays."""
        made = cls((), 0)
        for name in _TRIGRAM_ARRAYS:
            setattr(made, f"_{name}", parts.array(name))
        return made

    def find(self, word: str) -> Matches:
        """The words whose trigrams have a Jaccard similarity of at least `SIMILARITY`."""
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
    """Every trigram of every word as a number, and the position of the word."""
    padded = [f"  {word} " for word in words]
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.int64)
    owners = np.repeat(np.arange(len(padded)), [len(word) for word in padded])
    inside = owners[2:] == owners[:-2]
    keys = (letters[:-2] << 42) | (letters[1:-1] << 21) | letters[2:]  # a code point has 21 bits
    return keys[inside], owners[2:][inside]


def _distinct(keys: NDArray[np.int64], owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sorted trigrams, each once per word."""
    if not len(keys):
        return keys, owners
    names, ranks = np.unique(keys, return_inverse=True)
    span = int(owners[-1]) + 1
    pairs = np.sort(ranks * span + owners)
    pairs = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))]  # sorting is faster than the hashing of np.unique
    return names[pairs // span], pairs % span

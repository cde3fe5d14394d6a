"""The names that a text opens with: what it is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from memorist.text.patterns import lazy
from memorist.text.words import STOP_WORDS, fold, language

LONGEST_TEXT = 4_000
"""Characters of a text whose names are read."""
LONGEST_OPENING = 80
MOST_WORDS = 8

_WORD = lazy(r"[^\W_]+(?:[-.&'’][^\W_]+)*")
_POSSESSIVE = ("'s", "’s")
_BEGINS = lazy(r"(?:^|[.!?:;…\n\"“”„«(\[*•>-])\s*$")
_BEFORE = lazy(r"^\W*(?:(?:an?|the)\s+)?", re.IGNORECASE)


class Word(NamedTuple):
    """A word and where it stands, without a possessive ending."""

    text: str
    begin: int
    stop: int


class Opening(NamedTuple):
    """How a text begins, without an article: with a title, or the subject of the first sentence."""

    first: str
    head: str

    def words(self) -> list[Word]:
        """The first eight words."""
        return list(islice(_words(self.head), MOST_WORDS))

    def begins_with(self, name: str) -> bool:
        """Whether the first words are these."""
        words = name.split()
        return [word.text for word in self.words()[: len(words)]] == words


def opening(text: str) -> Opening:
    """How a text begins; its first word is empty where it has none."""
    head = _BEFORE.sub("", text[:LONGEST_OPENING])
    first = _WORD.match(head)
    return Opening(_owner(first[0]) if first else "", head)


class NameMentions:
    """The names that a text mentions.

    A name is a run of words with a capital or a digit, others between them, taken as a whole: of "New York City"
    neither "New York" nor "City". One word alone is a name only within a sentence, and an opening only as a whole:
    "DNA repair in yeast" does not open with "DNA".
    """

    def __init__(self, text: str) -> None:
        self._text = text[:LONGEST_TEXT]
        self._words = list(_words(self._text))
        folded = fold(" ".join(word.text for word in self._words))
        self._said = f" {folded} "
        self._grammar = STOP_WORDS.get(language(folded.split()), frozenset[str]())
        self._places = defaultdict[str, list[int]](list)
        for place, word in enumerate(self._words):
            self._places[word.text].append(place)

    def shared(self, opening: Opening) -> str:
        """The name that an opening begins with, if this text mentions it, else nothing."""
        places = self._places.get(opening.first)
        if not places or not self._tells(opening.first):
            return ""
        words = opening.words()
        size = max(self._size(place, words, opening.head) for place in places)
        return " ".join(word.text for word in words[:size])

    def says(self, name: str) -> bool:
        """Whether these words stand in this text one after another, case and accents aside."""
        return f" {fold(name)} " in self._said

    def capitals(self) -> list[str]:
        """The words that names are made of, each once, in order."""
        return [word for word in self._places if self._tells(word)]

    def _tells(self, word: str) -> bool:
        return (word[0].isupper() or word[0].isdigit()) and fold(word) not in self._grammar

    def _size(self, place: int, words: Sequence[Word], head: str) -> int:
        """How many words of an opening are a name that stands here."""
        size = _agreeing(words, self._words[place : place + len(words)])
        while size and not self._tells(words[size - 1].text):
            size -= 1
        telling = [word.text for word in words[:size] if self._tells(word.text)]
        if not any(word[0].isupper() and len(word) > 1 for word in telling):
            return 0
        if self._continues(place) or self._continues(place + size):
            return 0
        sure = len(telling) > 1 or (self._is_whole(words, size, head) and not self._begins_sentence(place))
        return size if sure else 0

    def _is_whole(self, words: Sequence[Word], size: int, head: str) -> bool:
        """Whether an opening's name ends where it does: at a mark, at a word of grammar, or where it is said again."""
        if size == len(words) or head[words[size - 1].stop : words[size].begin] != " ":
            return True
        return fold(words[size].text) in self._grammar or words[size].text == words[0].text

    def _continues(self, place: int) -> bool:
        """Whether the word here belongs to a name that began before it."""
        if not 0 < place < len(self._words):
            return False
        before, word = self._words[place - 1], self._words[place]
        return self._text[before.stop : word.begin] == " " and self._tells(before.text) and self._tells(word.text)

    def _begins_sentence(self, place: int) -> bool:
        begin = self._words[place].begin
        return bool(_BEGINS.search(self._text[max(0, begin - 4) : begin]))


def _words(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        word = _owner(found[0])
        yield Word(word, found.start(), found.start() + len(word))


def _owner(word: str) -> str:
    return word[:-2] if word.endswith(_POSSESSIVE) else word


def _agreeing(some: Sequence[Word], others: Sequence[Word]) -> int:
    """How many words are the same from the first on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0].text == pair[1].text, zip(some, others, strict=False)))

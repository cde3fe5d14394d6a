"""Stems by Snowball (https://snowballstem.org), where a language has a stemmer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, cast

import Stemmer

_ALGORITHMS = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish", "ru": "russian",
    "el": "greek", "ar": "arabic", "hi": "hindi",
}  # fmt: skip


class _Snowball(Protocol):
    def stemWords(self, words: Sequence[str], /) -> list[str]: ...  # noqa: N802


_snowball = cast("Callable[[str, int], _Snowball]", Stemmer.Stemmer)


@lru_cache(maxsize=8192)
def stem(word: str, language: str) -> str:
    """A word's stem; the word itself where its language has no stemmer."""
    return stem_all([word], language)[0]


def stem_all(words: Sequence[str], language: str) -> list[str]:
    """The stems of many words of one language, in their order."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return list(words)
    # A stemmer is not safe to share between threads, and costs a microsecond to make.
    return _snowball(algorithm, 0).stemWords(words)

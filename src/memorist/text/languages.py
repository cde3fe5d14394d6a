"""Which language a text is in: by its script, and for Latin letters by its most common words."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from memorist.text.stop_words import STOP_WORDS

DEFAULT = "en"
NOT_LATIN = frozenset(("ar", "cjk", "el", "he", "hi", "ru", "th"))
"""Languages that are told by their script."""
_SAMPLE = 400
_LATIN: tuple[str, ...] = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi")
_MARGIN = 0.5
"""How much more a language must show than English, as a short text may hold one foreign word."""

# First code point of each range of scripts, and the language that stands for it; "" is none.
_RANGES = (
    (0x0000, ""), (0x0061, "latin"), (0x007B, ""), (0x00C0, "latin"), (0x02B0, ""), (0x0370, "el"), (0x0400, "ru"),
    (0x0530, ""), (0x0590, "he"), (0x0600, "ar"), (0x0780, ""), (0x0900, "hi"), (0x0980, ""), (0x0E00, "th"),
    (0x0E80, ""), (0x1100, "cjk"), (0x1200, ""), (0x1C80, "ru"), (0x1C90, ""), (0x1E00, "latin"), (0x1F00, "el"),
    (0x2000, ""), (0x3005, "cjk"), (0xA000, ""), (0xAC00, "cjk"), (0xD7B0, ""), (0x20000, "cjk"), (0x40000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _RANGES]


def language(words: Sequence[str]) -> str:
    """A text's language from its words, as a code such as `en`; `cjk` for Chinese, Japanese and Korean."""
    scripts = Counter(map(_script, islice(words, _SAMPLE)))
    del scripts[""]
    if not scripts:
        return DEFAULT
    script = max(scripts, key=lambda name: (scripts[name], name))
    return _latin_language(islice(words, _SAMPLE)) if script == "latin" else script


def _script(word: str) -> str:
    return _RANGES[bisect_right(_STARTS, ord(word[0])) - 1][1]


def _latin_language(words: Iterable[str]) -> str:
    scores = dict.fromkeys(_LATIN, 0.0)
    for word in words:
        for name in _SPEAKERS.get(word, ()):
            scores[name] += 1 / len(_SPEAKERS[word])
    best = max(_LATIN, key=lambda name: scores[name])
    return best if scores[best] > scores[DEFAULT] + _MARGIN else DEFAULT


def _speakers() -> dict[str, tuple[str, ...]]:
    everyone = {word for name in _LATIN for word in STOP_WORDS[name]}
    return {word: tuple(name for name in _LATIN if word in STOP_WORDS[name]) for word in everyone}


_SPEAKERS = _speakers()
"""The languages in which a word is common: the fewer, the more it tells."""

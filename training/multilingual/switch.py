"""Code switching: English texts with words of another language."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

UNSPACED = ("ja", "zh")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|[^A-Za-z]+")
_LOWER = frozenset(
    ["i", "what", "who", "when", "where", "why", "how", "which", "the", "a", "is", "was", "did", "do", "does"]
)


class Switch:
    """Exchanges words of an English text for those of another language; names stay."""

    def __init__(self, dictionary: Mapping[str, Mapping[str, list[str]]]) -> None:
        self._dictionary = dictionary
        self.languages = sorted(dictionary)

    def __call__(self, text: str, language: str, share: float, draw: random.Random) -> str:
        words, parts = self._dictionary[language], list[str]()
        for part in _WORD.findall(text):
            found = words.get(part.lower())
            name = part[0].isupper() and part.lower() not in _LOWER and parts
            parts.append(part if found is None or name or draw.random() > share else draw.choice(found))
        if language in UNSPACED:
            parts = ["" if part == " " and _is_inside(parts, place) else part for place, part in enumerate(parts)]
        return "".join(parts)


def _is_inside(parts: Sequence[str], place: int) -> bool:
    near = [parts[other] for other in (place - 1, place + 1) if 0 <= other < len(parts)]
    return all(not name or ord(name[0]) > 0x2E80 for name in near)

"""Sentences of texts, and estimates of their token counts."""

from __future__ import annotations

import re

from memorist.text.patterns import lazy
from memorist.text.words import EMOJI, UNSPACED

_PIECE = lazy(
    rf"(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)|(?P<digits>\d+)|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<letters>[^\W\d_]+)|(?P<emoji>[{EMOJI}])|(?P<line>\n\s*)|\S"
)
_ASCII_TOKEN = lazy(r"(?<![A-Za-z])[A-Za-z]{1,6}|[A-Za-z]{1,4}|[0-9]{1,3}|\n\s*|\S")
"""Each match is one token; the same count for ASCII text."""


def count_tokens(text: str) -> int:
    """An estimate of the number of tokens that is rarely too low: the sum over the pieces, each rounded up.

    A word in Latin letters counts 1 for up to six letters and 1 for every four more; three digits count 1;
    four characters of a script without spaces 5; two letters of any other script 1; an emoji 2;
    a line break or any other sign 1.
    """
    if text.isascii():
        return len(_ASCII_TOKEN.findall(text))
    return sum(_tokens(piece.lastgroup, len(piece[0])) for piece in _PIECE.finditer(text))


def _tokens(kind: str | None, length: int) -> int:
    match kind:
        case "latin":
            return 1 + max(0, _ceil(length - 6, 4))
        case "digits":
            return _ceil(length, 3)
        case "unspaced":
            return _ceil(length * 5, 4)
        case "letters":
            return _ceil(length, 2)
        case "emoji":
            return 2
        case _:
            return 1


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


# A full stop after these does not end a sentence: titles, abbreviations, months, hours and initials.
_ABBREVIATION = lazy(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|approx|no|vol|fig|dept|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct"
    r"|nov|dec)|\b[a-z]|\be\.g|\bi\.e|\b[ap]\.m)\.$",
    re.IGNORECASE,
)
# Each run of signs is tried once, from its start, so that a long one takes linear time.
_END = lazy(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？｡]+[」』”’）]*|\n+")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped; a line break ends a sentence too."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if end[0] == "." and _ABBREVIATION.search(text, max(start, end.end() - 12), end.end()):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    return [one for piece in (*found, text[start:]) if (one := piece.strip())]


def holds_any(text: str, hints: tuple[str, ...]) -> bool:
    """Whether a text contains one of the hints; a plain loop, because it runs some forty times per text."""
    for hint in hints:  # noqa: SIM110
        if hint in text:
            return True
    return False

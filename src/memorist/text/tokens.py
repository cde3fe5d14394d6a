"""How many tokens a language model will see in a text, estimated without its tokenizer."""

from __future__ import annotations

import re

from memorist.text.scripts import EMOJI, UNSPACED

_PIECE = re.compile(
    rf"(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)|(?P<digits>\d+)|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<letters>[^\W\d_]+)|(?P<emoji>[{EMOJI}])|(?P<line>\n\s*)|\S"
)
_ASCII_TOKEN = re.compile(r"(?<![A-Za-z])[A-Za-z]{1,6}|[A-Za-z]{1,4}|[0-9]{1,3}|\n\s*|\S")
"""Each match is one token by the same count, for text that has none of the other scripts."""


def count_tokens(text: str) -> int:
    """An estimate that rarely falls short: the sum over a text's pieces, each rounded up.

    A word in Latin letters counts 1 up to six letters and 1 for each further four; three digits 1;
    four characters of a script without spaces 5; two letters of any other script 1; an emoji 2;
    a line break and any other sign 1.
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

"""When two texts are the same text: they differ at most in case, white space and a final full stop."""

from __future__ import annotations

from unicodedata import category, normalize

FULL_STOPS = (".", "。")


def canonical(text: str) -> str:
    """The text as it is compared: in one case, with single spaces, without one final full stop.

    Everything else may be the news: a sign, a digit, a question mark, an accent.
    """
    cased = text.lower() if text.isascii() else normalize("NFC", one_case(normalize("NFD", text)))
    plain = " ".join(cased.split())
    if plain.endswith(FULL_STOPS) and not plain[:-1].rstrip().endswith(FULL_STOPS):
        return plain[:-1].rstrip() or plain
    return plain


def signs(text: str) -> str:
    """The signs of a text that are neither letters nor ordinary punctuation, such as + # = → 👍, in order."""
    return "".join(character for character in text if character in _TELLING or category(character).startswith("S"))


_TELLING = frozenset("#%&*/@\\-")


def one_case(text: str) -> str:
    """The text without case; ß stays apart from ss, because a Maß is no mass."""
    return "ß".join(part.casefold() for part in text.replace("ẞ", "ß").split("ß"))

"""One spelling for what readers see as the same word: case, width and accents folded."""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not take apart, signs whose compatibility form would stick to the word
# before them, and characters that have no width.
_SPELLED = {
    "Ø": "O", "ø": "o", "Ł": "L", "ł": "l", "Đ": "D", "đ": "d", "Ð": "D", "ð": "d", "Þ": "Th", "þ": "th",
    "Æ": "Ae", "æ": "ae", "Œ": "Oe", "œ": "oe", "ı": "i", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-",
    "™": " ", "℠": " ",
    "\u00ad": "", "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufe0e": "", "\ufe0f": "", "\ufeff": "",
}  # fmt: skip
_SPELLED_ANY = re.compile(f"[{''.join(_SPELLED)}]")

# Accents of Latin, Greek and Cyrillic (not the breve of й, which is a letter), points of Hebrew,
# vowel signs and the lengthening stroke of Arabic. Other scripts' marks carry meaning and stay.
_MARKS = re.compile(
    "[\u0300-\u0305\u0307-\u034e\u0350-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670]|(?<!и)\u0306"
)

# Normalising sorts each run of marks, in quadratic time; the joiner ends a run (UAX #15, stream-safe text).
_LONG_RUN = re.compile(r"([^\w\s\x00-\x7f]{30})(?=[^\w\s\x00-\x7f])")
_JOINER = "\u034f"


def fold(text: str) -> str:
    """A text in compatibility form, case-folded, without accents; never raises, linear in its length."""
    if text.isascii():
        return text.lower()
    text = _SPELLED_ANY.sub(lambda found: _SPELLED[found[0]], text)
    text = _LONG_RUN.sub(rf"\1{_JOINER}", text)
    text = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _MARKS.sub("", text)).replace(_JOINER, "")


def beginning(name: str) -> str:
    """What names have in common of which one may be the other misspelt or cut short: three letters."""
    return fold(name)[:3]

"""Disguises of a text: signs that do not show, letters of other alphabets, codes. What a model reads through them."""

from __future__ import annotations

import binascii
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from html import unescape

from memorist.text.labels import UNSEEN
from memorist.text.patterns import lazy

_ALIKE = (
    "AАΑ aаαɑ BВΒ CС cс EЕΕ eе FҒ GԌ gɡ HНΗ hһ IІӀΙ iіӏιı JЈ jј KКΚ kкκ MМΜ NΝ nո OОΟ oоο PРΡ pрρ QԚ SЅ sѕ TТΤ"
    " uսυ VѴ vν WԜ wԝω XХΧ xхχ YУΥ yуγ ZΖ"
)
"""Each Latin letter with letters of other alphabets that look like it."""
_LETTERS = {ord(like): group[0] for group in _ALIKE.split() for like in group[1:]}
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""Letters that do not show, and that models read."""
_SIGNS = lazy(f"[{UNSEEN}\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]")
_CODE = lazy(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,4096}+={0,2}")
_MIRROR = "\u202e"
MOST_CODES = 50


def readings(text: str) -> Iterator[str]:
    """A text as it is written, and every other way to read it that differs."""
    yield text
    if not text.isascii():
        bare = uncovered(text)
        if bare != text:
            yield bare
        if _MIRROR in text:
            yield bare[::-1]
    if "&#" in text:
        yield unescape(text)
    yield from _decoded(text)


def uncovered(text: str) -> str:
    """A text in plain letters: without accents and signs that do not show, and with Latin letters for their likes."""
    plain = unicodedata.normalize("NFKD", text.translate(_TAGS))
    return _SIGNS.sub("", plain).translate(_LETTERS)


def _decoded(text: str) -> Iterator[str]:
    """The texts that stand in it in Base64."""
    for place, found in enumerate(_CODE.finditer(text)):
        if place == MOST_CODES:
            return
        code = found[0].rstrip("=")
        try:
            said = b64decode(code + "=" * (-len(code) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        yield said

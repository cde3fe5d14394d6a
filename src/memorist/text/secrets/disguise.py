"""What a text shows or stands for: without characters that do not show, wide letters, escapes and emphasis."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from unicodedata import normalize

from memorist.text.labels import UNSEEN
from memorist.text.patterns import lazy

_UNSEEN = lazy(f"[{UNSEEN}\u200c\u200d]")
FOR_ASCII = (
    "\xa0-\xba\u017f\u02b0-\u02e3\u037e\u1d2c-\u1d65\u1d9c-\u1dbb\u1fef-\u209c\u2102-\u217f\u2212\u2460-\u2468"
    "\u24b6-\u24ea\u2c7c\u2c7d\u3000\ua7f2-\ua7f4\ufb29\ufe10-\ufe6b\uff01-\uff5e\U000107a5\U0001d400-\U0001d6a3"
    "\U0001d7ce-\U0001d7ff\U0001f12b-\U0001f149\U0001fbf0-\U0001fbf9"
)
"""Ranges with every character that may stand for one of ASCII: wide, small, raised, circled and mathematical ones."""
_DRESS = lazy(
    rf"[{UNSEEN}\u200c\u200d{FOR_ASCII}]|\\u[0-9A-Fa-f]{{4}}|\\x[0-9A-Fa-f]{{2}}|%[2-7][0-9A-Fa-f]"
    r"|&(?:#\d{2,3}|#x[0-9A-Fa-f]{2}|quot|apos|amp|colon|equals);|\\(?=[\\\"'/])|\\\n|\*\*|__(?=\W)|(?<!\w)__"
)
_DRESSED = lazy(r"[^\t-\r\x1c-$'-)+-\[\]^`-~]")
"""Every sign that may begin a disguise; a search for it skips plain text quickly."""
_NAMES = {"quot": '"', "apos": "'", "amp": "&", "colon": ":", "equals": "="}
_DASHES = frozenset("‐‑‒–—−")


@dataclass(frozen=True, slots=True)
class Bare:
    """A text without disguise, and where its parts stand in the given text."""

    text: str
    _starts: tuple[int, ...]
    _before: tuple[int, ...]

    def place(self, position: int) -> int:
        """The place in the given text of a character of the bare one."""
        part = bisect_right(self._starts, position) - 1
        return self._before[part] + position - self._starts[part]

    def end(self, position: int) -> int:
        """The place in the given text behind a character of the bare one, which may be an escape of several signs."""
        part = bisect_right(self._starts, position) - 1
        escaped = self._starts[part] == position and self._starts[part + 1 : part + 2] == (position + 1,)
        return self._before[part + 1] if escaped else self.place(position) + 1


def bare(text: str) -> Bare | None:
    """The text without disguise; None if it wears none."""
    if not _DRESSED.search(text):
        return None
    pieces: list[str] = []
    starts, before = [0], [0]
    length = end = 0
    for found in _DRESS.finditer(text):
        shown = _shown(found)
        if shown == found[0]:
            continue
        pieces += text[end : found.start()], shown
        length += found.start() - end
        end = found.end()
        for place in range(len(shown)):
            starts.append(length + place)
            before.append(found.start())
        length += len(shown)
        starts.append(length)
        before.append(end)
    return Bare("".join((*pieces, text[end:])), tuple(starts), tuple(before)) if pieces else None


def _shown(found: re.Match[str]) -> str:
    """What a sign or an escape stands for: one character of ASCII, or nothing; anything else stays."""
    sign = found[0]
    if sign[0] == "\\":
        return _character(sign[2:], 16) if sign[1:2] in ("u", "x") else ""
    if sign[0] == "%":
        return _character(sign[1:], 16)
    if sign[0] == "&":
        name = sign[1:-1]
        hexadecimal = name.startswith("#x")
        return _NAMES.get(name) or _character(name.lstrip("#x"), 16 if hexadecimal else 10)
    if sign in ("**", "__") or _UNSEEN.fullmatch(sign):
        return ""
    plain = "-" if sign in _DASHES else normalize("NFKC", sign)
    return plain if len(plain) == 1 and plain.isascii() else sign


def _character(digits: str, base: int) -> str:
    code = int(digits, base)
    return chr(code) if 32 <= code < 127 else " "

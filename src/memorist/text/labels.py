"""Texts and names from memories, written so that they cannot pass for the structure around them."""

from __future__ import annotations

import re

from memorist.text.patterns import lazy

UNSEEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\ud800-\udfff"
)
"""Characters that change how a line reads and do not show: controls, directions, fillers, tags, half characters."""
LINE_ENDS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
"""Characters that some reader takes for the end of a line."""
LONGEST_LABEL = 120

# Joiners shape letters and emoji of other scripts and hide in ASCII; several variation selectors in a row carry data.
_HIDDEN = lazy(
    f"[{UNSEEN}]|(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d](?![^\x00-\x7f])"
    "|(?<=[\u200c\u200d])[\u200c\u200d]+|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
)
_JOINERS = lazy("[\u200c\u200d]")
_FENCE = lazy(r"<(?=[/|])|`{3,}|~{3,}")
_SIGNS = lazy(r"[()\[\]{}<>,;`（）［］｛｝【】〔〕，；：]")
_END_COLON = lazy(r"(?<!:):++(?=\s|$)")
_MARKDOWN = lazy(r"^[#>+*=~|-]|[\\`\[\]<]|%(?=%)")


def plain(text: str) -> str:
    """A text on one line, without characters that do not show."""
    if not (text.isascii() and text.isprintable()):
        text = _HIDDEN.sub("", text)
    return " ".join(text.split())


def quoted(text: str) -> str:
    """A plain text that ends no fence around it: `</` and `<|` are parted, three backticks or tildes become one."""
    return _FENCE.sub(_opened, plain(text))


def _opened(found: re.Match[str]) -> str:
    return "< " if found[0] == "<" else found[0][0]


def label(text: str | None) -> str:
    """A name within a line: quoted, without brackets, commas, semicolons and a colon that ends it, and not too long.

    Empty for a text in which nothing is left.
    """
    unsigned = _SIGNS.sub(" ", _JOINERS.sub("", quoted((text or "")[: 10 * LONGEST_LABEL])))
    bare = " ".join(_END_COLON.sub("", unsigned).split())
    return bare if len(bare) <= LONGEST_LABEL else f"{bare[:LONGEST_LABEL].rstrip()}…"


def in_markdown(text: str) -> str:
    """A plain text as Markdown that forms no heading, list, link, image, code, comment or HTML."""
    return _MARKDOWN.sub(r"\\\g<0>", plain(text))

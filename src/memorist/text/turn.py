"""A turn of talk as our models read it: when it was said, by whom, what, and what had been said just before."""

from __future__ import annotations

from datetime import datetime

NEAR = 200
"""Characters of the turn before that are read: its end, where questions stand."""
MARK = "‖"
"""Parts what was said from what was said before it; in a text it is read as a plain bar."""


def told(text: str, *, speaker: str | None = None, at: datetime | None = None, before: str | None = None) -> str:
    """`[8 May 2023] Ann: It went well. ‖ before: Ben: How was it?`; every part but the text may be missing."""
    date = f"[{at.day} {at:%B} {at.year}] " if at else ""
    context = f" {MARK} before: {before}" if before else ""
    return f"{date}{spoken(text, speaker)}{context}"


def spoken(text: str, speaker: str | None) -> str:
    """A text with its speaker, unless it says so itself."""
    plain = text.replace(MARK, "|")
    return plain if not speaker or plain.startswith(f"{speaker}:") else f"{speaker}: {plain}"


def ending(text: str, speaker: str | None) -> str:
    """The end of a turn, as the one after it is read with."""
    return spoken(text, speaker)[-NEAR:]

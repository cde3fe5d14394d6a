"""Sentences of a text, in plain prose of any script."""

from __future__ import annotations

import re

# A full stop after these ends no sentence: titles, Latin shorthand, months, hours, and single initials.
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|approx|no|vol|fig|dept|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct"
    r"|nov|dec)|\b[a-z]|\be\.g|\bi\.e|\b[ap]\.m)\.$",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？｡]+[」』”’）]*|\n+")


def sentences(text: str) -> list[str]:
    """A text's sentences in order, each without the blanks around it; lines end sentences too."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if end[0] == "." and _ABBREVIATION.search(text, max(start, end.end() - 12), end.end()):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    return [one for piece in (*found, text[start:]) if (one := piece.strip())]

"""A change of a settings file as a unified diff, in the file's own format, without the secrets of its other lines."""

from __future__ import annotations

from difflib import unified_diff

from memorist.errors import without_passwords
from memorist.remember.redaction import text_without_secrets
from memorist.text.patterns import lazy

CONTEXT = 2
MOST_LINES = 2000
"""The most lines that are compared; beyond that, comparing may take minutes."""
LONGEST_LINE = 2000
_SECRET = lazy(
    r"""(?ix) ( [\w.-]{0,60} (?:key|token|secret|passw(?:or)?d|pwd|auth(?:orization)?|credentials?|cookie) ["']?
    (?: \s{0,4} [:=] \s{0,4} | \s{0,4} , \s{0,4} ) ) ("(?:[^"\\\n]|\\.){1,4000}+"?|'[^'\n]{1,4000}'?)"""
)


def diff(before: str, after: str, file: str) -> str:
    """The lines that change, with some around them; equal lines at both ends are not compared."""
    old, new = before.splitlines(), after.splitlines()
    start = max(0, _shared(old, new) - CONTEXT)
    end = max(0, _shared(old[start:][::-1], new[start:][::-1]) - CONTEXT)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > MOST_LINES:
        return f"{file} differs in {len(old)} lines, too many to compare"
    lines = unified_diff(old, new, file, file, n=CONTEXT, lineterm="")
    return _masked([_moved(line, start) if line.startswith("@@") else line for line in lines])


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines are equal from the beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _moved(heading: str, by: int) -> str:
    """The heading of a part, with the line numbers of the whole file."""
    words = heading.split()
    for place in (1, 2):
        number, comma, count = words[place][1:].partition(",")
        words[place] = f"{words[place][0]}{int(number) + by}{comma}{count}"
    return " ".join(words)


def _masked(lines: list[str]) -> str:
    text = "\n".join(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …" for line in lines)
    return _SECRET.sub(r'\1"…"', without_passwords(text_without_secrets(text)))

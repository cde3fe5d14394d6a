"""Whether a text asks for something, or only says it."""

from __future__ import annotations

from memorist.text.words import words

_MARKS = frozenset("?？؟")
_WORDS = """
who whom whose what when where which why how
is are was were am do does did has have had can could will would shall should may might
list name tell give show find mention describe explain
"""
_ASKING = frozenset(_WORDS.split())


def asks(text: str) -> bool:
    """A question mark anywhere, or an English word first that begins a question or a request."""
    return not _MARKS.isdisjoint(text) or next(iter(words(text)), "") in _ASKING

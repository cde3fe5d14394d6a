"""Sentences that stand elsewhere too: how much of a text was copied, whatever it was dressed in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorist.text.fold import fold
from memorist.text.sentences import sentences

SHORTEST = 20
"""Letters of a sentence whose return is no accident; scripts without spaces say as much in a third of them."""
_PREFIX = re.compile(r"^\s*(?:\[\d{1,3}\]|[-*•]|\d{1,3}[.)])?\s*(?:\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\s+)?")
_CITED = re.compile(r"\s*\([^()\n]{1,200}\)\s*$")
_SAID_BY = re.compile(r"^[^\W\d_][\w.'’ -]{0,30}:\s+")
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Copies:
    """How much of a text stands elsewhere: sentences, where they do, and their share of its letters."""

    sentences: int
    sources: tuple[str, ...]
    share: float


def copies(pieces: Sequence[str], holders: Mapping[str, Sequence[str]]) -> Copies:
    """How much of a text's pieces stands elsewhere, given who holds each; as few sources as explain it."""
    copied = [piece for piece in pieces if piece in holders]
    shares = Counter(holder for piece in copied for holder in holders[piece])
    sources = dict.fromkeys(max(holders[piece], key=shares.__getitem__) for piece in copied)
    letters = sum(map(len, pieces))
    return Copies(len(copied), tuple(sources), sum(map(len, copied)) / letters if letters else 0.0)


def pieces_of(text: str) -> list[str]:
    """A text's sentences as they can be compared: folded letters, without numbering, dates, speakers and citations."""
    return [piece for line in text.splitlines() for piece in _pieces(_undressed(line))]


def _undressed(line: str) -> str:
    return _SAID_BY.sub("", _CITED.sub("", _PREFIX.sub("", line)))


def _pieces(line: str) -> Iterable[str]:
    for sentence in sentences(line):
        piece = _SIGNS.sub(" ", fold(sentence)).strip()
        if len(piece) >= SHORTEST or (not piece.isascii() and " " not in piece and len(piece) >= SHORTEST // 3):
            yield piece

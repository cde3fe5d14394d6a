"""The words of a text: what stores keep of it for searching, and what a query is looked up by."""

from __future__ import annotations

import re

from memorist.text.fold import fold
from memorist.text.languages import language
from memorist.text.scripts import EMOJI, FLAG_LETTER, LETTER, UNSPACED
from memorist.text.stop_words import STOP_WORDS

LONGEST = 64
"""Longer runs of letters are cut into pieces of this many, on both sides alike."""

_UNSPACED_RUN = re.compile(f"([{UNSPACED}]+)")
_JOINT = r"(?:[-.@/:'&]|(?<=\d),(?=\d{3}(?!\d)))"
_RUN = f"[{LETTER}]+"
_JOINED_RUNS = re.compile(rf"{_RUN}(?:{_JOINT}{_RUN})*(?:\+\+|\#(?!\w))?|[{FLAG_LETTER}]{{2}}|[{EMOJI}]")

_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_]){1,15}")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
_BETWEEN_PARTS = re.compile(r"[-_.@/:&+#]+")
_DROPPED_TAILS = frozenset(("s", "ll", "re", "ve", "m", "d"))


def words(text: str) -> list[str]:
    """A text's words in order: folded, with apostrophes resolved; unspaced scripts as overlapping pairs.

    An identifier such as `user_id`, `v1.2.3` or `foo@bar.com` gives its parts and then the whole of it.
    """
    found: list[str] = []
    spaced = True
    for stretch in _UNSPACED_RUN.split(fold(text)):
        found.extend(_spaced_words(stretch) if spaced else _pairs(stretch))
        spaced = not spaced
    return found


def analyse(*texts: str) -> str:
    """What a store keeps for searching: the language, then the words of all texts, parted by spaces."""
    found = [word for text in texts for word in words(text)]
    return " ".join((language(found), *found))


def query_words(text: str) -> list[str]:
    """A query's words, each once, without the stop words of its language unless nothing else is left."""
    found = list(dict.fromkeys(words(text)))
    common = STOP_WORDS.get(language(found), frozenset())
    return [word for word in found if word not in common] or found


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


def _spaced_words(text: str) -> list[str]:
    found: list[str] = []
    for run in _JOINED_RUNS.findall(text):
        if (run.isalnum() and len(run) <= LONGEST) or (len(run) == 1 and run != "_"):
            found.append(run)
        else:
            found.extend(_resolved(run))
    return found


def _resolved(run: str) -> list[str]:
    if _ACRONYM.fullmatch(run):
        return [run.replace(".", "")]
    run = run.replace(",", "").strip("_")
    parts = [part for part in _BETWEEN_PARTS.split(run) if part]
    if "'" in run:
        return _cut([piece for part in parts for piece in _without_apostrophes(part)])
    if not parts or parts == [run] or len(run) > LONGEST or _HYPHENATED.fullmatch(run):
        return _cut(parts)
    return [*parts, run]


def _without_apostrophes(part: str) -> list[str]:
    """Don't → dont, Alice's → alice, l'homme → l homme."""
    stem, *tails = part.split("'")
    pieces = [stem]
    for tail in tails:
        if tail == "t" and len(pieces[-1]) < LONGEST:
            pieces[-1] += tail
        elif tail not in _DROPPED_TAILS:
            pieces.append(tail)
    return [piece for piece in pieces if piece]


def _cut(parts: list[str]) -> list[str]:
    if all(len(part) <= LONGEST for part in parts):
        return parts
    return [part[start : start + LONGEST] for part in parts for start in range(0, len(part), LONGEST)]

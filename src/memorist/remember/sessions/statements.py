"""What a trajectory shows to be so, by rules: plain statements about something that has a name, a number or a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from memorist.asking.session import Turn
from memorist.asking.trajectory import Proposition
from memorist.remember.extract.names import name_runs
from memorist.text.phrases import phrases
from memorist.text.sentences import sentences

MOST = 5
"""Statements of one trajectory."""
MOST_CONCEPTS = 4
FEWEST_WORDS, MOST_WORDS = 4, 40
STATED, TOLD = 0.8, 0.6
"""How sure a statement is: of how something is, or of what it did."""
_LONGEST = 20_000

_IS = re.compile(
    r"\b(?:is|are|has|have|had|needs?|requires?|uses?|contains?|means?|must|can|cannot|can't|supports?|depends|expects?"
    r"|accepts?|listens?|returns?|belongs?|lives?|runs?|stores?|holds?|owns?|costs?|takes?|allows?|defaults?|equals?"
    r"|always|never|only|reads?|writes?|starts?|ends?|begins?|consists?)\b",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"\b(?:was|were|did|\w{2,}ed|became|went|ran|took|came|gave|got|made|broke|found|sent|set|kept)\b", re.IGNORECASE
)
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|seems?|might|may|think|guess|suppose|unclear|not sure|should|could|would"
    r"|let's|let me|please|i|we|you)\b",
    re.IGNORECASE,
)
_EXACT = re.compile(r"\d|`[^`]+`|\w[\w.-]*/[\w./-]+|\b\w+[._]\w{2,}\b|\b[A-Z]{2,}\b")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


def statements(turns: Sequence[Turn]) -> tuple[Proposition, ...]:
    """The surest statements of what was observed, in the order they were made; no two with the same words."""
    found: dict[str, Proposition] = {}
    for turn in turns:
        for sentence in sentences(turn.observation[:_LONGEST]):
            sure = _how_sure(sentence)
            if sure is not None:
                found.setdefault(" ".join(sentence.casefold().split()), _proposition(sentence, sure))
    best = sorted(found.values(), key=lambda one: -one.confidence)[:MOST]
    return tuple(one for one in found.values() if one in best)


def _how_sure(sentence: str) -> float | None:
    """None where it is no statement, or about nothing in particular."""
    words = _LETTERS.findall(sentence)
    if not FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS or len(words) * 2 < len(sentence.split()):
        return None  # a fragment, a page, or a table
    if sentence.rstrip("\"'”’)").endswith(("?", "？", ":", "…")) or _HEDGED.search(sentence):
        return None
    if not (_EXACT.search(sentence) or any(name_runs(sentence))):
        return None
    if _IS.search(sentence):
        return STATED
    return TOLD if _WAS.search(sentence) else None


def _proposition(sentence: str, sure: float) -> Proposition:
    found = sorted(phrases(sentence), key=lambda phrase: not phrase.name)
    concepts = dict.fromkeys(concept for phrase in found for concept in _things(phrase.words))
    return Proposition(sentence, tuple(concepts)[:MOST_CONCEPTS], sure)


def _things(words: Sequence[str]) -> Iterator[str]:
    """The parts of a phrase between its numbers and verbs."""
    for is_thing, run in groupby(words, key=_is_thing):
        if is_thing:
            yield " ".join(run)


def _is_thing(word: str) -> bool:
    return not (word.isdecimal() or _IS.fullmatch(word) or _WAS.fullmatch(word))

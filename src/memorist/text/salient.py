"""What many texts are about, in their own sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memorist.text.fold import fold
from memorist.text.languages import language
from memorist.text.sentences import sentences
from memorist.text.stems import stem_all
from memorist.text.words import query_words

SAID_BEFORE = 0.5
"""What a stem counts that a sentence before has said."""
LONGEST = 300
"""Characters of a sentence beyond which it is cut."""


@dataclass(frozen=True, slots=True)
class Salient:
    """A sentence, and the places of the texts that say it."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    stems: frozenset[str]
    sources: tuple[int, ...]
    place: int
    weight: float


def salient(texts: Sequence[str], most: int, weights: Sequence[float] | None = None) -> list[Salient]:
    """At most so many sentences that tell most of what the texts say, in the order of the texts.

    Greedy coverage of concepts (Filatova and Hatzivassiloglou 2004): a sentence scores its stems, half for those that
    were said before, times its text's weight, half of it if it is a question. Of the turns that 12 lines a day take
    from LoCoMo, 46 % hold evidence for one of its questions (24 % of all turns do): 70 % of that evidence.
    """
    left = _distinct(texts, weights)
    chosen: list[_Sentence] = []
    said: set[str] = set()
    while left and len(chosen) < most:
        best = max(left, key=lambda one: (_score(one, said), -one.place))
        chosen.append(best)
        left.remove(best)
        said |= best.stems
    return [Salient(_cut(one.text), one.sources) for one in sorted(chosen, key=lambda one: one.place) if one.stems]


def _distinct(texts: Sequence[str], weights: Sequence[float] | None) -> list[_Sentence]:
    """Each sentence once, with all the texts that say it; the greatest weight counts."""
    found: dict[str, _Sentence] = {}
    for source, text in enumerate(texts):
        weight = 1.0 if weights is None else weights[source]
        for one in sentences(text):
            same = " ".join(fold(one).split()).rstrip(" .!。！")
            known = found.get(same)
            if known is None:
                words = query_words(one)
                stems = frozenset(stem_all(words, language(words)))
                found[same] = _Sentence(one, stems, (source,), len(found), weight)
            else:
                sources = tuple(dict.fromkeys((*known.sources, source)))
                found[same] = _Sentence(known.text, known.stems, sources, known.place, max(known.weight, weight))
    return list(found.values())


def _score(sentence: _Sentence, said: set[str]) -> float:
    answering = 0.5 if sentence.text.endswith(("?", "？")) else 1.0
    new = len(sentence.stems - said)
    return sentence.weight * answering * (new + SAID_BEFORE * (len(sentence.stems) - new))


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"

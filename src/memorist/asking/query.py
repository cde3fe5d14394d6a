"""Prompts of recall: query mode, tags, expansion, reasoning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from memorist.asking.asker import Asker
from memorist.asking.wording import Broken, clipped, one_of, record, several, text
from memorist.text.patterns import lazy

LONGEST_TEXT = 1200
_CITATION = lazy(r"\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")


@dataclass(frozen=True, slots=True)
class Source:
    """A text, the number it is cited by, when it was said and who said it."""

    number: int
    text: str
    at: datetime | None = None
    speaker: str | None = None

    def to_data(self, longest: int = LONGEST_TEXT) -> dict[str, Any]:
        """What the model is shown; what is not known is left out."""
        known = {"date": self.at and self.at.date().isoformat(), "speaker": self.speaker and clipped(self.speaker, 100)}
        shown = {name: value for name, value in known.items() if value is not None}
        return {"number": self.number, **shown, "text": clipped(self.text, longest)}


def citations(text: str) -> tuple[int, ...]:
    """The numbers that a text cites as [3] or [3, 5], each once."""
    return tuple(dict.fromkeys(int(one) for found in _CITATION.findall(text) for one in found.split(",")))


def must_cite(text: str, numbers: Collection[int]) -> tuple[int, ...]:
    """A text's citations; broken when there are none, or one of something it was not given."""
    cited = citations(text)
    if not cited:
        raise Broken("it cites nothing; cite the numbers of the texts it rests on, as [3]")
    if any(number not in numbers for number in cited):
        raise Broken("it cites a number that is not among the texts")
    return cited


Mode = Literal["semantic", "procedural", "episodic", "mixed"]
MODES: tuple[Mode, ...] = ("semantic", "procedural", "episodic", "mixed")
LONGEST_QUERY = 4000
LONGEST_PHRASE = 80
MOST_TEXTS = 30
"""Texts that a model is shown at once, the best first."""


def mode(asker: Asker, query: str) -> Mode:
    """What sort of memory a question wants."""
    return asker.ask("mode", _question(query), record(mode=one_of(MODES)), lambda answer: cast("Mode", answer["mode"]))


def tags(asker: Asker, query: str) -> tuple[str, ...]:
    """The concepts of a question in 2 to 5 short phrases, in lower case."""
    return asker.ask("tags", _question(query), record(tags=_phrases(2, 5)), lambda answer: _distinct(answer["tags"]))


def expansion(asker: Asker, query: str) -> tuple[str, ...]:
    """Up to 12 words that an answer may use where the question does not."""
    schema = record(words=_phrases(0, 12))
    asked = query.casefold().split()
    return asker.ask(
        "expand",
        _question(query),
        schema,
        lambda answer: tuple(word for word in _lowered(answer["words"]) if word not in asked),
    )


def bridge_tags(asker: Asker, query: str, texts: Sequence[str]) -> tuple[str, ...]:
    """3 to 5 phrases that lead from a question and what was found for it to what is still missing."""
    found = [clipped(one, 500) for one in texts[:MOST_TEXTS]]
    data = {**_question(query), "found": found}
    return asker.ask("bridge", data, record(tags=_phrases(3, 5)), lambda answer: _distinct(answer["tags"]))


def reason(asker: Asker, query: str, type: str, sources: Sequence[Source]) -> str:
    """What memories of one type tell about a question: a summary that cites them by their numbers and nothing else."""
    shown = sources[:MOST_TEXTS]
    data = {**_question(query), "type": type, "memories": [one.to_data() for one in shown]}
    numbers = {one.number for one in shown}

    def summary(answer: Any) -> str:
        told = answer["summary"].strip()
        must_cite(told, numbers)
        return told

    return asker.ask("reason", data, record(summary=text(3000)), summary)


def _question(query: str) -> dict[str, Any]:
    return {"question": clipped(query, LONGEST_QUERY)}


def _phrases(least: int, most: int) -> dict[str, Any]:
    return several(text(LONGEST_PHRASE), least, most)


def _lowered(phrases: Sequence[str]) -> tuple[str, ...]:
    """Phrases in lower case on one line, each once."""
    return tuple(filter(None, dict.fromkeys(" ".join(one.casefold().split()) for one in phrases)))


def _distinct(phrases: Sequence[str]) -> tuple[str, ...]:
    lowered = _lowered(phrases)
    if not lowered:
        raise Broken("all its phrases are blank")
    return lowered

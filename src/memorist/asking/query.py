"""The prompts of recall: query mode, tags, expansion, bridge tags and reasoning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from memorist.asking.wording import Broken, clip, one_of, record, several, text, whole
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.asking.asker import LLMAsker

LONGEST_TEXT = 1200
_CITATION = lazy(r"\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")


@dataclass(frozen=True, slots=True)
class Source:
    """A text with the number by which it is cited, its time and its speaker."""

    number: int
    text: str
    at: datetime | None = None
    speaker: str | None = None

    def to_data(self, longest: int = LONGEST_TEXT) -> dict[str, Any]:
        """The source as the model sees it, without unknown fields."""
        known = {"date": self.at and self.at.date().isoformat(), "speaker": self.speaker and clip(self.speaker, 100)}
        shown = {name: value for name, value in known.items() if value is not None}
        return {"number": self.number, **shown, "text": clip(self.text, longest)}


def citations(text: str) -> tuple[int, ...]:
    """The distinct numbers that a text cites, as in [3] or [3, 5]."""
    return tuple(dict.fromkeys(int(number) for found in _CITATION.findall(text) for number in found.split(",")))


def must_cite(text: str, numbers: Collection[int]) -> tuple[int, ...]:
    """The citations of a text. Raises Broken if there are none, or if one is not among the numbers."""
    cited = may_cite(text, numbers)
    if not cited:
        raise Broken("it cites nothing; cite the numbers of the texts that support it, as in [3]")
    return cited


def may_cite(text: str, numbers: Collection[int]) -> tuple[int, ...]:
    """The citations of a text, which may have none. Raises Broken if one is not among the numbers."""
    cited = citations(text)
    if any(number not in numbers for number in cited):
        raise Broken("it cites a number that is not among the texts")
    return cited


Mode = Literal["semantic", "procedural", "episodic", "mixed"]
MODES: tuple[Mode, ...] = ("semantic", "procedural", "episodic", "mixed")
LONGEST_QUERY = 13_000
"""Characters of a question: with the goal and the last steps of its session, it is no longer."""
LONGEST_PHRASE = 80
MOST_TEXTS = 30
"""How many texts a model is shown at once, best first."""


def mode(asker: LLMAsker, query: str) -> Mode:
    """The type of memory that a question asks for."""
    return asker.ask("mode", _question(query), record(mode=one_of(MODES)), lambda answer: cast("Mode", answer["mode"]))


def tags(asker: LLMAsker, query: str) -> tuple[str, ...]:
    """The concepts of a question as 2 to 5 short phrases in lower case."""
    return asker.ask("tags", _question(query), record(tags=_phrases(2, 5)), lambda answer: _distinct(answer["tags"]))


def expansion(asker: LLMAsker, query: str) -> tuple[str, ...]:
    """Up to 12 words that an answer may contain and the question does not."""
    schema = record(words=_phrases(0, 12))
    asked = query.casefold().split()
    return asker.ask(
        "expand",
        _question(query),
        schema,
        lambda answer: tuple(word for word in _lowered(answer["words"]) if word not in asked),
    )


def bridge_tags(asker: LLMAsker, query: str, texts: Sequence[str]) -> tuple[str, ...]:
    """3 to 5 phrases to search for information that is still missing, given the question and the texts found."""
    found = [clip(text, 500) for text in texts[:MOST_TEXTS]]
    data = {**_question(query), "found": found}
    return asker.ask("bridge", data, record(tags=_phrases(3, 5)), lambda answer: _distinct(answer["tags"]))


def read(
    asker: LLMAsker, query: str, today: date, speaker: str | None, sources: Sequence[Source]
) -> tuple[Sequence[int], Sequence[int]]:
    """The numbers of the memories that answer a question, best first, and of those that did so once."""
    asked = {**_question(query), "today": today.isoformat()} | ({"speaker": clip(speaker, 100)} if speaker else {})
    numbers = [source.number for source in sources]
    some = several(whole(min(numbers), max(numbers)), 0, len(numbers))

    def chosen(answer: Any) -> tuple[Sequence[int], Sequence[int]]:
        answers = list(dict.fromkeys(answer["answers"]))
        return answers, [number for number in dict.fromkeys(answer["outdated"]) if number not in answers]

    data = {**asked, "memories": [source.to_data() for source in sources]}
    return asker.ask("read", data, record(answers=some, outdated=some), chosen)


def reason(asker: LLMAsker, query: str, type: str, sources: Sequence[Source]) -> str:
    """A summary of what the memories of one type say about a question. If it cites by number, then only them."""
    shown = sources[:MOST_TEXTS]
    data = {**_question(query), "type": type, "memories": [source.to_data() for source in shown]}
    numbers = {source.number for source in shown}

    def summary(answer: Any) -> str:
        summarised = answer["summary"].strip()
        may_cite(summarised, numbers)
        return summarised

    return asker.ask("reason", data, record(summary=text(3000)), summary)


def _question(query: str) -> dict[str, Any]:
    return {"question": clip(query, LONGEST_QUERY)}


def _phrases(least: int, most: int) -> dict[str, Any]:
    return several(text(LONGEST_PHRASE), least, most)


def _lowered(phrases: Sequence[str]) -> tuple[str, ...]:
    """The distinct phrases, in lower case and on one line each."""
    return tuple(filter(None, dict.fromkeys(" ".join(phrase.casefold().split()) for phrase in phrases)))


def _distinct(phrases: Sequence[str]) -> tuple[str, ...]:
    lowered = _lowered(phrases)
    if not lowered:
        raise Broken("all its phrases are blank")
    return lowered

"""What a model tells of a question and of what was found for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from memorist.asking.answer import Broken
from memorist.asking.asker import Asker
from memorist.asking.fence import clipped
from memorist.asking.shape import one_of, record, several, text
from memorist.asking.source import Source, must_cite

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

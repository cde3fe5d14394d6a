"""A remembered text as a model is shown it: with a number to cite it by."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memorist.asking.answer import Broken
from memorist.asking.fence import clipped

LONGEST_TEXT = 1200
_CITATION = re.compile(r"\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")


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

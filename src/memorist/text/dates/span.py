"""The answer: a stretch of text and the time it names."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A stretch of text that names a time, from `start` up to, and without, `end`, both in UTC.

    `text` is the words as written, from the character `begin` of the input up to, and without, `stop`.
    """

    start: datetime
    end: datetime
    text: str
    begin: int
    stop: int

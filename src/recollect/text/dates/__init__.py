"""Dates in texts, English and Chinese: where they stand and which time they mean."""

from datetime import UTC, datetime

from recollect.text.dates.iso import iso
from recollect.text.dates.reader import DateSpan, read
from recollect.text.dates.values import Context, Prefer

__all__ = ["DateSpan", "find_dates", "normalise_dates"]


def find_dates(text: str, reference: datetime, *, prefer: Prefer = "past") -> list[DateSpan]:
    """Every date in a text, in order, as understood at `reference`; a naive reference is in UTC."""
    return read(text, _context(reference, prefer))


def normalise_dates(text: str, reference: datetime, *, prefer: Prefer = "past") -> str:
    """A text with its dates in ISO 8601: `2016-10-02`, or `2016-10-01/2016-11-01` (end not included)."""
    pieces: list[str] = []
    place = 0
    for span in find_dates(text, reference, prefer=prefer):
        pieces += [text[place : span.begin], iso(span.start, span.end)]
        place = span.stop
    return "".join([*pieces, text[place:]])


def _context(reference: datetime, prefer: Prefer) -> Context:
    if prefer not in ("past", "future", "nearest"):
        raise ValueError(f"prefer={prefer!r}: choose 'past', 'future' or 'nearest'")
    if reference.tzinfo:
        reference = reference.astimezone(UTC)
    return Context(reference.replace(tzinfo=None, microsecond=0), prefer)

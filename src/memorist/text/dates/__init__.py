"""Dates in English and Chinese texts: where they are and which times they refer to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memorist.text.dates.values import DateSpan

if TYPE_CHECKING:
    from memorist.text.dates.values import Edges, Prefer


__all__ = ["DateSpan", "find_dates"]


def find_dates(text: str, reference: datetime, *, prefer: Prefer = "past", edges: Edges = "whole") -> list[DateSpan]:
    """Every date in a text, in order, as understood at `reference`; a naive reference is in UTC.

    Without a year, month or week ("May", "the 2nd", "Friday"), `prefer` decides which one is meant; "tense" follows the
    verb beside the date, and without one takes the nearest. A range includes the last day it names; with edges="point"
    it stops where that day begins, as in TimeML.
    """
    from memorist.text.dates.reader import read, read_by_tense
    from memorist.text.dates.values import Context

    if prefer not in ("past", "future", "nearest", "tense"):
        raise ValueError(f"prefer={prefer!r}: choose 'past', 'future', 'nearest' or 'tense'")
    if reference.tzinfo:
        reference = reference.astimezone(UTC)
    now = reference.replace(tzinfo=None, microsecond=0)
    if prefer == "tense":
        return read_by_tense(text, now, edges)
    return read(text, Context(now, prefer, edges))

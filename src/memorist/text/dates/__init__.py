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

    A range includes the last day it names; with edges="point" it stops where that day begins, as in TimeML.
    """
    from memorist.text.dates.reader import read
    from memorist.text.dates.values import Context

    if prefer not in ("past", "future", "nearest"):
        raise ValueError(f"prefer={prefer!r}: choose 'past', 'future' or 'nearest'")
    if reference.tzinfo:
        reference = reference.astimezone(UTC)
    return read(text, Context(reference.replace(tzinfo=None, microsecond=0), prefer, edges))

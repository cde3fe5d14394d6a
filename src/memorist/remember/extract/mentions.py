"""Dates named in a text, resolved against when it was said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from memorist.model import Mention, instant
from memorist.remember.extract.clauses import LONGEST_TEXT, MASK
from memorist.text.dates import DateSpan, find_dates

MOST_MENTIONS = 20
"""Kept of one text; a calendar would mention every day."""

_SECOND = timedelta(seconds=1)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def date_spans(text: str, at: datetime) -> list[DateSpan]:
    """The dates of a text's beginning, without those in code and without `right now`, which tells nothing."""
    head = text[:LONGEST_TEXT]
    if "`" in head:
        head = _CODE.sub(lambda found: MASK * len(found[0]), head)
    this_very_second = instant(at).replace(microsecond=0)
    found = (span for span in find_dates(head, at) if span.start != this_very_second or span.end - span.start > _SECOND)
    return list(islice(found, MOST_MENTIONS))


def mentions(text: str, at: datetime, *, dates: Sequence[DateSpan] | None = None) -> tuple[Mention, ...]:
    """The dates that a text names, as said at a moment: `yesterday`, `last Friday`, `上周三`."""
    spans = date_spans(text, at) if dates is None else dates
    return tuple(dict.fromkeys(Mention(span.text, span.start, span.end) for span in spans))

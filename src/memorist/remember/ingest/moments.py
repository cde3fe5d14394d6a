"""Times as files write them: ISO 8601, epochs of any unit, mail dates and absolute dates in words."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from memorist.errors import InvalidInput
from memorist.model import instant
from memorist.text.dates import find_dates

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""An epoch below each bound counts seconds, milliseconds, microseconds or nanoseconds."""
_SMALLEST = 1e8  # March 1973: a smaller number is a count or an index
_NUMBER = re.compile(r"\d{9,20}(?:\.\d+)?")
# A date that reads alike from two moments far apart is absolute; "yesterday" and "3/6/24" are not.
_SEEN_FROM = (datetime(2001, 2, 3, tzinfo=UTC), datetime(2017, 9, 14, tzinfo=UTC))


def moment(value: object) -> datetime | None:
    """The UTC moment a value means, or None where it does not mean one for certain."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_epoch(value)
    if isinstance(value, datetime | date):
        return _instant(value)
    if isinstance(value, str) and (text := value.strip()) and len(text) <= 100:
        return _from_text(text)
    return None


def _from_text(text: str) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return _from_epoch(float(text))
    return _instant(re.sub(r"\s*(?:UTC|GMT)$", "+00:00", text)) or _from_mail(text) or _from_words(text)


def _instant(value: str | date) -> datetime | None:
    with contextlib.suppress(InvalidInput):
        return instant(value)
    return None


def _from_epoch(number: float) -> datetime | None:
    for bound, unit in _UNITS:
        if _SMALLEST <= number < bound:
            with contextlib.suppress(OverflowError):
                return EPOCH + timedelta(seconds=number / unit)
    return None


def _from_mail(text: str) -> datetime | None:
    with contextlib.suppress(ValueError, TypeError, IndexError, OverflowError):
        return _instant(parsedate_to_datetime(text))
    return None


def _from_words(text: str) -> datetime | None:
    first, second = (find_dates(text, reference) for reference in _SEEN_FROM)
    if len(first) == 1 and [span.start for span in first] == [span.start for span in second]:
        return first[0].start
    return None

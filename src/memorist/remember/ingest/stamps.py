"""The times of a transcript, read together: only together do they tell whether 3/6 is in March or in June."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from memorist.remember.ingest.moments import moment

_NUMERIC = re.compile(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})"
    r"(?:,?[T ]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[ \u202f\u00a0]?([AaPp])\.?[Mm]\.?)?)?"
)


class Stamps:
    """Turns a transcript's stamps into moments; an order of day and month that no stamp settles is not guessed."""

    def __init__(self, stamps: Sequence[str]) -> None:
        dates = [(int(found[1]), int(found[2])) for stamp in stamps if (found := _NUMERIC.fullmatch(stamp.strip()))]
        day_first = any(first > 12 for first, _ in dates)
        month_first = any(second > 12 for _, second in dates)
        self._day_first = day_first if day_first != month_first else None

    def moment(self, stamp: str | None) -> datetime | None:
        """The moment of one stamp, where it is certain."""
        if not stamp:
            return None
        found = _NUMERIC.fullmatch(stamp.strip())
        return self._numeric(found) if found else moment(stamp)

    def _numeric(self, found: re.Match[str]) -> datetime | None:
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        if self._day_first is None and first != second:
            return None
        day, month = (first, second) if self._day_first else (second, first)
        hour = int(found[4] or 0)
        if half := found[7]:
            hour = hour % 12 + (12 if half in "Pp" else 0)
        with contextlib.suppress(ValueError):
            full_year = year + 2000 if year < 100 else year
            return datetime(full_year, month, day, hour, int(found[5] or 0), int(found[6] or 0), tzinfo=UTC)
        return None

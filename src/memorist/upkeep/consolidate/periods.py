"""Days, weeks from Monday on, and quarters, all in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memorist.errors import InvalidInput
from memorist.upkeep.consolidate.model import PERIODS, PeriodKind


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time that a note is about: `end` is no part of it."""

    kind: PeriodKind
    name: str
    start: date
    end: date

    @property
    def path(self) -> str:
        """Where its note lies in the folder of notes."""
        return f"{self.kind}/{self.name}.md"

    def closed(self, now: datetime) -> bool:
        """Whether it is over."""
        return self.end <= now.astimezone(UTC).date()


def period_of(kind: PeriodKind, day: date) -> Period:
    """The day, week or quarter that a day belongs to: 2024-06-03, 2024-W23, 2024-Q2."""
    if kind == "daily":
        return Period(kind, day.isoformat(), day, day + timedelta(days=1))
    if kind == "weekly":
        year, week, weekday = day.isocalendar()
        monday = day - timedelta(days=weekday - 1)
        return Period(kind, f"{year:04}-W{week:02}", monday, monday + timedelta(days=7))
    quarter = (day.month - 1) // 3
    start = date(day.year, 3 * quarter + 1, 1)
    end = date(day.year + quarter // 3, 3 * (quarter + 1) % 12 + 1, 1)
    return Period(kind, f"{day.year:04}-Q{quarter + 1}", start, end)


def chosen_periods(period: str | None) -> tuple[PeriodKind, ...]:
    """What `consolidate` is to bring up to date; weeks and quarters are made of days, so those come with them."""
    if period is None:
        return PERIODS
    if period not in PERIODS:
        raise InvalidInput(f"{period!r} is no period", remedy=f"Choose {', '.join(PERIODS)}.")
    return tuple(dict.fromkeys(("daily", period)))

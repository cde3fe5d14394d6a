"""Amounts of time, and periods that far from another."""

from datetime import datetime

from memorist.text.dates.calendar import SUB_DAY, Period, Unit, add, holding
from memorist.text.dates.values import Context

Amount = tuple[tuple[float, Unit], ...]
"""Counts of units, added in turn: two years and three months."""


def is_fine(amount: Amount) -> bool:
    """Whether an amount is told in hours or less."""
    return any(unit in SUB_DAY for _, unit in amount)


def move(moment: datetime, amount: Amount, sign: int = 1) -> datetime:
    """A moment an amount later, or earlier for the sign -1."""
    for count, unit in amount:
        moment = add(moment, sign * count, unit)
    return moment


def from_now(amount: Amount, context: Context, sign: int) -> Period:
    """`three days ago`, `in two hours`: a day, or from the very moment in its own unit."""
    if not is_fine(amount):
        return holding(move(context.today, amount, sign), Unit.DAY)
    moment, unit = move(context.now, amount, sign), amount[-1][1]
    return Period(moment, add(moment, 1, unit), unit)


def from_day(day: Period, amount: Amount, sign: int) -> Period | None:
    """`two weeks after Easter`: a day; None for hours, which no day begins."""
    return None if is_fine(amount) else holding(move(day.start, amount, sign), Unit.DAY)


def coming(amount: Amount, context: Context) -> Period:
    """`within two weeks`: from now, or today, on."""
    start = context.now if is_fine(amount) else context.today
    return Period(start, move(start, amount), amount[-1][1])

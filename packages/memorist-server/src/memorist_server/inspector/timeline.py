"""Facts as pictures: intervals on a line of time, and one relation on both clocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby, pairwise

from memorist.model import Filter, Memory

WIDTH = 1000
"""Units from the first moment of a picture to its last; a page stretches them."""
POINT = 5.0
"""The width of a moment: of what was said, or held for no time that can be seen."""
LABELS = 4
PADDING = 0.25
"""The share of the time shown that is added after the last event, for what still holds."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A stretch of time, in days: from before the first event to after the last, which stands for now."""

    first: date
    last: date

    def x(self, at: datetime | None) -> float:
        """Where a moment is drawn; None is the far end."""
        if at is None:
            return WIDTH
        passed = (at - _midnight(self.first)) / (_midnight(self.last) - _midnight(self.first))
        return round(WIDTH * min(1.0, max(0.0, passed)), 2)

    @property
    def labels(self) -> list[date]:
        """Days to write below the picture, evenly spread; the last one stands for now."""
        days = (self.last - self.first).days
        return [self.first + timedelta(days=days * place // LABELS) for place in range(LABELS)]


def scale_of(facts: Iterable[Memory]) -> Scale:
    """A scale on which every beginning and end of these facts shows, on both clocks."""
    moments = [
        at.astimezone(UTC).date()
        for fact in facts
        for at in (fact.times.valid_from, fact.times.ingested_at, fact.times.valid_to, fact.times.expired_at)
        if at is not None
    ]
    first, last = min(moments), max(moments)
    room = max(7, round((last - first).days * PADDING))
    return Scale(_moved(first, -max(1, room // 4)), _moved(last, room))


def _moved(day: date, by: int) -> date:
    """A day some days later, within the calendar."""
    return date.fromordinal(min(date.max.toordinal() - 1, max(1, day.toordinal() + by)))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """A fact as it was known at a moment: from where to where it is drawn, and whether it held."""

    memory: Memory
    start: float
    width: float
    state: str
    """`held`, `past`, `future`, `unknown` (learnt later) or `retracted`."""
    from_above: bool
    """Whether it took the place of the fact before it."""
    to_below: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """The values of one relation of a subject, in the order they began to hold."""

    subject: str
    relation: str
    spans: tuple[Span, ...]


def lanes(facts: Sequence[Memory], scale: Scale, as_of: datetime, known_at: datetime) -> list[Lane]:
    """Facts by subject and relation, as they were known at a moment; memories that are no facts come last."""
    ordered = sorted(facts, key=_order)
    return [
        Lane(*slot, _spans(list(some), scale, Filter(as_of=as_of, known_at=known_at)))
        for slot, some in groupby(ordered, _slot)
    ]


def _order(one: Memory) -> tuple[object, ...]:
    return one.fact is None, *_slot(one), one.times.valid_from, one.times.ingested_at, one.id


def _slot(one: Memory) -> tuple[str, str]:
    return ("", "") if one.fact is None else (one.fact.subject, one.fact.relation)


def _spans(facts: Sequence[Memory], scale: Scale, where: Filter) -> tuple[Span, ...]:
    shown = [fact.as_known_at(where.known_at) for fact in facts]
    follows = {after.id for before, after in pairwise(shown) if before.superseded_by == after.id}
    precedes = {before.id for before, after in pairwise(shown) if before.superseded_by == after.id}
    return tuple(
        Span(
            memory,
            start := scale.x(memory.times.valid_from),
            POINT if memory.fact is None else max(POINT, round(scale.x(memory.times.valid_to) - start, 2)),
            _state(memory, where),
            memory.id in follows,
            memory.id in precedes,
        )
        for memory in shown
    )


def _state(one: Memory, where: Filter) -> str:
    times, known_at, as_of = one.times, where.known_at, where.as_of
    if known_at is not None and times.ingested_at > known_at:
        return "unknown"
    if times.retracted_at is not None and (known_at is None or times.retracted_at <= known_at):
        return "retracted"
    if as_of is not None and times.valid_from > as_of:
        return "future"
    return "held" if where.admits(one) else "past"


@dataclass(frozen=True, slots=True)
class Patch:
    """What was known of a fact in a stretch of time: across, when it was true; upwards, when that was known."""

    memory: Memory
    shade: int
    x: float
    y: float
    width: float
    height: float


def patches(facts: Sequence[Memory], scale: Scale) -> list[Patch]:
    """The values of a relation on both clocks; an end covers what it takes away from the moment it was known."""
    found: list[Patch] = []
    for shade, one in enumerate(sorted(facts, key=lambda one: (one.times.valid_from, one.id))):
        times = one.times
        learnt = times.expired_at if times.valid_to is not None and times.expired_at is not None else None
        found.append(_patch(one, shade, scale, None if learnt else times.valid_to, (times.ingested_at, learnt)))
        if learnt is not None:
            found.append(_patch(one, shade, scale, times.valid_to, (learnt, None)))
    return [patch for patch in found if patch.width > 0 and patch.height > 0]


def _patch(
    one: Memory, shade: int, scale: Scale, end: datetime | None, known: tuple[datetime, datetime | None]
) -> Patch:
    until = min((at for at in (known[1], one.times.retracted_at) if at is not None), default=None)
    left, right = scale.x(one.times.valid_from), scale.x(end)
    low, high = scale.x(known[0]), scale.x(until)
    return Patch(one, shade, left, round(WIDTH - high, 2), round(right - left, 2), round(high - low, 2))

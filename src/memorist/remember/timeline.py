"""The history of a slot: which value was true when, computed from all claims about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby

from memorist.text.sameness import one_case

Name = tuple[str, datetime]
"""A value and a moment."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that a value was true from a moment on, and when we learnt that; if negated, that it was no longer true.

    Of claims with equal times, an update comes later, then the claim at a later place in the conversation.
    """

    value: str
    since: datetime
    known: datetime
    until: datetime | None = None
    negated: bool = False
    update: bool = False
    order: int = 0
    source: str | None = None
    text: str | None = None
    confidence: float = 1.0
    trust: int = 3
    classification: int = 1
    expires_at: datetime | None = None
    flags: tuple[str, ...] = ()

    @property
    def same(self) -> str:
        """The value without its spelling: equal for two spellings of one value."""
        return folded(self.value)


Event = tuple[datetime, Claim, bool]
"""A moment, the claim about it, and whether it says that its value ends there."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A value from `start` to `end`; one that ends where it starts was never true and only holds its claims."""

    start: datetime
    end: datetime | None
    claims: tuple[Claim, ...]

    @property
    def name(self) -> Name:
        """The identity of a segment, which does not change when its end becomes known."""
        return self.claims[0].same, self.start


@dataclass(frozen=True, slots=True)
class Form:
    """A segment as we knew it from `ingested_at` on.

    Its end was known from `expired_at` on; where that changed again, the form was taken back and another is in its
    place.
    """

    segment: Segment
    ingested_at: datetime
    expired_at: datetime | None = None
    retracted_at: datetime | None = None


def folded(value: str) -> str:
    """A value without case and extra spaces."""
    return " ".join(one_case(value).split())


def timeline(claims: Iterable[Claim]) -> list[Segment]:
    """The segments of one slot by start: each value is true until the next one, or until it is denied.

    Of two values from the same moment on, the one learnt later wins. Adjacent equal values become one
    segment, with the claims of both.
    """
    _, segments = _Line().add(dict.fromkeys(claims))
    return sorted(segments.values(), key=lambda one: (one.start, one.name[0]))


def forms(claims: Iterable[Claim]) -> list[Form]:
    """Everything that was ever known about a slot, as rows.

    At (as_of, known_at), exactly the segment of `timeline(claims known by then)` that holds at as_of is visible.
    """
    line = _Line()
    current: dict[Name, Form] = {}
    past: list[Form] = []
    for moment, learnt in groupby(sorted(dict.fromkeys(claims), key=_known), _known):
        before, after = line.add(learnt)
        for name in [name for name in before if name not in after]:
            past.append(replace(current.pop(name), retracted_at=moment))
        for name, segment in after.items():
            known = current.get(name)
            if known is not None and known.segment.end == segment.end:
                current[name] = replace(known, segment=segment)
            elif known is not None and known.segment.end is None:
                current[name] = replace(known, segment=segment, expired_at=moment)
            else:
                if known is not None:
                    past.append(replace(known, retracted_at=moment))
                current[name] = Form(segment, moment, None if segment.end is None else moment)
    return [*past, *current.values()]


def _known(claim: Claim) -> datetime:
    return claim.known


_NEVER = datetime.max.replace(tzinfo=UTC)


class _Line:
    """A timeline that grows by claims.

    Claims about a later time than all before them, which is the usual case, change only its last segments: a slot
    with many values is computed in linear time. Others make it start again.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._over: dict[Name, Segment] = {}
        """The segments that ended before the last event: later events leave them as they are."""
        self._last: list[Segment] = []
        """The parts of the other segments; one that is still open is at the end."""
        self._joined: list[Segment] = []
        """The other segments."""

    def add(self, claims: Iterable[Claim]) -> tuple[dict[Name, Segment], dict[Name, Segment]]:
        """Add claims; returns those segments that may have changed, before and after."""
        new = _events(claims)
        before = {one.name: one for one in self._joined}
        again = bool(self._events and new) and _order(new[0]) < _order(self._events[-1])
        if again:
            before |= self._over
            self._over, self._last, self._events, new = {}, [], [], sorted((*self._events, *new), key=_order)
        self._events += new
        if not new:
            return before, before
        for event in new:
            self._take(*event)
        joined = _coalesced(self._last)
        after = {one.name: one for one in joined}
        self._settle(joined, self._events[-1][0])
        return before, {**self._over, **after} if again else after

    def _settle(self, joined: Sequence[Segment], now: datetime) -> None:
        """Note which segments later events leave as they are, and drop their parts."""
        self._joined = [one for one in joined if one.end is None or one.end >= now]
        self._over.update({one.name: one for one in joined if one.end is not None and one.end < now})
        since: dict[str, datetime] = {}
        for value, start in (one.name for one in self._joined):
            since[value] = min(start, since.get(value, start))
        self._last = [one for one in self._last if since.get(one.name[0], _NEVER) <= one.start]

    def _take(self, at: datetime, claim: Claim, ends: bool) -> None:
        """Add one event."""
        segments = self._last
        current = segments[-1] if segments and segments[-1].end is None else None
        same = current is not None and current.name[0] == claim.same
        if ends:
            if current is not None and same:
                known = claim in current.claims
                segments[-1] = replace(current, end=at, claims=current.claims if known else (*current.claims, claim))
            elif claim.negated:
                _insert_empty(segments, Segment(at, at, (claim,)))
        elif current is not None and same:
            segments[-1] = replace(current, claims=(*current.claims, claim))
        else:
            if current is not None:
                segments[-1] = replace(current, end=at)
            segments.append(Segment(at, None, (claim,)))


def _events(claims: Iterable[Claim]) -> list[Event]:
    """The starts and ends of values; at the same moment, what was learnt later comes later."""
    events: list[Event] = []
    for claim in claims:
        events.append((claim.since, claim, claim.negated))
        if claim.until is not None and not claim.negated:
            events.append((max(claim.until, claim.since), claim, True))
    return sorted(events, key=_order)


def _order(event: Event) -> tuple[object, ...]:
    return event[0], *_heard(event[1]), event[2]


def _heard(claim: Claim) -> tuple[object, ...]:
    """The order in which claims were learnt; the rest breaks ties, so that the order of the input never matters."""
    said = (claim.same, claim.source or "", claim.value, claim.text or "")
    return claim.known, claim.update, claim.order, *said, claim.until or _NEVER, claim.confidence, claim.trust


def _insert_empty(segments: list[Segment], empty: Segment) -> None:
    """Insert before a segment that is still open, so that it stays the last one."""
    place = len(segments) - 1 if segments and segments[-1].end is None else len(segments)
    segments.insert(place, empty)


def _coalesced(segments: Sequence[Segment]) -> list[Segment]:
    """The segments with adjacent equal values joined."""
    joined: dict[int, Segment] = {}
    named: dict[Name, int] = {}
    ending: dict[Name, int] = {}
    """The places of segments by value and end."""
    for place, segment in enumerate(segments):
        value, start = segment.name
        lasting = segment.start != segment.end
        touching = [named.get(segment.name), ending.pop((value, start), None) if lasting else None]
        found = min((one for one in touching if one is not None), default=None)
        before = None if found is None else joined[found]
        if found is None or before is None:
            found, whole = place, segment
            named[segment.name] = place
        else:
            claims = tuple(dict.fromkeys((*before.claims, *segment.claims)))
            whole = replace(before, end=segment.end, claims=claims)
        joined[found] = whole
        if whole.end is not None and whole.end != whole.start:
            ending[value, whole.end] = found
    return list(joined.values())

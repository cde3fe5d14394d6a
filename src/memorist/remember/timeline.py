"""The history of a slot: which value was true when, computed from all claims about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Literal

from memorist.model import read_by_rules
from memorist.text.sameness import one_case

Name = tuple[str, datetime]
"""A value and a moment."""
ClaimedBy = Literal["rules", "model", "caller"]
"""Who makes a claim: rules or a language model that read a text, or whoever calls `relate`."""


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
    by: ClaimedBy | None = None
    """Who made it; None for one that was stored before this was noted."""

    @property
    def by_rules(self) -> bool:
        """Whether rules read it in a stored text."""
        return read_by_rules([{"by": self.by, "text": self.text, "source": self.source}])

    @property
    def replaces(self) -> bool:
        """Whether it may end other values: what rules read does only if its sentence announces a change."""
        return self.update or not self.by_rules

    @property
    def same(self) -> str:
        """The value without its spelling: equal for two spellings of one value."""
        return fold_value(self.value)


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
class SegmentVersion:
    """A segment as we knew it from `ingested_at` on.

    Its end was known from `expired_at` on; where that changed again, the form was taken back and another is in its
    place.
    """

    segment: Segment
    ingested_at: datetime
    expired_at: datetime | None = None
    retracted_at: datetime | None = None


def fold_value(value: str) -> str:
    """A value without case and extra spaces."""
    return " ".join(one_case(value).split())


def timeline(claims: Iterable[Claim]) -> list[Segment]:
    """The segments of one slot by start: each value is true until one replaces it, or until it is denied.

    Of two values from the same moment on, the one learnt later wins. A value that rules read without a word of change
    begins beside the others and ends none. Adjacent equal values become one segment, with the claims of both.
    """
    _, segments = _Line().add(dict.fromkeys(claims))
    return sorted(segments.values(), key=lambda one: (one.start, one.name[0]))


def forms(claims: Iterable[Claim]) -> list[SegmentVersion]:
    """Everything that was ever known about a slot, as rows.

    At (as_of, known_at), exactly those segments of `timeline(claims known by then)` are visible that hold at as_of.
    """
    line = _Line()
    current: dict[Name, SegmentVersion] = {}
    past: list[SegmentVersion] = []
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
                current[name] = SegmentVersion(segment, moment, None if segment.end is None else moment)
    return [*past, *current.values()]


def _known(claim: Claim) -> datetime:
    return claim.known


_NEVER = datetime.max.replace(tzinfo=UTC)


class _Line:
    """A timeline that grows by claims.

    Claims about a later time than all before them, which is the usual case, change only the segments that they are
    about: a slot with many values is computed in linear time. Others make it start again.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._segments: dict[Name, Segment] = {}
        self._open: dict[str, Name] = {}
        """The segment of each value that is true now."""
        self._ended: dict[str, Name] = {}
        """The last segment of each value that has ended and was true for a while."""
        self._before: dict[Name, Segment | None] = {}
        """What changed since the last claims were added, as it was before."""

    def add(self, claims: Iterable[Claim]) -> tuple[dict[Name, Segment], dict[Name, Segment]]:
        """Add claims; returns those segments that may have changed, before and after."""
        new = _events(claims)
        if self._events and new and _order(new[0]) < _order(self._events[-1]):
            before, new = self._segments, sorted((*self._events, *new), key=_order)
            self._segments, self._open, self._ended, self._events = {}, {}, {}, []
            self._take_all(new)
            return before, dict(self._segments)
        self._take_all(new)
        before = {name: one for name, one in self._before.items() if one is not None}
        return before, {name: self._segments[name] for name in self._before}

    def _take_all(self, events: Sequence[Event]) -> None:
        self._before = {}
        self._events += events
        for at, claim, ends in events:
            if ends:
                self._end(at, claim)
            else:
                self._begin(at, claim)

    def _begin(self, at: datetime, claim: Claim) -> None:
        """A value is true from now on: the only one, if the claim replaces others."""
        if claim.replaces:
            for name in [name for value, name in self._open.items() if value != claim.same]:
                self._close(at, name)
        ended = self._ended.get(claim.same)
        touching = ended if ended is not None and self._segments[ended].end == at else (claim.same, at)
        name = self._open.setdefault(claim.same, touching)
        known = self._segments.get(name)
        self._set(Segment(at, None, (claim,)) if known is None else replace(_with(known, claim), end=None))

    def _end(self, at: datetime, claim: Claim) -> None:
        """A value ends, as far as the claim may say so; a denial of another value is kept in an empty segment."""
        name = self._open.get(claim.same)
        if name is not None and (claim.replaces or all(stated == claim for stated in self._segments[name].claims)):
            self._set(_with(self._segments[name], claim))
            self._close(at, name)
        elif claim.negated:
            known = self._segments.get((claim.same, at))
            self._set(Segment(at, at, (claim,)) if known is None else _with(known, claim))

    def _close(self, at: datetime, name: Name) -> None:
        del self._open[name[0]]
        self._set(replace(self._segments[name], end=at))
        if name[1] != at:
            self._ended[name[0]] = name

    def _set(self, segment: Segment) -> None:
        self._before.setdefault(segment.name, self._segments.get(segment.name))
        self._segments[segment.name] = segment


def _with(segment: Segment, claim: Claim) -> Segment:
    """A segment with one more claim."""
    return segment if claim in segment.claims else replace(segment, claims=(*segment.claims, claim))


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

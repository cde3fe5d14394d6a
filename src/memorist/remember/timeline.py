"""The history of a slot: which value was true when, computed from all claims about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memorist.text.sameness import one_case


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


@dataclass(frozen=True, slots=True)
class Segment:
    """A value from `start` to `end`; one that ends where it starts was never true and only holds its claims."""

    start: datetime
    end: datetime | None
    claims: tuple[Claim, ...]

    @property
    def name(self) -> tuple[str, datetime]:
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
    segments: list[Segment] = []
    for at, claim, ends in _events(claims):
        current = segments[-1] if segments and segments[-1].end is None else None
        same = current is not None and current.name[0] == claim.same
        if ends:
            if current is not None and same:
                segments[-1] = replace(current, end=at, claims=_with(current.claims, claim))
            elif claim.negated:
                _insert_empty(segments, Segment(at, at, (claim,)))
        elif current is not None and same:
            segments[-1] = replace(current, claims=_with(current.claims, claim))
        else:
            if current is not None:
                segments[-1] = replace(current, end=at)
            segments.append(Segment(at, None, (claim,)))
    return _coalesced(segments)


def forms(claims: Iterable[Claim]) -> list[Form]:
    """Everything that was ever known about a slot, as rows.

    At (as_of, known_at), exactly the segment of `timeline(claims known by then)` that holds at as_of is visible.
    """
    claims = list(claims)
    current: dict[tuple[str, datetime], Form] = {}
    past: list[Form] = []
    for moment in sorted({claim.known for claim in claims}):
        state = {one.name: one for one in timeline(claim for claim in claims if claim.known <= moment)}
        for name in [name for name in current if name not in state]:
            past.append(replace(current.pop(name), retracted_at=moment))
        for name, segment in state.items():
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


def _events(claims: Iterable[Claim]) -> list[tuple[datetime, Claim, bool]]:
    """The starts and ends of values; at the same moment, what was learnt later comes later."""
    events: list[tuple[datetime, Claim, bool]] = []
    for claim in claims:
        events.append((claim.since, claim, claim.negated))
        if claim.until is not None and not claim.negated:
            events.append((max(claim.until, claim.since), claim, True))
    return sorted(events, key=lambda event: (event[0], *_heard(event[1]), event[2]))


def _heard(claim: Claim) -> tuple[datetime, bool, int, str, str]:
    """The order in which claims were learnt; value and source break ties."""
    return claim.known, claim.update, claim.order, claim.same, claim.source or ""


def _insert_empty(segments: list[Segment], empty: Segment) -> None:
    """Insert before a segment that is still open, so that it stays the last one."""
    place = len(segments) - 1 if segments and segments[-1].end is None else len(segments)
    segments.insert(place, empty)


def _with(claims: tuple[Claim, ...], *more: Claim) -> tuple[Claim, ...]:
    return tuple(dict.fromkeys((*claims, *more)))


def _coalesced(segments: Sequence[Segment]) -> list[Segment]:
    """Segments by start, with adjacent equal values joined."""
    joined: list[Segment] = []
    for segment in segments:
        before = next((one for one in joined if _touch(one, segment)), None)
        if before is None:
            joined.append(segment)
        else:
            claims = _with(before.claims, *segment.claims)
            joined[joined.index(before)] = replace(before, end=segment.end, claims=claims)
    return sorted(joined, key=lambda one: (one.start, one.name[0]))


def _touch(before: Segment, after: Segment) -> bool:
    if before.name == after.name:
        return True
    lasting = before.start != before.end and after.start != after.end
    return before.name[0] == after.name[0] and lasting and before.end == after.start

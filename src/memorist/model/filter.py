"""Which memories may be seen: labels, event time and the two clocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memorist.model.memory import Kind, Memory, Tier, Times


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a search may see; every signal applies it inside its search.

    `as_of` and `known_at` are moments on the two clocks; None leaves that clock unbounded.
    `since` and `until` bound the event time, both inclusive.
    """

    scopes: tuple[str, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    topic: str | None = None
    tier: Tier | None = None
    since: datetime | None = None
    until: datetime | None = None
    max_classification: int = 3
    as_of: datetime | None = None
    known_at: datetime | None = None
    include_expired: bool = False

    def admits(self, memory: Memory) -> bool:
        """The reference definition, which every store's own form must agree with."""
        return next(self._refusals(memory), None) is None

    def refusals(self, memory: Memory) -> list[str]:
        """What keeps a memory out; nothing for one that is admitted."""
        return list(self._refusals(memory))

    def _refusals(self, memory: Memory) -> Iterator[str]:
        if self.scopes is not None and memory.scope not in self.scopes:
            yield "another scope"
        if self.kinds is not None and memory.kind not in self.kinds:
            yield "another kind"
        if self.topic is not None and memory.topic != self.topic:
            yield "another topic"
        if self.tier is not None and memory.tier != self.tier:
            yield "another tier"
        if memory.worth.classification > self.max_classification:
            yield "classified too high"
        yield from self._refusals_by_time(memory.times)

    def _refusals_by_time(self, times: Times) -> Iterator[str]:
        if self.since is not None and times.valid_from < self.since:
            yield "before since"
        if self.until is not None and times.valid_from > self.until:
            yield "after until"
        if self.known_at is not None:
            if times.ingested_at > self.known_at:
                yield "not known yet"
            if times.retracted_at is not None and times.retracted_at <= self.known_at:
                yield "taken back"
        if self.as_of is not None:
            if times.valid_from > self.as_of:
                yield "not true yet"
            if not self.include_expired and not self._still_valid(times, self.as_of):
                yield "no longer true or expired"

    def _still_valid(self, times: Times, as_of: datetime) -> bool:
        if times.expires_at is not None and times.expires_at <= as_of:
            return False
        if times.valid_to is None or times.valid_to > as_of:
            return True
        if self.known_at is None or times.expired_at is None:
            return False
        return times.expired_at > self.known_at  # its closing was not yet known

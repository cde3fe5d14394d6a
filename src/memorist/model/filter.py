"""Which memories are visible: labels, event time and the two clocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, TypedDict

from memorist.model.fields import Default, Doc, Range, keywords_for
from memorist.model.memory import Kind, Memory, Tier, Times, When


@dataclass(frozen=True, slots=True)
class Filter:
    """The memories that a search may see; every signal applies it during its search.

    `as_of` and `known_at` are moments on the two clocks; None leaves that clock unbounded.
    `since` and `until` bound the event time, both inclusive.
    """

    scopes: Annotated[tuple[str, ...] | None, Doc("Only memories of one of these scopes.")] = None
    kinds: Annotated[tuple[Kind, ...] | None, Doc("Only memories of one of these kinds.")] = None
    topic: Annotated[str | None, Doc("Only memories about this topic.")] = None
    tier: Annotated[Tier | None, Doc("Only memories of this tier.")] = None
    since: Annotated[datetime | None, Doc("Only memories said or true from this moment on.")] = None
    until: Annotated[datetime | None, Doc("Only memories said or true up to this moment.")] = None
    max_classification: Annotated[int, Range(0, 3), Doc("Only memories no more secret than this, from 0 to 3.")] = 3
    as_of: Annotated[datetime | None, Doc("Only memories that were true at this moment.")] = None
    known_at: Annotated[datetime | None, Doc("Only memories that were known at this moment.")] = None
    include_expired: Annotated[bool, Doc("Include memories that are no longer true.")] = False

    @property
    def visibility(self) -> Filter:
        """The part that decides what may be seen: scope, classification and the two clocks."""
        return replace(self, kinds=None, topic=None, tier=None, since=None, until=None)

    def admits(self, memory: Memory) -> bool:
        """Whether a memory is visible: the reference that every store's own implementation must agree with."""
        return next(self._refusals(memory), None) is None

    def refusals(self, memory: Memory) -> list[str]:
        """Why a memory is not visible; empty if it is."""
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
        end = times.end_known_at(self.known_at)
        return end is None or end > as_of


@keywords_for(Filter)
class Filters(TypedDict, total=False):
    """The keywords that choose memories, in `recall`, `list` and `forget`."""

    as_of: When | None
    known_at: When | None
    scope: Annotated[str | Iterable[str] | None, Doc("Only memories of one of these scopes.")]
    kinds: str | Iterable[str] | None
    topic: str | None
    tier: str | None
    since: When | None
    until: When | None
    max_classification: Annotated[int, Default(2)]
    include_expired: bool

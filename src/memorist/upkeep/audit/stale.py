"""Stale: over but still standing, or old, never asked for and worth little; and what was never recalled at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from memorist.model import Memory, Tier
from memorist.upkeep.audit.check import CONTENT, is_current
from memorist.upkeep.audit.fixes import DERIVED, Close, Demote, Retire
from memorist.upkeep.audit.model import Finding, Fix

OLD = timedelta(days=180)
"""Age from which on a memory that was never recalled is told."""
LITTLE = 0.2
"""Importance times confidence up to which an old one is stale."""


class Stale:
    """Finds what has ended without being closed, and what nobody has asked for."""

    kinds = ("stale", "never_recalled")

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._begins: dict[str, datetime] = {}
        self._superseded: dict[str, str] = {}
        self._unasked: list[Memory] = []
        self._in_use = False

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """What has expired."""
        for memory in page:
            self._in_use = self._in_use or bool(memory.usage and memory.usage.recalls)
            times = memory.times
            if memory.version_of is not None or times.retracted_at is not None or times.valid_to is not None:
                continue
            self._begins[memory.id] = times.valid_from
            if memory.superseded_by is not None:
                self._superseded[memory.id] = memory.superseded_by
            elif times.expires_at is not None and times.expires_at <= self._now:
                fix = Close(memory.id, times.expires_at)
                yield Finding("stale", (memory.id,), f"expired on {times.expires_at.date()}", "low", fix)
            elif self._is_unasked(memory):
                self._unasked.append(memory)

    def close(self) -> Iterable[Finding]:
        """What was superseded and still stands; and, in a memory that is used, what was never recalled."""
        for id, successor in self._superseded.items():
            at = self._begins.get(successor, self._now)
            reason = f"was superseded by {successor} and still stands"
            yield Finding("stale", (id,), reason, "medium", Close(id, at, successor))
        if self._in_use:
            yield from map(self._never_recalled, self._unasked)

    def _is_unasked(self, memory: Memory) -> bool:
        """Old, and not once recalled; what stands at the edge already, or at the core, is where it belongs."""
        usage = memory.usage
        return (
            memory.kind in CONTENT
            and memory.tier is Tier.WORKING
            and usage is not None
            and usage.recalls == 0
            and self._now - memory.times.ingested_at >= OLD
            and is_current(memory, self._now)
        )

    def _never_recalled(self, memory: Memory) -> Finding:
        days = (self._now - memory.times.ingested_at).days
        worth = memory.worth.importance * memory.worth.confidence
        if worth > LITTLE:
            return Finding("never_recalled", (memory.id,), f"not recalled in {days} days", "low", Demote(memory.id))
        fix: Fix = Retire(memory.id) if memory.kind in DERIVED else Demote(memory.id)
        reason = f"not recalled in {days} days and worth {worth:.2f}"
        return Finding("stale", (memory.id,), reason, "low", fix)

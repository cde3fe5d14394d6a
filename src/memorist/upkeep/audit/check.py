"""What looks for faults: it sees every memory once, in the order written, and tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from memorist.model import Kind, Memory
from memorist.upkeep.audit.model import Finding

CONTENT = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.NOTE)
"""Kinds that say something of their own."""


class Check(Protocol):
    """Looks for faults of its kinds."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what it finds."""
        ...

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """What these memories show, with all seen before them."""
        ...

    def close(self) -> Iterable[Finding]:
        """What only shows at the end."""
        ...


def is_current(memory: Memory, now: datetime) -> bool:
    """Whether a recall at this moment may give it."""
    times = memory.times
    return (
        memory.version_of is None
        and times.retracted_at is None
        and (times.valid_to is None or times.valid_to > now)
        and (times.expires_at is None or times.expires_at > now)
    )

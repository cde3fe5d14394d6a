"""What extraction gives: statements, and things named, each with the words of the text that show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memorist.model import Entity, Fact


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that a text states, and what it says of when and whether it still holds."""

    fact: Fact
    quote: str
    """The words of the text that say it."""
    negated: bool = False
    """It is said not to hold, or to hold no longer."""
    update: bool = False
    """It is said as a change: actually, now, no longer, moved, 不再."""
    since: datetime | None = None
    until: datetime | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody or something named in a text, from the character `begin` up to, and without, `stop`."""

    text: str
    kind: str
    begin: int
    stop: int
    entity: Entity | None = None
    """The known entity that is meant, if exactly one is."""

"""What tidying goes by, and what it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memorist.model import Link, Memory, isoformat
from memorist.remember.changes import difference

Rule = Literal["expire", "revive", "merge", "ground", "decay", "tier", "orphan"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The thresholds: mnemosyne-graph's for nodes that were learnt, mnemo's for tiers."""

    merge_above: float = 0.85
    decay_below: float = 0.1
    no_source: float = 0.3
    far_source: float = 0.1
    far_below: float = 0.3
    """A node whose best source has a cosine below this loses `far_source` of its reward."""
    idle_days: float = 60.0
    """How long a working memory may stay unasked for before it goes to the edge."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that tidying does: to which memory, by which rule and why."""

    rule: Rule
    id: str
    reason: str
    pairs: tuple[tuple[Memory, Memory], ...]
    """Each memory it changes, before and after."""
    linked: tuple[Link, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """The memories it changes, its own first."""
        return tuple(dict.fromkeys((self.id, *(after.id for _, after in self.pairs))))

    def to_data(self) -> dict[str, Any]:
        """A change as JSON."""
        changes = {after.id: difference(before, after) for before, after in self.pairs}
        return {"rule": self.rule, "id": self.id, "reason": self.reason, "changes": changes}


@dataclass(frozen=True, slots=True)
class Tidying:
    """What tidying would change, or has changed; `run` is what `undo` takes, None for a dry run."""

    at: datetime
    changes: tuple[Change, ...]
    run: str | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many changes there are by rule."""
        return Counter(change.rule for change in self.changes)

    def to_data(self) -> dict[str, Any]:
        """A tidying as JSON."""
        return {
            "at": isoformat(self.at),
            "run": self.run,
            "counts": dict(self.counts),
            "changes": [change.to_data() for change in self.changes],
        }

"""What a sleep did: notes, then tidying, then the repairs of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from memorist.model import Doc
from memorist.upkeep.audit import Report
from memorist.upkeep.consolidate import Consolidation
from memorist.upkeep.tidy import Tidying


@dataclass(frozen=True, slots=True)
class Sleep:
    """What a sleep would change, or has changed."""

    at: datetime
    notes: Consolidation
    tidying: Tidying
    audit: Report
    run: Annotated[str | None, Doc("The id that undo takes; null for a dry run, and if nothing changed.")] = None

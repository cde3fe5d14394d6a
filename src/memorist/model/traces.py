"""What using a memory leaves in it, beside the memories themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Showing:
    """A memory that a session was shown."""

    session: str
    id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Noise:
    """A text of the noise bank: something said that says nothing."""

    text: str

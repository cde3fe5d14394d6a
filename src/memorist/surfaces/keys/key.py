"""One key: the spaces it opens, and how far."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from memorist.errors import InvalidInput
from memorist.model import isoformat, within
from memorist.recall.request import at_least

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
"""What a key may do, each with all that stands before it."""
ANY = "*"
LONGEST_NAME = 100
_SPACES = re.compile(r"\*|\w[\w.@-]{0,99}\*?")


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it may be shown: all but its secret."""

    id: str
    name: str
    space: str
    rights: Right
    max_classification: int
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def allows(self, space: str, right: str) -> bool:
        """Whether it may do this in a space: its own, or one that begins as its own does before a final `*`."""
        return opens(self.space, space) and right in RIGHTS[: RIGHTS.index(self.rights) + 1]

    def usable(self, now: datetime) -> bool:
        """Whether it has been neither revoked nor outlived."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def to_data(self) -> dict[str, Any]:
        """Its JSON form."""
        return {
            "id": self.id,
            "name": self.name,
            "space": self.space,
            "rights": self.rights,
            "max_classification": self.max_classification,
            "created_at": isoformat(self.created_at),
            "expires_at": self.expires_at and isoformat(self.expires_at),
            "revoked_at": self.revoked_at and isoformat(self.revoked_at),
        }


def opens(pattern: str, space: str) -> bool:
    """Whether a key for `pattern` reaches a space."""
    return space.startswith(pattern[:-1]) if pattern.endswith(ANY) else space == pattern


def check(key: Key) -> Key:
    """The key, unless something in it is refused."""
    if not _SPACES.fullmatch(key.space):
        raise InvalidInput(
            f"{key.space!r} names no space", remedy="Give a space, the beginning of some and *, or * for all."
        )
    checked_right(key.rights)
    within("max_classification", at_least("max_classification", key.max_classification, 0), 0, 3)
    if len(key.name) > LONGEST_NAME or not key.name.isprintable():
        raise InvalidInput(
            "The key's name is too long or unprintable", remedy=f"Use one line, up to {LONGEST_NAME} characters."
        )
    if key.expires_at is not None and key.expires_at <= key.created_at:
        raise InvalidInput("The key would have expired already", remedy="Let it expire in the future.")
    return key


def checked_right(right: str) -> Right:
    """A right by its name."""
    if right not in RIGHTS:
        raise InvalidInput(f"There is no right {right!r}", remedy=f"Choose one of {', '.join(RIGHTS)}.")
    return right

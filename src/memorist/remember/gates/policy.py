"""What each gate does with what it finds: the settings of the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from memorist.errors import InvalidInput

CHOICES: Mapping[str, tuple[str, ...]] = {
    "secrets": ("mask", "refuse", "keep"),
    "duplicates": ("skip", "keep"),
    "loops": ("skip", "mark", "keep"),
    "noise": ("mark", "skip", "keep"),
    "instructions": ("mark", "refuse", "keep"),
}
"""The policies that each gate knows, its default first."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What happens to secrets, duplicates, loops, noise and instructions, and how long a text may be."""

    secrets: str = "mask"
    duplicates: str = "skip"
    loops: str = "skip"
    noise: str = "mark"
    instructions: str = "mark"
    longest_text: int = 0
    """Characters of a text; 0 leaves only the store's own limit, 16 MiB."""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}", remedy=f"Choose one of {', '.join(choices)}.")
        if self.longest_text < 0:
            raise InvalidInput(
                f"longest_text is {self.longest_text}", remedy="Give a number of characters, or 0 for no limit."
            )

    @classmethod
    def of(cls, settings: object) -> Policy:
        """The policy that settings of these names make."""
        names = {field.name for field in fields(cls)}
        given: dict[str, Any] = {name: getattr(settings, name) for name in names if hasattr(settings, name)}
        return cls(**given)

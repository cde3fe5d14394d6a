"""The policy of the gates. It stands apart from them, because a process that only recalls never loads a gate."""

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
"""The policies of each gate, the default first."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do with secrets, duplicates, loops, noise and instructions, and how long a text may be."""

    secrets: str = "mask"
    duplicates: str = "skip"
    loops: str = "skip"
    noise: str = "mark"
    instructions: str = "mark"
    longest_text: int = 0
    """The longest text in characters; 0 leaves only the store's own limit of 16 MiB."""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}", remedy=f"Choose one of {', '.join(choices)}.")
        if self.longest_text < 0:
            raise InvalidInput(
                f"longest_text is {self.longest_text}", remedy="Give a number of characters; 0 means no limit."
            )

    @classmethod
    def of(cls, settings: object) -> Policy:
        """The policy that is described by the settings of the same names."""
        names = {field.name for field in fields(cls)}
        given: dict[str, Any] = {name: getattr(settings, name) for name in names if hasattr(settings, name)}
        return cls(**given)

"""A cheap first look: whether a text holds any of a few words at all."""

from __future__ import annotations


def holds_any(text: str, hints: tuple[str, ...]) -> bool:
    """Whether a text holds one of the hints; a plain loop, for every text is asked this some forty times."""
    for hint in hints:  # noqa: SIM110
        if hint in text:
            return True
    return False

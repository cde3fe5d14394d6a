"""The views, one module each, in the order of the menu."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter

from memorist.surfaces.inspector.views import entrance, journal, memories, memory, overview


@dataclass(frozen=True, slots=True)
class View:
    """A view of a space: its name in the path, its title in the menu, and the key that leads to it after `g`."""

    name: str
    title: str
    key: str


VIEWS = (
    View("overview", "Overview", "o"),
    View("memories", "Memories", "m"),
    View("journal", "Journal", "j"),
    View("audit", "Audit", "a"),
)
ROUTERS: tuple[APIRouter, ...] = (entrance.router, overview.router, memories.router, memory.router, journal.router)

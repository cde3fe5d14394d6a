"""The views, one module each, in the order of the menu."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter

from memorist_server.inspector.views import (
    bench,
    entrance,
    graph,
    journal,
    lab,
    memories,
    memory,
    overview,
    sessions,
    time,
)


@dataclass(frozen=True, slots=True)
class SpaceView:
    """A view of a space: its name in the path, its title in the menu, and the key that leads to it after `g`."""

    name: str
    title: str
    key: str


VIEWS = (
    SpaceView("overview", "Overview", "o"),
    SpaceView("memories", "Memories", "m"),
    SpaceView("lab", "Recall lab", "l"),
    SpaceView("time", "Time", "t"),
    SpaceView("graph", "Graph", "g"),
    SpaceView("sessions", "Sessions", "s"),
    SpaceView("journal", "Journal", "j"),
    SpaceView("audit", "Audit", "a"),
    SpaceView("bench", "Bench", "b"),
)
ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router for module in (entrance, overview, memories, memory, lab, time, graph, sessions, journal, bench)
)

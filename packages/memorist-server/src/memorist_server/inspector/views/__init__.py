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
class View:
    """A view of a space: its name in the path, its title in the menu, and the key that leads to it after `g`."""

    name: str
    title: str
    key: str


VIEWS = (
    View("overview", "Overview", "o"),
    View("memories", "Memories", "m"),
    View("lab", "Recall lab", "l"),
    View("time", "Time", "t"),
    View("graph", "Graph", "g"),
    View("sessions", "Sessions", "s"),
    View("journal", "Journal", "j"),
    View("audit", "Audit", "a"),
    View("bench", "Bench", "b"),
)
ROUTERS: tuple[APIRouter, ...] = tuple(
    one.router for one in (entrance, overview, memories, memory, lab, time, graph, sessions, journal, bench)
)

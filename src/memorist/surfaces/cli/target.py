"""The memory that a command works on: chosen by the options before the command, opened by the command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import typer

import memorist
from memorist import config
from memorist.config import SETTINGS
from memorist.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.model import Filters, Memory

EVERYTHING: Filters = {
    "as_of": "9999-12-31",
    "known_at": "9999-12-31",
    "include_expired": True,
    "max_classification": 3,
}
"""The filters with which `list` leaves nothing out."""
SHORTEST_ID = 4
"""The fewest characters of an id that are looked up."""


def setting(name: str) -> Any:
    """The option for a setting, which can also come from the environment or a file."""
    one = next(one for one in SETTINGS if one.name == name)
    return typer.Option(f"--{name}", metavar=name.upper(), help=f"{one.meaning} Also {one.variable}.")


@dataclass(frozen=True, slots=True)
class Target:
    """The memory to open; None means that the environment or a file decides."""

    db: str | None = None
    space: str | None = None
    embedder: str | None = None
    config: str | None = None

    def open(self) -> Engine:
        """Open it."""
        return memorist.open(self.db, space=self.space, embedder=self.embedder, config=self.config)

    def settings(self) -> config.Config:
        """The settings it is opened with."""
        return config.load(self.config, db=self.db, space=self.space, embedder=self.embedder)


def target(context: typer.Context) -> Target:
    """The target of the running command."""
    return cast("Target", context.obj)


def opened(context: typer.Context) -> Engine:
    """The memory that the running command works on, open."""
    return target(context).open()


def all_memories(engine: Engine, filters: Filters) -> Iterator[Memory]:
    """All memories that `forget` would erase with these filters."""
    cursor = None
    while True:
        page = engine.list(1000, cursor, **{**EVERYTHING, **filters})
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def find_memory(engine: Engine, id: str) -> Memory:
    """The memory with an id, or the only one whose id begins with it."""
    if memory := engine.get(id):
        return memory
    alike = (memory for memory in all_memories(engine, {}) if memory.id.startswith(id))
    found = list(islice(alike, 2)) if len(id) >= SHORTEST_ID else []
    if not found:
        raise NotFound(f"There is no memory {id!r}", remedy="Look it up with `memorist list`.")
    if len(found) > 1:
        raise InvalidInput(f"Several ids begin with {id!r}", remedy="Give more characters of it.")
    return found[0]

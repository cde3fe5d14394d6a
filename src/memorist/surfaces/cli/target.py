"""What a command works on: the memory that the options before it choose, and the memories in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, cast

import typer

import memorist
from memorist import config
from memorist.errors import InvalidInput, NotFound
from memorist.model import Memory
from memorist.recall.request import Filters

if TYPE_CHECKING:
    from memorist.engine import Engine

EVERYTHING: Filters = {
    "as_of": "9999-12-31",
    "known_at": "9999-12-31",
    "include_expired": True,
    "max_classification": 3,
}
"""What `list` has to be told to leave nothing out."""
SHORTEST_ID = 4


@dataclass(frozen=True, slots=True)
class Target:
    """The memory to open; what is None comes from the environment or a file."""

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
    """The memory the running command works on."""
    return target(context).open()


def chosen(engine: Engine, filters: Filters) -> Iterator[Memory]:
    """All memories that `forget` would choose by these filters."""
    cursor = None
    while True:
        page = engine.list(1000, cursor, **{**EVERYTHING, **filters})
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def memory_called(engine: Engine, id: str) -> Memory:
    """The memory with an id, or the only one whose id begins like that."""
    if memory := engine.get(id):
        return memory
    alike = (memory for memory in chosen(engine, {}) if memory.id.startswith(id))
    found = list(islice(alike, 2)) if len(id) >= SHORTEST_ID else []
    if not found:
        raise NotFound(f"There is no memory {id!r}", remedy="Look it up with `memorist list`.")
    if len(found) > 1:
        raise InvalidInput(f"Several ids begin with {id!r}", remedy="Give more of it.")
    return found[0]

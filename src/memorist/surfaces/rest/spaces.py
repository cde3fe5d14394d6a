"""The spaces of a folder: a bounded number of them open at once, each shared by all who ask for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import memorist
from memorist import config
from memorist.engine.open import SPACE_NAME
from memorist.errors import InvalidInput

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.surfaces.rest.server import Settings


Open = Callable[[str], "Engine"]


class SpaceSlot:
    """A place in the pool: who uses it, and the engine once it is open."""

    def __init__(self, name: str, open_: Open) -> None:
        self.name = name
        self.users = 0
        self._open = open_
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """The engine, opened by the first who needs it while others wait."""
        with self._lock:
            if self._engine is None:
                self._engine = self._open(self.name)
            return self._engine

    def close(self) -> None:
        """Close the engine, if it was opened."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()


class Spaces:
    """Opens spaces when they are asked for, and closes the one unused for longest when there are too many.

    One that is in use is never closed: there are at most as many open as `most`, or as verbs are running.
    """

    def __init__(self, folder: Path, open_: Open, empty: Open, most: int) -> None:
        self._folder = folder
        self._open = open_
        self._empty = empty
        self._most = max(1, most)
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, SpaceSlot] = OrderedDict()

    @contextmanager
    def use(self, name: str, *, create: bool) -> Generator[Engine]:
        """The engine of a space, kept open until the block ends.

        One that is not there is made, or looks empty as a new one would: a question leaves no file behind.
        """
        if not create and name not in self._slots and not self.file(name).exists():
            with self._empty(name) as engine:
                yield engine
            return
        slot = self._enter(name)
        try:
            yield slot.engine()
        finally:
            for idle in self._leave(slot):
                idle.close()

    def file(self, name: str) -> Path:
        """The file of a space; a name that could lead anywhere else is refused."""
        if not SPACE_NAME.fullmatch(name):
            raise InvalidInput(
                f"{name!r} cannot name a space",
                remedy="Use up to 100 letters, digits, and . @ - _, not beginning with a sign.",
            )
        return self._folder / f"{name}.db"

    def names(self) -> list[str]:
        """Every space there is."""
        return sorted(file.stem for file in self._folder.glob("*.db") if SPACE_NAME.fullmatch(file.stem))

    @property
    def open(self) -> int:
        """How many are open."""
        return len(self._slots)

    def close(self) -> None:
        """Close them all."""
        with self._lock:
            slots = list(self._slots.values())
            self._slots.clear()
        for slot in slots:
            slot.close()

    def _enter(self, name: str) -> SpaceSlot:
        with self._lock:
            slot = self._slots.setdefault(name, SpaceSlot(name, self._open))
            self._slots.move_to_end(name)
            slot.users += 1
            return slot

    def _leave(self, slot: SpaceSlot) -> list[SpaceSlot]:
        with self._lock:
            slot.users -= 1
            idle = [one for one in self._slots.values() if not one.users]
            surplus = idle[: max(0, len(self._slots) - self._most)]
            for one in surplus:
                del self._slots[one.name]
            return surplus


def spaces_of(settings: Settings) -> Spaces:
    """The spaces of a server's folder, all with one embedder: its model is loaded once."""
    from memorist.models import embedders

    chosen = config.load(settings.config, embedder=settings.embedder)
    embedder = embedders.build(chosen.embedder, options=chosen.embedder_options) or "none"

    def opening(url: str, *, background: bool) -> Open:
        return lambda name: memorist.open(
            url, space=name, embedder=embedder, config=settings.config, background=background
        )

    folder = settings.folder
    kept, empty = opening(f"{folder}/", background=True), opening(":memory:", background=False)
    return Spaces(folder, kept, empty, settings.open_spaces)

"""The open spaces of a server."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from anyio import CapacityLimiter, to_thread

from memorist.engine.engine import Engine
from memorist.engine.upkeep import jobs_seen, look_for_jobs
from memorist.errors import Closed, StoreMoved
from memorist_server.access.home import Catalogue

if TYPE_CHECKING:
    from memorist.results.records import Job

LOOK_EVERY = 300.0
"""Seconds after which a space in use is searched for jobs again: the worker that left them may have been killed."""
SPACE_BYTES = 200_000
"""What an open space takes besides its index and the pages of its file: the engine and its parts."""
T = TypeVar("T")
Open = Callable[[str], Engine]
Run = Callable[[Callable[[], None]], object]
"""Runs something, at once or in another thread."""


def load_engine(engine: Engine) -> Engine:
    """An engine whose index was read, so that no verb waits for it; what goes wrong shows at its first use."""
    with suppress(Exception):
        engine.store.view()
    return engine


def out_of_the_way(close: Callable[[], None]) -> None:
    """Close something in a thread of its own: writing an index file can take seconds, and nobody should wait for it."""
    threading.Thread(target=close, name="memorist-closing").start()


class SpaceSlot:
    """A slot of the pool: the number of its users, and the engine once it is open."""

    def __init__(self, name: str, open_: Open) -> None:
        self.name = name
        self.users = 0
        self.nbytes = 0
        """The bytes that it took when it was last left."""
        self._open = open_
        self._lock = threading.Lock()
        self._closed = False
        self._engine: Engine | None = None
        self._looked = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether nobody has to wait for the engine."""
        return self._engine is not None or self._closed

    def measured(self) -> int:
        """About how many bytes it takes now."""
        engine = self._engine
        return 0 if engine is None else SPACE_BYTES + getattr(engine.store, "nbytes", 0)

    def jobs(self) -> Sequence[Job]:
        """The background jobs that it had when it was last looked at."""
        engine = self._engine
        return () if engine is None else jobs_seen(engine)

    def engine(self) -> Engine:
        """The engine; the first user opens it while others wait."""
        with self._lock:
            if self._closed:
                raise _shut()
            if self._engine is None:
                self._engine = self._open(self.name)
            engine, due = self._engine, time.monotonic() - self._looked > LOOK_EVERY
            self._looked = time.monotonic() if due else self._looked
        if due:
            look_for_jobs(engine)
        return engine

    def close(self) -> None:
        """Close the engine if it was opened, and do not open it any more."""
        with self._lock:
            self._closed = True
            if self._engine is not None:
                self._engine.close()


class Spaces:
    """Opens spaces on demand, and closes the least recently used ones when there are too many, or they are too large.

    A space in use is never closed: the number of open spaces is at most `most`, or the number of running verbs. All
    together take at most `budget` bytes, 0 for any number, but for those in use and one that is larger alone. No lock
    is held for more than one space while one is opened or closed; `closing` says in which thread some are closed.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        open_: Open,
        empty: Open,
        most: int,
        closing: Run = lambda close: close(),
        *,
        budget: int = 0,
    ) -> None:
        self._catalogue = catalogue
        self._open = open_
        self._empty = empty
        self._most = max(1, most)
        self._budget = budget
        self.held = 0
        """About how many bytes the open spaces take, each as of its last use."""
        self.evicted = 0
        """How many spaces were closed to make room."""
        self._closing = closing
        self._openings: dict[SpaceSlot, asyncio.Future[Engine]] = {}
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, SpaceSlot] = OrderedDict()
        self._closed = False

    @contextmanager
    def use(self, name: str, *, create: bool) -> Generator[Engine]:
        """The engine of a space, kept open until the block ends.

        A space that does not exist is created, or else stands in empty and in memory: reading leaves nothing behind.
        """
        if not create and name not in self._slots and not self._catalogue.has(name):
            with self._empty(name) as engine:
                yield engine
            return
        with self._slot(name) as slot:
            try:
                yield slot.engine()
            except StoreMoved:
                self._abandon(slot)
                raise

    @asynccontextmanager
    async def opened(self, name: str, *, create: bool) -> AsyncGenerator[None]:
        """Wait until a space is open, and keep it open until the block ends; for the event loop only.

        A space is opened once for all who wait, in a thread of its own: whoever wants another space does not wait, and
        has all threads for verbs.
        """
        if not create and name not in self._slots and not await _in_a_thread(partial(self._catalogue.has, name)):
            yield
            return
        with self._slot(name) as slot:
            if not slot.is_open:
                await asyncio.shield(self._openings.get(slot) or self._opening(slot))
            yield

    def _opening(self, slot: SpaceSlot) -> asyncio.Future[Engine]:
        opening = asyncio.ensure_future(_in_a_thread(slot.engine))
        self._openings[slot] = opening

        def over(_: object) -> None:
            del self._openings[slot]
            if not opening.cancelled():
                opening.exception()  # perhaps nobody waits for it any more

        opening.add_done_callback(over)
        return opening

    @contextmanager
    def _slot(self, name: str) -> Generator[SpaceSlot]:
        """The slot of a space, kept until the block ends; what is too many then is closed."""
        slot = self._enter(name)
        try:
            yield slot
        finally:
            if surplus := self._leave(slot):
                self._closing(partial(_close_all, surplus))

    @property
    def open(self) -> int:
        """The number of open spaces."""
        return len(self._slots)

    def jobs(self) -> tuple[int, int]:
        """The background jobs of open spaces that are due, and those that failed and wait; nothing is read for it."""
        now = datetime.now(UTC)
        with self._lock:
            jobs = [job for slot in self._slots.values() for job in slot.jobs()]
        return sum(job.due <= now for job in jobs), sum(job.attempts > 0 for job in jobs)

    def close(self) -> None:
        """Close them all, and open none any more."""
        with self._lock:
            self._closed = True
            slots = list(self._slots.values())
            self._slots.clear()
            self.held = 0
        for slot in slots:
            slot.close()

    def _enter(self, name: str) -> SpaceSlot:
        with self._lock:
            if self._closed:
                raise _shut()
            slot = self._slots.setdefault(name, SpaceSlot(name, self._open))
            self._slots.move_to_end(name)
            slot.users += 1
            return slot

    def _abandon(self, slot: SpaceSlot) -> None:
        """Let the next request open what lies there now."""
        with self._lock:
            if self._slots.get(slot.name) is slot:
                self._drop(slot)

    def _drop(self, slot: SpaceSlot) -> None:
        del self._slots[slot.name]
        self.held -= slot.nbytes

    def _leave(self, slot: SpaceSlot) -> list[SpaceSlot]:
        """The slots to close after one was left: itself if it was abandoned, and the idle ones for which no room is."""
        nbytes = slot.measured()
        with self._lock:
            slot.users -= 1
            if self._slots.get(slot.name) is not slot:
                return [] if slot.users else [slot]
            self._slots.move_to_end(slot.name)
            self.held += nbytes - slot.nbytes
            slot.nbytes = nbytes
            surplus = list(self._surplus())
            self.evicted += len(surplus)
            return surplus

    def _surplus(self) -> Iterator[SpaceSlot]:
        """Idle slots, least recently used first, taken out until the rest fits."""
        idle = (slot for slot in list(self._slots.values()) if not slot.users)
        while len(self._slots) > self._most or (0 < self._budget < self.held and len(self._slots) > 1):
            one = next(idle, None)
            if one is None:
                return
            self._drop(one)
            yield one


def _close_all(slots: Sequence[SpaceSlot]) -> None:
    """Close some slots; one that fails does not keep the others open."""
    with ExitStack() as closing:
        for slot in reversed(slots):
            closing.callback(slot.close)


async def _in_a_thread(work: Callable[[], T]) -> T:
    """What something returns that may wait for a disk or a database; no thread for verbs is taken."""
    return await to_thread.run_sync(work, limiter=CapacityLimiter(1))


def _shut() -> Closed:
    return Closed("The server is shutting down", remedy="Try again in a moment.")

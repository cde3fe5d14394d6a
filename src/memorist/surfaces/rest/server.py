"""What the requests to one server share: settings, open spaces, keys and stored answers."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memorist.access.idempotency import Answers
from memorist.access.keys import KeyRing, keys_file
from memorist.engine.engine import Engine
from memorist.engine.open import locate, on_server, sharing_embedder
from memorist.errors import Closed, InvalidInput, StoreMoved
from memorist.model import checked_space, is_space_name
from memorist.surfaces.rest.connections import ConnectionLimits
from memorist.surfaces.rest.limits import ConcurrencyLimit, Rate
from memorist.surfaces.rest.origin import OwnNames, is_loopback
from memorist.surfaces.rest.threads import VerbThreads
from memorist.surfaces.rest.watch import Metrics

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the spaces are, who may connect, and the limits; 0 means no limit."""

    db: str | None = None
    config: str | None = None
    models: str | None = None
    embedder: str | None = None
    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: tuple[str, ...] = ()
    """Host names that requests may use besides loopback and `host`."""
    body_limit: int = 32 * MIB
    upload_limit: int = 1024 * MIB
    """Bytes of a file to ingest or import; such files are not held in memory."""
    rate: float = 100.0
    """Requests per second and key, after a burst of twice as many; not applied without keys."""
    concurrency: int = 128
    """Concurrent requests; further ones are told to retry."""
    key_concurrency: int = 32
    """Concurrent requests of one key."""
    connections: int = 512
    address_connections: int = 256
    """Connections from one address; further ones are closed."""
    head_timeout: float = 10.0
    """Seconds in which a connection must send the head of its next request."""
    threads: int = 8
    """Verbs that run concurrently; one key has at most half of them."""
    open_spaces: int = 32
    timeout: float = 60.0
    """Seconds for one request, for its body, and for its client to read an answer."""
    upkeep_timeout: float = 3600.0
    """Seconds for a request that reads every memory, such as an audit."""

    @property
    def folder(self) -> Path:
        """The folder of the spaces."""
        elsewhere = self.db is not None and (self.db == ":memory:" or on_server(self.db))
        path, in_folder = (Path(), False) if elsewhere else locate(self.db, None)
        if not in_folder:
            raise InvalidInput(
                "The database to serve is not a folder of spaces",
                remedy="Give a folder, with a slash at the end: `memorist --db memories/ serve`.",
            )
        return path.parent

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def names(self) -> OwnNames:
        """The names that requests may use for it."""
        return OwnNames.of(self.host, self.allowed_hosts)

    @property
    def of_connections(self) -> ConnectionLimits:
        """The limits of its connections."""
        return ConnectionLimits(self.connections, self.address_connections, self.head_timeout, self.timeout)

    def of_requests(self) -> ConcurrencyLimit:
        """A limit of concurrent requests."""
        return ConcurrencyLimit(self.concurrency, self.key_concurrency)

    def of_threads(self) -> VerbThreads:
        """The threads that run verbs."""
        return VerbThreads(self.threads, self.of_requests())

    def to_text(self) -> str:
        """As text for an environment variable, which worker processes read."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Settings:
        """The inverse of `to_text`."""
        data: dict[str, Any] = json.loads(text)
        hosts = tuple(data.pop("allowed_hosts"))
        return cls(**data, allowed_hosts=hosts)


Open = Callable[[str], Engine]


class SpaceSlot:
    """A slot of the pool: the number of its users, and the engine once it is open."""

    def __init__(self, name: str, open_: Open) -> None:
        self.name = name
        self.users = 0
        self._open = open_
        self._lock = threading.Lock()
        self._closed = False
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """The engine; the first user opens it while others wait."""
        with self._lock:
            if self._closed:
                raise _shut()
            if self._engine is None:
                self._engine = self._open(self.name)
            return self._engine

    def close(self) -> None:
        """Close the engine if it was opened, and do not open it any more."""
        with self._lock:
            self._closed = True
            if self._engine is not None:
                self._engine.close()


class Spaces:
    """Opens spaces on demand, and closes the least recently used one when there are too many.

    A space in use is never closed: the number of open spaces is at most `most`, or the number of running verbs.
    """

    def __init__(self, folder: Path, open_: Open, empty: Open, most: int) -> None:
        self._folder = folder
        self._open = open_
        self._empty = empty
        self._most = max(1, most)
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, SpaceSlot] = OrderedDict()
        self._closed = False

    @contextmanager
    def use(self, name: str, *, create: bool) -> Generator[Engine]:
        """The engine of a space, kept open until the block ends.

        A space that does not exist is created, or else stands in empty and in memory: reading leaves no file behind.
        """
        if not create and name not in self._slots and not self.file(name).exists():
            with self._empty(name) as engine:
                yield engine
            return
        slot = self._enter(name)
        try:
            yield slot.engine()
        except StoreMoved:
            self._abandon(slot)
            raise
        finally:
            for idle in self._leave(slot):
                idle.close()

    def file(self, name: str) -> Path:
        """The file of a space; a name that leads out of the folder is refused."""
        return self._folder / f"{checked_space(name)}.db"

    def names(self) -> list[str]:
        """The names of all spaces."""
        return sorted(file.stem for file in self._folder.glob("*.db") if is_space_name(file.stem))

    @property
    def open(self) -> int:
        """The number of open spaces."""
        return len(self._slots)

    def close(self) -> None:
        """Close them all, and open none any more."""
        with self._lock:
            self._closed = True
            slots = list(self._slots.values())
            self._slots.clear()
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
                del self._slots[slot.name]

    def _leave(self, slot: SpaceSlot) -> list[SpaceSlot]:
        with self._lock:
            slot.users -= 1
            idle = [one for one in self._slots.values() if not one.users]
            surplus = idle[: max(0, len(self._slots) - self._most)]
            for one in surplus:
                del self._slots[one.name]
            abandoned = not slot.users and slot not in surplus and self._slots.get(slot.name) is not slot
            return [*surplus, slot] if abandoned else surplus


def _shut() -> Closed:
    return Closed("The server is shutting down", remedy="Try again in a moment.")


def spaces_of(settings: Settings) -> Spaces:
    """The spaces of a server's folder. They share one embedder, so that its model is loaded once."""
    open_space = sharing_embedder(settings.config, settings.embedder, settings.models)

    def opening(url: str, *, background: bool) -> Open:
        return lambda name: open_space(url, name, background)

    folder = settings.folder
    kept, empty = opening(f"{folder}/", background=True), opening(":memory:", background=False)
    return Spaces(folder, kept, empty, settings.open_spaces)


@dataclass(slots=True)
class Server:
    """Settings, keys and open spaces."""

    settings: Settings
    keys: KeyRing
    spaces: Spaces
    answers: Answers
    room: ConcurrencyLimit
    rate: Rate
    threads: VerbThreads
    metrics: Metrics = field(default_factory=Metrics)
    ready: bool = False
    owns_process: bool = False
    """Whether the process ends with it."""

    @classmethod
    def started(cls, settings: Settings) -> Server:
        """A server for a folder of spaces, which is created if it does not exist."""
        folder = settings.folder
        return cls(
            settings,
            KeyRing(keys_file(settings.db)),
            spaces_of(settings),
            Answers(folder),
            settings.of_requests(),
            Rate(settings.rate),
            settings.of_threads(),
        )

    @property
    def unlocked(self) -> bool:
        """Whether no key is needed: the server is on loopback, and no key was ever created."""
        return self.settings.loopback and self.keys.empty

    def close(self) -> None:
        """Close every space and file."""
        self.ready = False
        self.spaces.close()
        self.answers.close()
        self.keys.close()

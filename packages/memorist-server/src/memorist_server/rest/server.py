"""What the requests to one server share: settings, open spaces, keys and stored answers."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from memorist.engine.engine import Engine
from memorist.engine.open import model_runs, space_opener
from memorist_server.access.home import Catalogue, Home, home_of
from memorist_server.access.idempotency import Answers
from memorist_server.access.keys import KeyRing
from memorist_server.rest.connections import ConnectionLimits
from memorist_server.rest.limits import ConcurrencyLimit, Rate
from memorist_server.rest.logs import note
from memorist_server.rest.metrics import Metrics
from memorist_server.rest.origin import OwnNames, is_loopback
from memorist_server.rest.quotas import Quota
from memorist_server.rest.remote import Readiness
from memorist_server.rest.spaces import Open, Spaces, load_engine, out_of_the_way
from memorist_server.rest.threads import VerbThreads

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the spaces are, who may connect, and the limits; 0 means no limit."""

    db: str | None = field(default=None, repr=False)  # it may hold a password
    only: str | None = None
    """The space of `db`, if that is a single file."""
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
    space_rate: float = 0.0
    """Requests per second and space, after a burst of twice as many."""
    max_memories: int = 0
    """Memories of one space, in all versions; reading and forgetting go on when it is full."""
    max_bytes: int = 0
    """Bytes of text of one space."""
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
    memory_budget: int | None = None
    """Bytes that open spaces may take together; None for a quarter of the machine's memory."""
    timeout: float = 60.0
    """Seconds for one request, for its body, and for its client to read an answer."""
    upkeep_timeout: float = 3600.0
    """Seconds for a request that reads every memory, such as an audit."""
    read_only: bool = False
    """Whether nobody may change anything, whatever the rights of a key."""
    bench: str | None = None
    """A folder of results of `memorist bench` that the inspector shows."""
    ticket: str | None = field(default=None, repr=False)
    """What lets one browser in, once, as the owner; nobody else is let in without a key."""
    session_secret: str = field(default="", repr=False)
    """What the inspector's sessions are signed with, in every worker; a random one if it is empty."""
    drain: float = 0.0
    """Seconds between the signal to stop and the end of listening, in which a proxy can see that it is not ready."""

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

    def of_spaces(self) -> Quota:
        """What each space may hold."""
        return Quota(self.max_memories, self.max_bytes)

    def to_text(self) -> str:
        """As text for an environment variable, which worker processes read."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Settings:
        """The inverse of `to_text`."""
        data: dict[str, Any] = json.loads(text)
        hosts = tuple(data.pop("allowed_hosts"))
        return cls(**data, allowed_hosts=hosts)


def spaces_of(settings: Settings, catalogue: Catalogue, metrics: Metrics) -> Spaces:
    """The spaces of a server. They share one embedder, so that its model is loaded once."""
    open_space = space_opener(settings.config, settings.embedder, settings.models)

    def opening(url: str, *, background: bool) -> Open:
        return lambda name: open_space(url, name, background)

    kept, empty = opening(catalogue.url, background=True), opening(":memory:", background=False)

    def opened(name: str) -> Engine:
        began = perf_counter()
        engine = load_engine(kept(name))
        metrics.opened(perf_counter() - began)
        return engine

    budget = machine_memory() // 4 if settings.memory_budget is None else settings.memory_budget
    return Spaces(catalogue, opened, empty, settings.open_spaces, out_of_the_way, budget=budget)


_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def machine_memory() -> int:
    """The bytes of memory of this machine, or of the container that the process runs in."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in map(Path, _CGROUP_LIMITS):
        with suppress(OSError, ValueError):
            limits.append(int(path.read_text()))  # "max" is no number
    return min(limits)


def note_migrated(migrations: list[str]) -> None:
    """Log what was migrated; of processes that start together, one has something to say."""
    if migrations:
        note("migrated", migrations=migrations)


@dataclass(slots=True)
class Server:
    """Settings, open spaces, and what it shares with other workers."""

    settings: Settings
    home: Home
    spaces: Spaces
    room: ConcurrencyLimit
    rate: Rate
    space_rate: Rate
    quota: Quota
    threads: VerbThreads
    readiness: Readiness
    metrics: Metrics
    accepting: bool = False
    """Whether it has started, and no signal to stop has come."""
    owns_process: bool = False
    """Whether the process ends with it."""

    @classmethod
    def started(cls, settings: Settings) -> Server:
        """A server for a folder or a database, which is created or migrated if that is needed."""
        home = home_of(settings.db, settings.only)
        note_migrated(home.catalogue.prepare())
        metrics = Metrics()
        return cls(
            settings,
            home,
            spaces_of(settings, home.catalogue, metrics),
            settings.of_requests(),
            Rate(settings.rate),
            Rate(settings.space_rate),
            settings.of_spaces(),
            settings.of_threads(),
            Readiness(home.catalogue.check),
            metrics,
        )

    @property
    def keys(self) -> KeyRing:
        """Who may use it."""
        return self.home.keys

    @property
    def answers(self) -> Answers:
        """What was answered to writes with an Idempotency-Key."""
        return self.home.answers

    @property
    def unlocked(self) -> bool:
        """Whether no key is needed: the server is on loopback, has no ticket, and no key was ever created."""
        return self.settings.ticket is None and self.settings.loopback and self.keys.empty

    def measured(self) -> str:
        """What /metrics shows: the counters of this process, and its load at this moment."""
        models, batches = model_runs()
        due, failed = self.spaces.jobs()
        values = {
            "memorist_requests_under_way": ("Requests that are being answered.", self.room.taken),
            "memorist_open_spaces": ("Spaces that are open.", self.spaces.open),
            "memorist_open_spaces_bytes": ("Memory that the open spaces take.", self.spaces.held),
            "memorist_spaces_evicted_total": ("Spaces closed to make room for others.", self.spaces.evicted),
            "memorist_verbs_waiting": ("Verbs that wait for a thread.", self.threads.waiting),
            "memorist_model_batches_waiting": ("Batches of texts that wait for a local model.", batches),
            "memorist_jobs_due": ("Background jobs of open spaces that are due.", due),
            "memorist_jobs_failed": ("Background jobs of open spaces that failed and will be tried again.", failed),
        }
        waited = {"memorist_verb_waiting_seconds": ("Seconds that verbs waited for a thread.", self.threads.waited)}
        return self.metrics.text(values, waited, models)

    def close(self) -> None:
        """Close every space and file."""
        self.accepting = False
        self.spaces.close()
        self.home.close()

"""What the requests to one server share: settings, limits, spaces, keys."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from typing import Any

from anyio import CapacityLimiter, move_on_after
from starlette.types import Message, Receive

from memorist.engine.open import locate, on_server
from memorist.errors import InvalidInput
from memorist.surfaces.keys import KeyRing, keys_file
from memorist.surfaces.rest.answers import Answers
from memorist.surfaces.rest.problems import OVERLOADED, RETRY_SOON, TIMED_OUT, TOO_LARGE, TOO_MANY, Refusal
from memorist.surfaces.rest.spaces import Spaces, spaces_of
from memorist.surfaces.rest.watch import Metrics

MIB = 1024 * 1024
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the spaces lie, who may ask, and how much at once. A limit of 0 is none."""

    db: str | None = None
    config: str | None = None
    embedder: str | None = None
    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: tuple[str, ...] = ()
    """Names, besides loopback and bare addresses, that requests may call this server by."""
    body_limit: int = 32 * MIB
    upload_limit: int = 1024 * MIB
    """Bytes of a file to ingest or import, which is not held in memory."""
    rate: float = 100.0
    """Requests a second for each key, after a burst of twice as many; none without keys."""
    concurrency: int = 128
    """Requests under way at once; those beyond are told to come back."""
    threads: int = 8
    """Verbs that run at once."""
    open_spaces: int = 32
    timeout: float = 60.0
    """Seconds for one request."""
    upkeep_timeout: float = 3600.0
    """Seconds for one that looks at everything, such as an audit."""

    @property
    def folder(self) -> Path:
        """The folder of the spaces."""
        elsewhere = self.db is not None and (self.db == ":memory:" or on_server(self.db))
        path, in_folder = (Path(), False) if elsewhere else locate(self.db, None)
        if not in_folder:
            raise InvalidInput(
                "What is to be served is no folder of spaces",
                remedy="Give a folder, with a slash at its end: `memorist --db memories/ serve`.",
            )
        return path.parent

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def to_text(self) -> str:
        """As text that survives an environment variable, for worker processes."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Settings:
        """The inverse of `to_text`."""
        data: dict[str, Any] = json.loads(text)
        hosts = tuple(data.pop("allowed_hosts"))
        return cls(**data, allowed_hosts=hosts)


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Whether it is an address rather than a name: no page can have made a browser look it up."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


MOST_CALLERS = 10_000
"""Buckets that are remembered; the one that was used longest ago goes first."""


class Rate:
    """A token bucket for each caller: so many requests a second, after a burst of twice as many."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._burst = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count one request; refuse it if the caller's bucket is empty."""
        if not self._rate:
            return
        now = self._clock()
        left, at = self._buckets.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        self._buckets[caller] = (left - 1 if left >= 1 else left, now)
        while len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self._rate)
            raise Refusal(TOO_MANY, headers={"Retry-After": str(max(RETRY_SOON, wait))})


class ConcurrencyLimit:
    """How many requests are under way; used from the event loop alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    @contextmanager
    def place(self) -> Generator[None]:
        """A place for one request; refuses it if there is none."""
        if self._most and self.taken >= self._most:
            raise Refusal(OVERLOADED, headers={"Retry-After": str(RETRY_SOON)})
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def checked_length(length: str | None, most: int) -> None:
    """Refuse a body by the length it is announced with."""
    if most and length is not None and length.isdigit() and int(length) > most:
        raise _too_large(most)


def bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """The same body, refused when it grows too large, or its next piece does not come in time."""
    came, whole = 0, False

    async def counted() -> Message:
        nonlocal came, whole
        with move_on_after(None if whole else seconds):
            message = await receive()
            whole = not message.get("more_body", False)
            came += len(message.get("body", b""))
            if most and came > most:
                raise _too_large(most)
            return message
        raise Refusal(TIMED_OUT, "The rest of the body did not come")

    return counted


def _too_large(most: int) -> Refusal:
    return Refusal(TOO_LARGE, f"The body is larger than {most:,} bytes")


@dataclass(slots=True)
class Server:
    """Settings, keys and open spaces."""

    settings: Settings
    keys: KeyRing
    spaces: Spaces
    answers: Answers
    room: ConcurrencyLimit
    rate: Rate
    metrics: Metrics = field(default_factory=Metrics)
    ready: bool = False
    _threads: CapacityLimiter | None = None

    @classmethod
    def started(cls, settings: Settings) -> Server:
        """A server for a folder of spaces, which is made if it is not there."""
        folder = settings.folder
        return cls(
            settings,
            KeyRing(keys_file(settings.db)),
            spaces_of(settings),
            Answers(folder),
            ConcurrencyLimit(settings.concurrency),
            Rate(settings.rate),
        )

    @property
    def threads(self) -> CapacityLimiter:
        """The threads that verbs run in: a slow embedding never blocks the event loop."""
        if self._threads is None:  # made inside the event loop, to which it belongs
            self._threads = CapacityLimiter(max(1, self.settings.threads))
        return self._threads

    @property
    def unlocked(self) -> bool:
        """Whether anybody may ask: nobody else can reach it, and no key was ever made."""
        return self.settings.loopback and self.keys.empty

    def close(self) -> None:
        """Close every space and file."""
        self.ready = False
        self.spaces.close()
        self.answers.close()
        self.keys.close()

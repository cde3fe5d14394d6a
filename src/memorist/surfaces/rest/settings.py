"""What a server is started with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from memorist.errors import InvalidInput
from memorist.opening import locate, on_server

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

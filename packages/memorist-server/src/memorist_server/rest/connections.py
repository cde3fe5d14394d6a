"""Connections: how many there may be, how long each has to send a request, and to read an answer.

Uvicorn limits only the pause between two requests. Here a connection also has a time limit for its first request and
for the head of each, and a client that does not read its answer is cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of one process; 0 means no limit."""

    connections: int
    per_address: int
    head_timeout: float
    """Seconds in which a request must arrive up to the end of its headers."""
    read_timeout: float
    """Seconds in which a client must read what was sent."""


class PatientProtocol(H11Protocol):
    """HTTP on one connection, which is closed when its client lets a time limit pass."""

    def __init__(self, limits: ConnectionLimits, **more: Any) -> None:
        super().__init__(**more)
        self._limits = limits
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as in uvicorn
        """Admit a connection, or close it if there are too many."""
        super().connection_made(transport)
        if self._crowded():
            transport.abort()
        else:
            self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._head, self._unread = _stopped(self._head), _stopped(self._unread)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request."""
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch_head()
        if self.transport.is_closing():
            self._watch_reading()

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        """The client has read enough."""
        self._unread = _stopped(self._unread)
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; at once if its last answer was never read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def _crowded(self) -> bool:
        """Whether this connection is one too many."""
        everyone = cast("set[Any]", self.connections)
        most, share = self._limits.connections, self._limits.per_address
        if most and len(everyone) > most:
            return True
        addresses = [person.client and person.client[0] for person in everyone]
        return bool(share and self.client) and addresses.count(self.client and self.client[0]) > share

    def _watch_head(self) -> None:
        """Start the clock when the next request is due, and stop it when its head is there."""
        answering = self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]  # None at first
        if answering:
            self._head = _stopped(self._head)
        elif self._head is None and self._limits.head_timeout and not self.transport.is_closing():
            self._head = self.loop.call_later(self._limits.head_timeout, self.transport.abort)

    def _watch_reading(self) -> None:
        if self._unread is None and self._limits.read_timeout:
            self._unread = self.loop.call_later(self._limits.read_timeout, self.transport.abort)


def _stopped(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def uvicorn_config(app: Callable[..., Any] | str, limits: ConnectionLimits, **more: Any) -> uvicorn.Config:
    """How Uvicorn runs an application: within these limits, without web sockets and without a log of requests."""
    protocol = cast("type[asyncio.Protocol]", partial(PatientProtocol, limits))
    return uvicorn.Config(app, http=protocol, ws="none", access_log=False, server_header=False, **more)

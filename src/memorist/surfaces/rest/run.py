"""Run the server: one process, or several workers that share the same files."""

from __future__ import annotations

import os
import socket

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from memorist.errors import InvalidInput
from memorist.surfaces.keys import KeyRing, keys_file
from memorist.surfaces.rest.app import create_app
from memorist.surfaces.rest.server import Settings
from memorist.surfaces.rest.watch import set_up

VARIABLE = "MEMORIST_SERVER"
"""Where worker processes find their settings."""
PATIENCE = 30
"""Seconds that requests under way have to end after the signal to stop."""


def serve(settings: Settings, workers: int = 1) -> None:
    """Serve until a signal to stop; then finish what is under way, and close every space."""
    check_locked(settings)
    settings.folder.mkdir(parents=True, exist_ok=True)
    set_up()
    os.environ[VARIABLE] = settings.to_text()
    config = uvicorn.Config(
        f"{__name__}:from_environment",
        factory=True,
        workers=workers,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=PATIENCE,
    )
    with listening(settings.host, settings.port) as door:
        if workers > 1:
            Multiprocess(config, sockets=[door]).run()
        else:
            uvicorn.Server(config).run(sockets=[door])


def listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections.

    It names its protocol: asyncio turns Nagle's algorithm off only where it sees TCP, and with it each answer
    would wait 40 ms for the caller's acknowledgement.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = socket.socket(family, kind, socket.IPPROTO_TCP)
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(address)
    except OSError as error:
        raise InvalidInput(
            f"Nothing can listen on {host}:{port} ({error.strerror})", remedy="Choose another --port or --host."
        ) from error
    door.set_inheritable(True)
    return door


def from_environment() -> FastAPI:
    """The application of a worker."""
    set_up()
    return create_app(Settings.from_text(os.environ[VARIABLE]))


def check_locked(settings: Settings) -> None:
    """Refuse to open a door to other machines that has no lock."""
    with KeyRing(keys_file(settings.db)) as keys:
        if not settings.loopback and keys.empty:
            raise InvalidInput(
                f"Others could reach {settings.host} without a key",
                remedy="Make one with `memorist keys create`, or serve on 127.0.0.1.",
            )

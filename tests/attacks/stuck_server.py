"""A server that hangs for good at one point of a write: `python -m tests.attacks.stuck_server POINT FOLDER ARGUMENTS`.

It hangs in the first write after the file `now` appears in the folder, and then creates the file `stuck`. It gives
running requests and its own closing a second.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memorist.stores.sqlite.connection import SqliteConnections, SqliteDatabase
from memorist.surfaces.cli import main
from memorist_server.mcp import http
from memorist_server.rest import app, threads

POINTS = ("before", "inside", "after")
_writing = SqliteConnections.writing


def hang(folder: Path) -> None:
    """Wait for ever, if this is a verb and it is time."""
    if (folder / "now").exists() and threading.current_thread().name.startswith("AnyIO"):
        (folder / "stuck").touch()
        threading.Event().wait()


def hanging(folder: Path, point: str) -> Any:
    """The method that begins a write, with one point at which it hangs."""

    @contextmanager
    def writing(self: SqliteConnections, *args: Any, **kwargs: Any) -> Generator[SqliteDatabase]:
        at = point if self.path.name == "agent.db" else ""
        if at == "before":
            hang(folder)
        with _writing(self, *args, **kwargs) as db:
            yield db
            if at == "inside":
                hang(folder)
        if at == "after":
            hang(folder)

    return writing


if __name__ == "__main__":
    point, where, *arguments = sys.argv[1:]
    SqliteConnections.writing = hanging(Path(where), point)  # type: ignore[method-assign]
    app.PATIENCE = http.GRACE = threads.CLOSING = 1
    sys.argv[1:] = arguments
    sys.exit(main())

"""The moments at which a process can die: every write to a file, every change of a folder, every statement to a server.

A process counts the moments it passes. Given a number, it kills itself at that moment; a write is then torn in half.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import apsw

FOLDER_EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "os.chmod"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class KillPoints:
    """Counts the moments of this process, and kills it at one of them."""

    def __init__(self, at: int | None = None) -> None:
        self.passed = 0
        self.folder_changes: list[int] = []
        """The moments at which a folder is about to change: few, and the most telling."""
        self._at = at

    def pass_one(self, torn: Callable[[], object] | None = None) -> None:
        """One moment more; `torn` is the half of a write that is still done."""
        self.passed += 1
        if self.passed == self._at:
            if torn is not None:
                torn()
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Count from now on, in this process and for good."""
        self._vfs = _Watched(self)
        sys.addaudithook(self._heard)

    def watch_server(self) -> None:
        """Count the statements that go to a server, before and after each."""
        import psycopg

        for kind, name in (
            (psycopg.Connection, "execute"),
            (psycopg.Cursor, "execute"),
            (psycopg.Cursor, "executemany"),
        ):
            setattr(kind, name, self._around(getattr(kind, name)))

    def _around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **options: Any) -> Any:
            self.pass_one()
            done = call(*given, **options)
            self.pass_one()
            return done

        return counted

    def _heard(self, event: str, given: tuple[Any, ...]) -> None:
        if event in FOLDER_EVENTS or (event == "open" and isinstance(given[2], int) and given[2] & WRITING):
            self.folder_changes.append(self.passed + 1)
            self.pass_one()


class _Watched(apsw.VFS):
    """SQLite's own way to the disk, made the default."""

    def __init__(self, points: KillPoints) -> None:
        self._points = points
        super().__init__("watched", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _WatchedFile(name, flags, self._points)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._points.pass_one()
        super().xDelete(filename, syncdir)


class _WatchedFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], points: KillPoints) -> None:
        self._points = points
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._points.pass_one(torn=lambda: super(_WatchedFile, self).xWrite(data[: len(data) // 2], offset))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._points.pass_one()
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._points.pass_one()
        super().xTruncate(newsize)

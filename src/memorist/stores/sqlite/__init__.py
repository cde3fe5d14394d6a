"""Memories in one SQLite file."""

from memorist.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]

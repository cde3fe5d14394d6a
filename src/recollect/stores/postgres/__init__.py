"""Memories on a PostgreSQL server, a space among others."""

from recollect.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]

"""Memories on a PostgreSQL server, a space among others."""

from memorist.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]

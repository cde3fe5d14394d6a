"""Memories on a PostgreSQL server, a space among others."""

from memorist_server.postgres.administration import Administration
from memorist_server.postgres.store import PostgresStore

__all__ = ["Administration", "PostgresStore"]

"""A pytest plugin that gives tests of LangGraph a `MemoristStore` wherever they make an InMemoryStore or SqliteStore.

Memories are opened without models, because the tests bring an embedder where they need one, and keep secrets, because
one test puts a password.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio

from memorist.integrations.langgraph import MemoristStore
from memorist_agents.integrations.langgraph.sweeping import Sweeper

os.environ |= {"MEMORIST_EMBEDDER": "none", "MEMORIST_RERANKER": "none", "MEMORIST_SECRETS": "keep"}
tempfile.tempdir = tempfile.mkdtemp(prefix="memorist-langgraph-")
atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)


class InMemoryStore(MemoristStore):
    """Made like an InMemoryStore, in a file of its own."""

    def __init__(self, *, index: Any = None) -> None:
        super().__init__(_file(":memory:"), index=index)


class SqliteStore(MemoristStore):
    """Made like a SqliteStore."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, place: str, *, index: Any = None, ttl: Any = None) -> Iterator[SqliteStore]:
        if index is not None:
            index = {**index, "fields": index.get("text_fields")}
        with cls(_file(place), index=index, ttl=ttl) as store:
            yield store

    def setup(self) -> None:
        """A memory needs none."""


class AsyncSqliteStore(SqliteStore):
    """Made like an AsyncSqliteStore, whose upkeep is awaited."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._sweeper = Sweeper(super().sweep_ttl)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, place: str, **options: Any) -> AsyncIterator[AsyncSqliteStore]:  # type: ignore[override]
        with super().from_conn_string(place, **options) as store:
            yield store  # type: ignore[misc]

    async def setup(self) -> None:  # type: ignore[override]
        """A memory needs none."""

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        return await asyncio.to_thread(super().sweep_ttl)

    async def start_ttl_sweeper(self) -> None:  # type: ignore[override]
        super().start_ttl_sweeper()

    async def stop_ttl_sweeper(self) -> bool:  # type: ignore[override]
        return await asyncio.to_thread(super().stop_ttl_sweeper)


def _file(place: str) -> Path:
    """A memory's file; one for each store in memory."""
    return Path(tempfile.mkdtemp()) / "store.db" if place == ":memory:" else Path(f"{place}.db")


langgraph.store.memory.InMemoryStore = InMemoryStore  # type: ignore[misc,assignment]
langgraph.store.sqlite.SqliteStore = SqliteStore  # type: ignore[misc,assignment]
for module in (langgraph.store.sqlite, langgraph.store.sqlite.aio):
    module.AsyncSqliteStore = AsyncSqliteStore  # type: ignore[attr-defined]

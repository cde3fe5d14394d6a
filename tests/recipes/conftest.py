from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.ports import Store
from recollect.stores.memory import MemoryStore
from recollect.stores.sqlite import SqliteStore


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each sort."""
    empty: Store = MemoryStore("test") if request.param == "memory" else SqliteStore.open(tmp_path / "agent.db")
    yield empty
    empty.close()

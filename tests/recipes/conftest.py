from __future__ import annotations

from collections.abc import Iterator

import pytest

from memorist.ports import Store
from tests.stores.kinds import STORES, OpenStore


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, open_store: OpenStore) -> Iterator[Store]:
    """An empty store of each sort."""
    empty = open_store(request.param, "agent")
    yield empty
    empty.close()

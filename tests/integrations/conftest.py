"""A memory for each test of an adapter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorist


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memorist.Engine]:
    with memorist.open(tmp_path / "agent.db", background=False) as opened:
        yield opened

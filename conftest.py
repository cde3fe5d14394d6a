"""Fixtures for the tests of all distributions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.stores.kinds import OpenStore, opener
from tests.stores.postgres_server import new_database, running

settings.register_profile("memorist", deadline=None)  # machines differ, and no test asserts a time
settings.load_profile("memorist")

ROOT = Path(__file__).parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes the settings or memories of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("MEMORIST_")]:
        monkeypatch.delenv(name)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.fixture(scope="session")
def data() -> Path:
    """Real evaluation data, where it lies beside the repository."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("no evaluation data beside the repository")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a database on a real server, shared by the tests of this process."""
    with running() as url:
        yield url


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of an empty database of this test."""
    with new_database(postgres) as url:
        yield url


@pytest.fixture
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    """Opens an empty store of a sort, `memory`, `sqlite` or `postgres`."""
    return opener(tmp_path, lambda: request.getfixturevalue("postgres"))

"""Fixtures for the tests of all distributions."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from shutil import disk_usage

import pytest
from hypothesis import settings

from tests.stores.kinds import OpenStore, opener
from tests.stores.postgres_server import new_database, running

settings.register_profile("memorist", deadline=None)  # machines differ, and no test asserts a time
settings.load_profile("memorist")

ROOT = Path(__file__).parent
NUMBERS = count()
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - each session makes a private folder there
SHARED = ROOT.parent / "shared"


def pytest_configure() -> None:
    """Spare what hundreds of processes and thousands of files cost: compiling our modules again, and a disk."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if "TMPDIR" not in os.environ and IN_MEMORY.is_dir() and disk_usage(IN_MEMORY).free > 4 * 2**30:
        os.environ["TMPDIR"] = tempfile.tempdir = str(IN_MEMORY)


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the settings or memories of whoever runs it; the folder is made by those who write."""
    own = tmp_path_factory.getbasetemp() / f"surroundings-{next(NUMBERS)}"
    for name in [name for name in os.environ if name.startswith("MEMORIST_")]:
        monkeypatch.delenv(name)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(own / name))


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

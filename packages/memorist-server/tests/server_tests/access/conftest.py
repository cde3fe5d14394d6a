from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["folder", "database"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for spaces, of each sort."""
    return f"{tmp_path}/spaces/" if request.param == "folder" else request.getfixturevalue("database")

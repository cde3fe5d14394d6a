"""Test files of a framework on their own, without the configuration of its project, which needs development tools."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.integrations.upstream import KEPT


def lone(name: str, files: Iterable[Path]) -> list[Path]:
    """Copies of test files in a fresh folder of their own."""
    folder = KEPT / f"{name}.lone"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return [Path(shutil.copy(file, folder)) for file in files]

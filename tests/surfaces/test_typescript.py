"""The TypeScript client: its own tests pass against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"


def test_the_lock_file_names_no_registry() -> None:
    assert "resolved" not in (CLIENT / "package-lock.json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="Node is not installed")
@pytest.mark.skipif(not (CLIENT / "node_modules").exists(), reason="run `make test-typescript` once")
def test_the_tests_of_the_client_pass() -> None:
    environment = {**os.environ, "MEMORIST_PYTHON": sys.executable}
    ran = subprocess.run(["npm", "test"], cwd=CLIENT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr

"""Every target of the Makefile sets itself up in a fresh clone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.wheels import PROJECTS

ROOT = Path(__file__).parents[2]
TRIED = ("docs", "demo", "size", "wheels", "changelog-draft")
ELSEWHERE = ("test-browser", "test-integrations", "test-typescript")
"""Targets with a set-up of their own, for Chromium, frameworks or Node; a job runs each."""


def made(folder: Path, *words: str) -> str:
    """What `make` prints there, without the settings of whoever runs this test."""
    own = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "PYTHON", "VIRTUAL_ENV"))}
    ran = subprocess.run(
        ["make", *words], cwd=folder, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert ran.returncode == 0, f"make {' '.join(words)}: {ran.stdout[-3000:]}"
    return ran.stdout


def installs(folder: Path, target: str) -> set[str]:
    """What a target would install."""
    return set(re.findall(r"pip install (.*)", made(folder, "--dry-run", target)))


def test_a_target_installs_what_a_tried_target_installs(tmp_path: Path) -> None:
    for file in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")):
        (tmp_path / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    targets = re.findall(r"^([a-z][\w-]*):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*TRIED, *ELSEWHERE} <= set(targets)
    tried = {line for target in TRIED for line in installs(tmp_path, target)}
    assert tried
    for target in set(targets) - {*TRIED, *ELSEWHERE}:
        assert installs(tmp_path, target) <= tried, target


@pytest.mark.slow
def test_the_targets_run_in_a_fresh_clone(clone: Path) -> None:
    for target in TRIED:
        made(clone, target)
    assert (clone / "build/site/index.html").is_file() and len(list((clone / "dist").glob("*.whl"))) == len(PROJECTS)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", tmp_path / "clone"], check=True)
    return tmp_path / "clone"

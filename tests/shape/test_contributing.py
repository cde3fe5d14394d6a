"""The walks of CONTRIBUTING.md work: each is applied to a copy of the tree, and its own commands are run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALKS = dict(re.findall(r"^### (Add an? .+?)\n(.*?)(?=^##)", GUIDE, re.MULTILINE | re.DOTALL))
BLOCK = re.compile(r"^```(\w+)(?: title=\"(.+?)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = (
    *("src", "packages", "tests", "docs", "tools", "benchmarks", "clients"),
    *("conftest.py", "pyproject.toml", "README.md"),
)
SHAPE = "tests/shape/test_public_names.py tests/shape/test_imports.py tests/shape/test_cycles.py"
"""What a reviewer would run besides the commands of a walk; the whole suite takes minutes."""


ONE_DISTRIBUTION = {"Add a stage": "", "Add an importer": "packages/memorist-import/"}
"""Walks that change a single distribution, and its folder."""


@pytest.mark.parametrize("walk", ONE_DISTRIBUTION)
def test_a_walk_touches_one_distribution(walk: str) -> None:
    titles = [title for _, title, _ in BLOCK.findall(WALKS[walk]) if title]
    assert {re.sub(r"^(packages/[^/]+/)?.*", r"\1", title) for title in titles} == {ONE_DISTRIBUTION[walk]}


def test_there_are_three_walks() -> None:
    assert list(WALKS) == ["Add a stage", "Add an importer", "Add a field"]


def apply(tree: Path, language: str, title: str, text: str) -> Path:
    """Change a file of the tree as a block says; a diff must fit in exactly one place."""
    path = tree / title
    if language == "diff":
        lines = [(line[:1], line[1:]) for line in text.splitlines(keepends=True)]
        before = "".join(rest for sign, rest in lines if sign != "+").removesuffix("\n")
        after = "".join(rest for sign, rest in lines if sign != "-").removesuffix("\n")
        known = path.read_text(encoding="utf-8")
        assert known.count(before) == 1, f"{title} has this {known.count(before)} times:\n{before}"
        text = known.replace(before, after)
    elif path.exists():
        text = f"{path.read_text(encoding='utf-8').rstrip()}\n\n\n{text}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS)
def test_a_newcomer_can_follow_the_walk(walk: str, tmp_path: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        leave_out = shutil.ignore_patterns("__pycache__", "*.db", "node_modules", "memorist-models*")
        shutil.copytree(source, tmp_path / name, ignore=leave_out) if source.is_dir() else shutil.copy(source, tmp_path)
    changed, commands = list[Path](), list[str]()
    for language, title, text in BLOCK.findall(WALKS[walk]):
        if language == "sh":
            commands += text.splitlines()
        else:
            changed.append(apply(tmp_path, language, title, text))
    paths = [tmp_path, tmp_path / "src", *tmp_path.glob("packages/*/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    files = " ".join(map(str, changed))
    lint = [f".venv/bin/python -m ruff {how} {files}" for how in ("check", "format --check")]
    review = [".venv/bin/python docs/generate.py --check", f".venv/bin/python -m pytest -q {SHAPE}"]
    for command in (*lint, *commands, *review):
        ran = subprocess.run(
            command.replace(".venv/bin/python", sys.executable),
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout[-3000:]}{ran.stderr[-2000:]}"
    assert len(commands) >= 2

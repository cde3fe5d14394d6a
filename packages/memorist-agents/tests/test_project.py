"""Which project a folder belongs to: stable, shared by work trees, and nothing that a folder could choose."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memorist.project import FOLDERS, project_of, scope_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FOLDERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
    return folder


def test_all_folders_of_a_repository_are_one_project(tmp_path: Path) -> None:
    mill = repository(tmp_path / "a mill")
    (mill / "src" / "deep").mkdir(parents=True)
    assert project_of(str(mill / "src" / "deep")) == project_of(str(mill)) == mill
    scope = scope_of(mill)
    assert scope.startswith("project:a-mill-") and scope != scope_of(repository(tmp_path / "x" / "a mill"))


def test_further_work_trees_share_the_memories_of_the_first(tmp_path: Path) -> None:
    mill = repository(tmp_path / "mill")
    subprocess.run(["git", "-C", str(mill), "worktree", "add", "-q", str(tmp_path / "fix")], check=True)
    assert (tmp_path / "fix" / ".git").is_file()
    assert project_of(str(tmp_path / "fix")) == mill


def test_a_folder_cannot_pass_for_a_work_tree_of_another_project(tmp_path: Path) -> None:
    """Otherwise an archive from the internet could read the memories of a project that it names."""
    mill = repository(tmp_path / "mill")
    subprocess.run(["git", "-C", str(mill), "worktree", "add", "-q", str(tmp_path / "fix")], check=True)
    evil = tmp_path / "evil"
    evil.mkdir()
    for inner in ("worktrees/fix", "worktrees/none", ".", "x" * 5000, "\0"):
        (evil / ".git").write_text(f"gitdir: {mill}/.git/{inner}\n")
        assert project_of(str(evil)) == evil


def test_a_folder_without_a_repository_is_a_project_but_home_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    assert project_of(str(tmp_path / "notes")) == tmp_path / "notes"
    for folder in (str(tmp_path), "/", str(tmp_path / "gone"), "\0"):
        assert scope_of(project_of(folder)) == "global"
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "notes"))
    assert project_of(str(tmp_path)) == tmp_path / "notes"

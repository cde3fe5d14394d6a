"""Commands that add nothing refuse a memory that does not exist, create nothing, and name the one that was meant."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import memorist
from memorist.surfaces.cli.app import all_commands
from tests.surfaces.conftest import Cli

READING = [
    *(["recall", "tea"], ["why-not", "tea", "abcd"], ["show", "abcd"], ["list"], ["pinned"], ["history", "abcd"]),
    *(["entities"], ["neighbours", "Ann"], ["journal"], ["stats"], ["inspect", "--no-open"], ["export", "-"]),
    *(["backup", "copy.db"], ["audit"], ["tidy"], ["consolidate"], ["reembed"], ["tune"], ["session", "list"]),
    *(["sleep"], ["wake-up"], ["session", "discard", "s"]),
    *(["session", "recall", "s", "tea"], ["session", "step", "s", "It rains."], ["session", "commit", "s"]),
    *(["update", "abcd", "Tea."], ["feedback", "abcd", "useful"], ["pin", "abcd"], ["unpin", "abcd"]),
    *(["invalidate", "abcd"], ["undo", "abcd"], ["forget", "abcd", "--yes"]),
]
BEGINNING = {"remember", "ingest", "relate", "session start", "import", "sync", "mcp", "restore"}
"""Commands that bring memories, and may begin a new one."""
OWN = {"demo", "move", "serve", "keys create", "keys list", "keys revoke", "recipes", "bench", "doctor", "trust"}
"""Commands that open no memory of --db, or say that there is none."""
AGENTS = {"hook", "install", "uninstall"}
"""Commands for the hooks of coding agents, which are silent where there is no memory."""


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_missing_file_is_refused_and_not_created(cli: Cli, db: Path, tmp_path: Path, words: list[str]) -> None:
    before = files(tmp_path)
    ran = cli(*words)
    assert ran.status == 1 and ran.problem.startswith(f"There is no memory at {db}."), ran
    assert "`memorist remember` begins a new one" in ran.problem
    assert files(tmp_path) == before


@pytest.mark.parametrize("verb", ["ingest", "import"])
def test_no_memory_is_made_for_a_file_that_is_missing(cli: Cli, tmp_path: Path, verb: str) -> None:
    before = files(tmp_path)
    ran = cli(verb, "nowhere.md")
    assert ran.status == 1 and ran.problem.startswith("There is no file nowhere.md."), ran
    assert files(tmp_path) == before


def test_every_other_command_brings_memories_or_opens_none() -> None:
    commands = {name for name in all_commands()[1] if not name.startswith(("db ", "mcp "))}
    checked = {name for name in commands for words in READING if " ".join(words).startswith(name)}
    assert commands - checked == BEGINNING | OWN | AGENTS


def test_the_nearest_memory_is_named_and_no_other_file(cli: Cli, bare: Cli, db: Path, tmp_path: Path) -> None:
    cli("remember", "Tea at five.")
    (tmp_path / "typos.db").write_text("notes", encoding="utf-8")
    with sqlite3.connect(tmp_path / "typo2.db") as other:
        other.execute("CREATE TABLE t (a)")
    for name in ("typo.db", "agnt.db", "agent"):
        problem = bare("--db", str(tmp_path / name), "recall", "tea").problem
        assert f"Did you mean {db}?" in problem, problem
    (tmp_path / "agend.db").write_bytes(db.read_bytes())
    assert f"Did you mean {tmp_path / 'agend.db'}?" in bare("--db", str(tmp_path / "agenda.db"), "list").problem


@pytest.mark.parametrize("how", ["environment", "settings", "space"])
def test_it_is_refused_however_it_was_chosen(bare: Cli, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    option = list[str]()
    if how == "environment":
        monkeypatch.setenv("MEMORIST_DB", "typo.db")
    elif how == "settings":
        Path("memorist.toml").write_text('db = "typo.db"\n', encoding="utf-8")
    else:
        option = ["--db", "spaces/", "--space", "typo"]
    before = files(Path.cwd())
    assert "typo.db" in bare(*option, "recall", "tea").problem
    assert files(Path.cwd()) == before


def test_a_missing_folder_is_not_inspected(bare: Cli) -> None:
    Path("memories").mkdir()
    assert "no memory at memoires" in bare("inspect", "memoires/", "--no-open").problem
    assert not Path("memoires").exists()


def test_a_new_user_is_told_the_first_step(bare: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for words in (["recall", "Who am I?"], ["list"], ["stats"], ["inspect", "--no-open"]):
        ran = bare("--embedder", "none", *words)
        assert ran.status == 1
        assert ran.problem == "Nothing is remembered yet. Store the first memory with `memorist remember`."
    assert not (tmp_path / "data").exists()
    assert bare("--embedder", "none", "remember", "Tea at five.").status == 0
    assert bare("--embedder", "none", "list").status == 0


def test_python_creates_what_it_opens(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "new.db", embedder="none", config={}) as engine:
        assert engine.stats().memories == 0

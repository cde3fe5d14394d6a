"""Entering the server into the settings of clients: merged, copied, repeated without effect."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from memorist.surfaces.mcp.install import CLIENTS
from tests.surfaces.conftest import Cli

LINUX = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}
MACOS = LINUX | {
    "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
}
WINDOWS = LINUX | {
    "claude-desktop": "Roaming/Claude/claude_desktop_config.json",
    "vscode": "Roaming/Code/User/mcp.json",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr(Path, "home", lambda: folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("APPDATA", str(folder / "Roaming"))
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


def settings(home: Path, client: str) -> dict[str, Any]:
    return json.loads((home / LINUX[client]).read_text())


@pytest.mark.parametrize(("platform", "files"), [("linux", LINUX), ("darwin", MACOS), ("win32", WINDOWS)])
def test_each_client_has_its_file_on_each_platform(
    home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, files: dict[str, str]
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert {name: client.file() for name, client in CLIENTS.items()} == {n: home / f for n, f in files.items()}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_starts_this_server_on_this_memory(cli: Cli, db: Path, home: Path, client: str) -> None:
    done = cli("mcp", "install", client, "--json").data
    [(word, servers)] = settings(home, client).items()
    assert word == ("servers" if client == "vscode" else "mcpServers")
    entry = servers["memorist"]
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "memorist", "--db", str(db), "--embedder", "none", "mcp"]
    assert entry.get("type", "stdio") == "stdio"
    assert done == {"file": str(home / LINUX[client]), "entry": entry, "written": True, "backup": None}


def test_an_entry_names_the_set_of_models(bare: Cli, db: Path, home: Path) -> None:
    bare("--db", str(db), "--models", "best", "mcp", "install", "cursor")
    entry = settings(home, "cursor")["mcpServers"]["memorist"]
    assert entry["args"] == ["-m", "memorist", "--db", str(db), "--models", "best", "mcp"]


def test_what_was_there_stays_and_is_copied_and_twice_changes_nothing(cli: Cli, home: Path) -> None:
    file = home / ".claude.json"
    before = {"theme": "dunkel ☾", "mcpServers": {"other": {"command": "x"}}, "last": [1]}
    file.write_text(json.dumps(before), encoding="utf-8")
    file.chmod(0o600)
    copy = Path(cli("mcp", "install", "claude-code", "--json").data["backup"])
    assert json.loads(copy.read_text(encoding="utf-8")) == before
    now = settings(home, "claude-code")
    assert list(now) == list(before) and now["mcpServers"].keys() == {"other", "memorist"}
    assert (now["theme"], now["last"]) == (before["theme"], before["last"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text(encoding="utf-8")
    again = cli("mcp", "install", "claude-code", "--json").data
    assert (again["written"], again["backup"]) == (False, None)
    assert file.read_text(encoding="utf-8") == text
    assert sorted(one.name for one in home.iterdir()) == [".claude.json", ".claude.json.bak"]


def test_an_older_copy_is_never_overwritten(cli: Cli, home: Path) -> None:
    file = home / ".claude.json"
    file.write_text("{}")
    for name in ("one", "two", "three"):
        cli("mcp", "install", "claude-code", "--name", name)
    copies = [json.loads((home / f".claude.json.bak{n}").read_text()) for n in ("", "1", "2")]
    assert [list(copy.get("mcpServers", {})) for copy in copies] == [[], ["one"], ["one", "two"]]


@pytest.mark.parametrize("broken", ['{"mcpServers": {},}', "// mine\n{}", "[]", '{"mcpServers": []}', "\xff"])
def test_settings_that_cannot_be_read_are_left_alone(cli: Cli, home: Path, broken: str) -> None:
    file = home / ".claude.json"
    file.write_text(broken, encoding="latin-1")
    ran = cli("mcp", "install", "claude-code")
    assert ran.status == 1
    assert ran.problem.startswith(f"{file} is not plain JSON and was not changed")
    assert file.read_text(encoding="latin-1") == broken
    assert cli("mcp", "install", "claude-code", "--dry-run").status == 0


def test_an_empty_file_is_filled(cli: Cli, home: Path) -> None:
    (home / ".claude.json").write_text("\n")
    assert cli("mcp", "install", "claude-code").status == 0
    assert "memorist" in settings(home, "claude-code")["mcpServers"]


def test_a_link_stays_a_link(cli: Cli, home: Path) -> None:
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "claude.json"
    real.write_text("{}")
    (home / ".claude.json").symlink_to(real)
    assert cli("mcp", "install", "claude-code").status == 0
    assert (home / ".claude.json").is_symlink()
    assert "memorist" in json.loads(real.read_text())["mcpServers"]


def test_a_dry_run_prints_and_writes_nothing(cli: Cli, home: Path) -> None:
    shown = cli("mcp", "install", "vscode", "--dry-run")
    assert json.loads(shown.out[shown.out.index("{") :])["servers"]["memorist"]["type"] == "stdio"
    assert cli("mcp", "install", "vscode", "--dry-run", "--json").data["written"] is False
    assert list(home.iterdir()) == []


def test_an_unknown_client_is_named_with_those_that_are_known(cli: Cli) -> None:
    assert cli("mcp", "install", "emacs").problem == (
        "There is no client 'emacs'. Choose one of claude-code, claude-desktop, cursor, vscode."
    )


def test_the_folder_of_the_settings_file_is_kept(bare: Cli, home: Path) -> None:
    Path("memorist.toml").write_text('db = "mine.db"\nspace = "ann"\n', encoding="utf-8")
    assert bare("mcp", "install", "cursor").status == 0
    arguments = settings(home, "cursor")["mcpServers"]["memorist"]["args"]
    assert arguments == ["-m", "memorist", "--db", str(Path.cwd() / "mine.db"), "--space", "ann", "mcp"]

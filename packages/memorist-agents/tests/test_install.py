"""Entering the memory into the settings of clients: merged, copied, repeated without effect, and taken out again."""

from __future__ import annotations

import json
import re
import shlex
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memorist_agents import edit_json
from memorist_agents.clients import CLIENTS, EVENTS, is_hook_command
from tests.surfaces.conftest import Cli

LINUX = {
    "claude-code": [".claude.json", ".claude/settings.json"],
    "codex": [".codex/config.toml", ".codex/hooks.json"],
    "cursor": [".cursor/mcp.json", ".cursor/hooks.json"],
    "gemini": [".gemini/settings.json"],
    "windsurf": [".codeium/windsurf/mcp_config.json", ".codeium/windsurf/hooks.json"],
    "zed": [".config/zed/settings.json"],
    "vscode": [".config/Code/User/mcp.json"],
    "claude-desktop": [".config/Claude/claude_desktop_config.json"],
}
MACOS = LINUX | {
    "claude-desktop": ["Library/Application Support/Claude/claude_desktop_config.json"],
    "vscode": ["Library/Application Support/Code/User/mcp.json"],
}
WINDOWS = LINUX | {
    "claude-desktop": ["Roaming/Claude/claude_desktop_config.json"],
    "vscode": ["Roaming/Code/User/mcp.json"],
    "zed": ["Roaming/Zed/settings.json"],
}
PROJECT = {
    "claude-code": [".mcp.json", ".claude/settings.local.json"],
    "codex": [".codex/config.toml", ".codex/hooks.json"],
    "cursor": [".cursor/mcp.json", ".cursor/hooks.json"],
    "gemini": [".gemini/settings.json"],
    "zed": [".zed/settings.json"],
    "vscode": [".vscode/mcp.json"],
}
SERVERS = {"codex": "mcp_servers", "zed": "context_servers", "vscode": "servers"}
NATIVE = {
    "claude-code": ["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "Stop", "PreCompact"],
    "codex": ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact"],
    "cursor": ["sessionStart", "postToolUseFailure", "stop", "preCompact"],
    "gemini": ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress"],
    "windsurf": ["post_cascade_response_with_transcript"],
}
BEFORE = {
    ".json": """// My settings
{
  "theme": "dunkel ☾", /* as always */
  "mcpServers": {"other": {"command": "x"}},
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]},
    ],
  },
  "last": [1, 2.50],
}
""",
    ".toml": """# My settings
model = "gpt-5"   # the large one
[mcp_servers.other]
command = 'x'

[mcp_servers."a.b".env]
K = "[mcp_servers.memorist]"
""",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr(Path, "home", lambda: folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("APPDATA", str(folder / "Roaming"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


def settings(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    return tomllib.loads(text) if file.suffix == ".toml" else edit_json.parsed(text).value


def commands(data: Any) -> list[str]:
    """Every command of a hook in some settings."""
    if isinstance(data, dict):
        return [data["command"]] if isinstance(data.get("command"), str) else commands(list(data.values()))
    return [command for inner in data for command in commands(inner)] if isinstance(data, list) else []


@pytest.mark.parametrize(("platform", "files"), [("linux", LINUX), ("darwin", MACOS), ("win32", WINDOWS)])
def test_each_client_has_its_files_on_each_platform(
    home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, files: dict[str, list[str]]
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name, client in CLIENTS.items():
        found = dict.fromkeys([client.user(), *([client.hooks.user()] if client.hooks else [])])
        assert list(found) == [home / file for file in files[name]]


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_starts_this_server_on_this_memory(cli: Cli, db: Path, home: Path, client: str) -> None:
    done = cli("install", client, "--json").data
    assert [change["file"] for change in done] == [str(home / file) for file in LINUX[client]]
    assert all(change["written"] and change["backup"] is None for change in done)
    entry = settings(home / LINUX[client][0])[SERVERS.get(client, "mcpServers")]["memorist"]
    project = [] if client in ("windsurf", "claude-desktop") else ["--project"]
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-P", "-m", "memorist", "--db", str(db), "--embedder", "none", "mcp", *project]
    assert entry.get("type", "stdio") == "stdio"


@pytest.mark.parametrize("client", NATIVE)
def test_each_event_that_a_client_has_calls_its_hook(cli: Cli, db: Path, home: Path, client: str) -> None:
    cli("install", client)
    file = settings(home / LINUX[client][-1])
    assert list(file["hooks"]) == NATIVE[client]
    assert file.get("version") == (1 if client == "cursor" else None)
    ran = [shlex.split(command) for command in commands(file["hooks"])]
    start = [sys.executable, "-P", "-m", "memorist", "--db", str(db), "--embedder", "none", "hook"]
    assert all(command[:9] == start and command[10:] == ["--client", client] for command in ran)
    assert {command[9] for command in ran} <= {*EVENTS} and all(map(is_hook_command, commands(file["hooks"])))


def test_hooks_can_be_left_out(cli: Cli, home: Path) -> None:
    done = cli("install", "gemini", "--no-hooks", "--json").data
    assert list(done[0]["settings"]) == ["mcpServers"]
    assert "hooks" not in settings(home / ".gemini/settings.json")


@pytest.mark.parametrize("client", PROJECT)
def test_a_project_gets_files_of_its_own(cli: Cli, home: Path, client: str) -> None:
    cli("install", client, "--project")
    here = sorted(str(file.relative_to(Path.cwd())) for file in Path.cwd().rglob("*") if file.is_file())
    assert here == sorted(PROJECT[client])
    assert [path for path in home.rglob("*") if path.is_file() and path.name != "installed.json"] == []
    assert cli("uninstall", client, "--project").status == 0
    assert [*Path.cwd().rglob("*")] == []


@pytest.mark.parametrize("client", ["windsurf", "claude-desktop"])
def test_a_client_without_files_for_a_project_says_so(cli: Cli, client: str) -> None:
    title = CLIENTS[client].title
    assert cli("install", client, "--project").problem == (
        f"{title} has no settings file for one project. Leave --project out."
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_what_was_there_stays_and_is_copied_and_uninstalling_restores_every_byte(
    cli: Cli, home: Path, client: str
) -> None:
    files = [home / file for file in LINUX[client]]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(BEFORE[file.suffix], encoding="utf-8", newline="")
        file.chmod(0o640)
    done = cli("install", client, "--json").data
    for file, change in zip(files, done, strict=True):
        before, after = BEFORE[file.suffix], file.read_text(encoding="utf-8")
        assert Path(change["backup"]).read_text(encoding="utf-8") == before
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        rest = iter(after)
        assert all(sign in rest for sign in before), "text was added, and none was changed"
        assert "memorist" in str(settings(file))
    texts = [file.read_bytes() for file in files]
    again = cli("install", client, "--json").data
    assert not any(change["written"] or change["backup"] for change in again)
    assert [file.read_bytes() for file in files] == texts
    assert all(change["written"] for change in cli("uninstall", client, "--json").data)
    assert [file.read_text(encoding="utf-8") for file in files] == [BEFORE[file.suffix] for file in files]
    assert cli("uninstall", client).out.startswith(f"{CLIENTS[client].title} has no entry")


@pytest.mark.parametrize("client", CLIENTS)
def test_files_that_we_made_are_removed(cli: Cli, home: Path, client: str) -> None:
    cli("install", client)
    cli("uninstall", client)
    assert [*home.rglob("*")] == []


def test_a_file_that_the_client_wrote_again_loses_our_entries_alone(cli: Cli, home: Path) -> None:
    """Clients rewrite their own files, and users add to them."""
    cli("install", "gemini")
    file = home / ".gemini/settings.json"
    data = settings(file)
    data["theme"] = "dark"
    data["hooks"]["SessionStart"].append({"hooks": [{"type": "command", "command": "echo hook session-start"}]})
    file.write_text(json.dumps(data), encoding="utf-8")
    assert not cli("install", "gemini", "--json").data[0]["written"]  # the entries are there, written in another way
    data["hooks"]["AfterAgent"][0]["hooks"].append({"type": "command", "command": "say done"})
    file.write_text(json.dumps(data), encoding="utf-8")
    cli("uninstall", "gemini")
    assert settings(file) == {
        "hooks": {
            "SessionStart": [{"hooks": [{"type": "command", "command": "echo hook session-start"}]}],
            "AfterAgent": [{"hooks": [{"type": "command", "command": "say done"}]}],
        },
        "theme": "dark",
    }


def test_a_table_of_codex_that_was_edited_is_removed_alone(cli: Cli, home: Path) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text(BEFORE[".toml"], encoding="utf-8")
    cli("install", "codex")
    file.write_text(file.read_text() + "startup_timeout_sec = 20\n\n[later]\nx = [\n  1,\n]\n", encoding="utf-8")
    cli("uninstall", "codex")
    assert file.read_text() == BEFORE[".toml"] + "[later]\nx = [\n  1,\n]\n"


def test_another_memory_replaces_the_entry_and_uninstalling_still_restores(bare: Cli, home: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {}}')
    for db in ("one.db", "two.db"):
        assert bare("--db", db, "install", "cursor").status == 0
    entry = settings(file)["mcpServers"]["memorist"]
    assert str(Path.cwd() / "two.db") in entry["args"]
    assert len(commands(settings(home / ".cursor/hooks.json")["hooks"])) == len(NATIVE["cursor"])
    bare("uninstall", "cursor")
    assert file.read_text() == '{"mcpServers": {}}'


def test_an_older_copy_is_never_overwritten(cli: Cli, home: Path) -> None:
    file = home / ".claude.json"
    file.write_text("{}")
    for name in ("one", "two", "three"):
        cli("install", "claude-code", "--no-hooks", "--name", name)
    kept = [json.loads(copy.read_text()) for copy in (home / ".config/memorist/installed").iterdir()]
    assert sorted(len(copy.get("mcpServers", {})) for copy in kept) == [0, 1, 2]
    cli("uninstall", "claude-code", "--name", "two")
    assert list(settings(file)["mcpServers"]) == ["one", "three"]


@pytest.mark.parametrize(
    "broken", ['{"mcpServers": {}', "{'a': 1}", "[]", '{"mcpServers": []}', "\xff", "{,}", "[" * 5000]
)
def test_settings_that_cannot_be_read_are_left_alone(cli: Cli, home: Path, broken: str) -> None:
    file = home / ".claude.json"
    file.write_text(broken, encoding="latin-1")
    ran = cli("install", "claude-code")
    assert ran.status == 1
    assert ran.problem.startswith(f"{file} cannot be read as JSON and was not changed")
    assert file.read_text(encoding="latin-1") == broken
    assert not (home / ".claude").exists()  # not even the other file was written


@pytest.mark.parametrize("broken", ["a = ", "mcp_servers = 3", "mcp_servers = {}", "[[mcp_servers]]"])
def test_a_toml_file_that_cannot_take_a_table_is_left_alone(cli: Cli, home: Path, broken: str) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text(broken)
    assert cli("install", "codex").problem.startswith(f"{file} cannot be read as TOML and was not changed")
    assert file.read_text() == broken


def test_an_empty_file_is_filled(cli: Cli, home: Path) -> None:
    (home / ".claude.json").write_text("\n")
    assert cli("install", "claude-code").status == 0
    assert "memorist" in settings(home / ".claude.json")["mcpServers"]


def test_a_link_stays_a_link(cli: Cli, home: Path) -> None:
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "claude.json"
    real.write_text("{}")
    (home / ".claude.json").symlink_to(real)
    assert cli("install", "claude-code").status == 0
    assert (home / ".claude.json").is_symlink()
    assert "memorist" in json.loads(real.read_text())["mcpServers"]
    cli("uninstall", "claude-code")
    assert (home / ".claude.json").is_symlink() and real.read_text() == "{}"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dry_run_prints_and_writes_nothing(cli: Cli, home: Path, client: str) -> None:
    shown = cli("install", client, "--dry-run")
    assert "would change." in shown.out and "+" in shown.out and "memorist" in shown.out
    assert not any(change["written"] for change in cli("install", client, "--dry-run", "--json").data)
    assert list(home.iterdir()) == []
    cli("install", client)
    before = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    assert "Would be removed from" in cli("uninstall", client, "--dry-run").out
    assert {file: file.read_bytes() for file in home.rglob("*") if file.is_file()} == before


def test_nothing_is_written_if_the_server_could_not_start(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorist_server.mcp.find_spec", lambda _: None)
    assert "pip install 'memorist[mcp]'" in cli("install", "claude-code").problem
    assert list(home.iterdir()) == []


def test_an_unknown_client_is_named_with_those_that_are_known(cli: Cli) -> None:
    known = "claude-code, codex, cursor, gemini, windsurf, zed, vscode, claude-desktop"
    for verb in ("install", "uninstall"):
        assert cli(verb, "emacs").problem == f"There is no client 'emacs'. Choose one of {known}."


def test_the_memory_is_named_so_that_no_project_chooses_another(bare: Cli, home: Path) -> None:
    """A folder may bring a settings file with a database of its author; the options in an entry win over it."""
    assert bare("install", "cursor").status == 0
    arguments = settings(home / ".cursor/mcp.json")["mcpServers"]["memorist"]["args"]
    assert arguments[3] == "--db" and arguments[5:7] == ["--space", "default"]
    Path("memorist.toml").write_text('db = "mine.db"\nspace = "ann"\n', encoding="utf-8")
    assert bare("install", "cursor", "--name", "here").status == 0
    arguments = settings(home / ".cursor/mcp.json")["mcpServers"]["here"]["args"]
    assert arguments[3:] == ["--db", str(Path.cwd() / "mine.db"), "--space", "ann", "mcp", "--project"]


def test_a_damaged_record_is_no_obstacle(cli: Cli, home: Path) -> None:
    cli("install", "cursor")
    record = home / ".config/memorist/installed.json"
    (id,) = list(json.loads(record.read_text()))[:1]
    notes = [{"before": 5, "after": [1]}, {"before": None, "after": None, "copy": {}}, {"before": "../x", "after": "y"}]
    made = [{"before": None, "after": "x", "made": made} for made in (3, [1], {"a": 1}, [None], "no")]
    for text in ("{", "[1]", '{"x": 1, "y": {"after": 1}}', *(json.dumps({id: note}) for note in (*notes, *made))):
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(text)
        assert cli("uninstall", "cursor").status == 0
        assert "memorist" not in str(settings(home / ".cursor/mcp.json"))
        assert cli("install", "cursor").status == 0


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("client", CLIENTS)
def test_uninstalling_leaves_nothing_of_ours_behind(bare: Cli, home: Path, client: str) -> None:
    """Not after several installs, and not if the user has changed the file since; what is theirs stays."""
    for file in LINUX[client]:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(BEFORE[Path(file).suffix], encoding="utf-8")
        (home / f"{file}.bak").write_text("mine")
    before = everything(home)
    for db in ("one.db", "two.db"):
        bare("--db", db, "install", client)
    bare("uninstall", client)
    assert everything(home) == before
    bare("install", client)
    for file in LINUX[client]:
        with (home / file).open("a", encoding="utf-8") as opened:
            opened.write("# mine\n" if file.endswith(".toml") else "// mine\n")
    bare("uninstall", client)
    assert everything(home).keys() == before.keys()
    for file in LINUX[client]:
        version = {"version": 1} if client == "cursor" and "hooks" in file else {}  # their own hooks need it too
        assert settings(home / file) == _parsed(BEFORE[Path(file).suffix], file) | version


def _parsed(text: str, file: str) -> Any:
    return tomllib.loads(text) if file.endswith(".toml") else edit_json.parsed(text).value


def test_a_copy_of_an_earlier_version_is_removed_if_it_is_still_ours(cli: Cli, home: Path) -> None:
    file, copy = home / ".claude.json", home / ".claude.json.bak"
    file.write_text("{}")
    cli("install", "claude-code", "--no-hooks")
    record = home / ".config/memorist/installed.json"
    noted = json.loads(record.read_text())
    record.write_text(json.dumps({id: {**one, "copy": str(copy)} for id, one in noted.items()}))
    for text in ("{}", "mine"):
        copy.write_text(text)
        cli("uninstall", "claude-code")
        assert copy.exists() == (text == "mine")
        cli("install", "claude-code", "--no-hooks")


def patched(old: list[str], diff: list[str]) -> list[str]:
    """Lines after a unified diff."""
    new, place = list[str](), 0
    assert [line[:4] for line in diff[:2]] == ["--- ", "+++ "]
    for line in diff[2:]:
        if found := re.match(r"@@ -(\d+)", line):
            new += old[place : int(found[1]) - 1]
            place = int(found[1]) - 1
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[place] == line[1:]
            new += [line[1:]] if line[0] == " " else []
            place += 1
    return new + old[place:]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dry_run_shows_a_diff_in_the_format_of_the_file(cli: Cli, home: Path, client: str) -> None:
    """What it shows is what `install` writes, line by line."""
    for file in LINUX[client]:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(BEFORE[Path(file).suffix], encoding="utf-8")
    shown = cli("install", client, "--dry-run").out
    planned = [change["diff"].splitlines() for change in cli("install", client, "--dry-run", "--json").data]
    assert all(line in shown for lines in planned for line in lines)
    cli("install", client)
    for file, lines in zip(LINUX[client], planned, strict=True):
        old, new = BEFORE[Path(file).suffix].splitlines(), (home / file).read_text(encoding="utf-8").splitlines()
        assert patched(old, lines) == new
        assert any(line == "+[mcp_servers.memorist]" for line in lines) or not file.endswith(".toml")


SECRET_SETTINGS = """{
  "apiKey": "sesame-opens-1",
  "mcpServers": {
    "other": {"args": ["--token", "sesame-opens-2"], "env": {"DB_PASSWORD": "sesame-opens-3"}, "url": "https://u:sesame-opens-4@x.org"}
  }
}
"""


@pytest.mark.parametrize("text", [SECRET_SETTINGS, SECRET_SETTINGS.replace("\n", "")])
def test_a_dry_run_prints_no_secret_of_the_file(cli: Cli, home: Path, text: str) -> None:
    (home / ".claude.json").write_text(text)
    for words in (("install", "--dry-run"), ("install",), ("uninstall", "--dry-run")):
        for more in ((), ("--json",)):
            shown = cli(words[0], "claude-code", *words[1:], *more)
            assert "sesame" not in shown.out and shown.status == 0
    assert "sesame-opens-3" in (home / ".claude.json").read_text()


def test_a_large_file_is_compared_in_bounded_time(cli: Cli, home: Path) -> None:
    lines = [f'"{number}": {{' + "\n}," for number in range(30_000)]
    (home / ".claude.json").write_text('{"mcpServers": {},\n' + "\n".join(lines) + '\n"last": 1}')
    assert '+    "memorist": {' in cli("install", "claude-code", "--dry-run").out

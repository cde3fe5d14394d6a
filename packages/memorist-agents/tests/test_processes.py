"""Hooks as clients run them, as processes in a fresh home: they answer, or say nothing and leave with status 0."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_samples import claude_code, claude_transcript, failed, write_transcript
from memorist.surfaces.cli import guard

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "mill" / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    """Runs a command line in the project, with nothing from this user's surroundings."""

    def call(*words: str, given: Any = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
        content = given if isinstance(given, bytes) else json.dumps(given).encode()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], **more.pop("env", {})}
        options = {"cwd": home / "mill", "env": environment, "capture_output": True, "timeout": 60, **more}
        return subprocess.run([sys.executable, "-W", "error", "-P", "-m", "memorist", *words], input=content, **options)

    return call


def log_of(home: Path) -> str:
    file = home / ".local/state/memorist/hooks.log"
    return file.read_text() if file.exists() else ""


@pytest.mark.slow
def test_a_session_from_its_start_to_its_compaction(run: Run, home: Path) -> None:
    """`install` writes the commands; a client would run exactly these."""
    project = home / "mill"
    assert run("--embedder", "none", "install", "claude-code").returncode == 0
    written = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    command = {name: shlex.split(groups[0]["hooks"][0]["command"]) for name, groups in written.items()}
    write_transcript(home / "transcript.jsonl", claude_transcript())

    def fire(name: str, payload: Any) -> str:
        ran = run(*command[name][command[name].index("memorist") + 1 :], given=payload)
        assert (ran.returncode, ran.stderr, log_of(home)) == (0, b"", "")
        return ran.stdout.decode()

    assert fire("SessionStart", claude_code("SessionStart", project, source="startup")) == ""
    assert fire("PostToolUseFailure", failed(project)) == ""
    assert fire("Stop", claude_code("Stop", project, stop_hook_active=False)) == ""
    assert fire("PreCompact", claude_code("PreCompact", project, trigger="auto", custom_instructions="")) == ""
    listed = run("--embedder", "none", "list").stdout.decode()
    assert "What helped: `pnpm add -D left-pad`" in listed and "always write commit messages in English" in listed
    said = fire("SessionStart", claude_code("SessionStart", project, source="compact"))
    assert "What helped: `pnpm add -D left-pad`" in json.loads(said)["hookSpecificOutput"]["additionalContext"]


BAD = {
    "nothing": b"",
    "no JSON": b"{'prompt': 1}",
    "a list": b"[1]",
    "too deep": b"[" * 100_000,
    "not UTF-8": b'{"prompt": "\xff\xfe"}',
    "NaN": b"NaN",
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_bad_input_says_nothing(run: Run, home: Path, given: bytes) -> None:
    ran = run("hook", "prompt", given=given)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert log_of(home).count("\n") == 1 and " prompt after " in log_of(home)


@pytest.mark.slow
def test_huge_input_is_read_to_its_end_and_refused(run: Run, home: Path) -> None:
    ran = run("hook", "prompt", given=b'{"prompt": "' + b"x" * 20_000_000 + b'"}')
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert "InvalidInput in surfaces/agents/payload.py" in log_of(home)


@pytest.mark.parametrize("words", ["hook", "hook no-such", "hook prompt --nope", "--nope=1 hook stop"])
def test_wrong_usage_never_has_a_status_that_blocks_the_client(run: Run, home: Path, words: str) -> None:
    """Status 2 would make Claude Code discard what the user typed."""
    ran = run(*words.split(), given={"prompt": "Which port does Redis use?"})
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert log_of(home).count("\n") == 1


def test_help_is_still_help(run: Run) -> None:
    assert b"EVENT" in run("hook", "--help").stdout


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["a folder that is a file", "a damaged file", "settings", "a full disk"])
def test_a_memory_that_cannot_be_opened_says_nothing(run: Run, home: Path, broken: str) -> None:
    words, db = list[str](), home / "x.db"
    if broken == "a folder that is a file":
        (home / "file").write_text("")
        db = home / "file" / "x.db"
    elif broken == "a damaged file":
        db.write_bytes(b"SQLite format 3\0" + b"junk" * 5000)
    elif broken == "settings":
        (home / "bad.toml").write_text("db = 3")
        words = ["--config", str(home / "bad.toml")]
    else:
        db = Path("/dev/full")
    for event, given in (("prompt", {"prompt": "Which port does Redis use?"}), ("tool-failure", failed(home / "mill"))):
        ran = run("--db", str(db), *words, "hook", event, given=given)
        assert (ran.returncode, ran.stdout) == (0, b"")
    logged = 1 if broken == "a folder that is a file" else 2  # a prompt finds no memory there, which is no failure
    assert log_of(home).count("\n") == logged and "Redis" not in log_of(home) and "left-pad" not in log_of(home)


@pytest.mark.slow
def test_a_locked_memory_is_given_up_in_time_and_nothing_is_half_written(run: Run, home: Path) -> None:
    db = str(home / "x.db")
    assert run("--db", db, "--embedder", "none", "remember", "One.").returncode == 0
    lock = sqlite3.connect(db, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    words = ("--db", db, "--embedder", "none", "hook", "tool-failure")
    ran = run(*words, given=failed(home / "mill"), env={"MEMORIST_HOOK_SECONDS": "1.5"})
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert log_of(home).endswith("it took too long\n")
    lock.execute("ROLLBACK")
    lock.close()
    assert run("--db", db, "list").stdout.decode().splitlines()[0].endswith("One.")


def test_an_input_that_never_ends_is_given_up(home: Path) -> None:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "MEMORIST_HOOK_SECONDS": "0.5"}
    words = [sys.executable, "-m", "memorist", "hook", "prompt"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=home) as ran:
        assert ran.wait(60) == 0
        assert ran.stdout is not None and ran.stdout.read() == b""
    assert "it took too long" in log_of(home)


@pytest.mark.slow
def test_a_reader_that_is_gone_or_was_never_there_is_no_failure(run: Run, home: Path) -> None:
    run("--embedder", "none", "remember", "Use pnpm.", "--pinned")
    given = json.dumps(claude_code("SessionStart", home / "mill", source="startup"))
    for end in (">&-", "| true"):
        line = f"{sys.executable} -m memorist --embedder none hook session-start {end}; exit ${{PIPESTATUS[0]}}"
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        ran = subprocess.run(["bash", "-c", line], input=given.encode(), env=environment, capture_output=True, cwd=home)
        assert (ran.returncode, ran.stdout) == (0, b"")
    assert b"Use pnpm." in run("--embedder", "none", "list").stdout


@pytest.mark.slow
def test_hooks_at_the_same_time_all_keep_what_they_learnt(home: Path) -> None:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "MEMORIST_HOOK_SECONDS": "60"}
    words = [sys.executable, "-m", "memorist", "--embedder", "none", "hook", "tool-failure"]
    running = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=home)
        for _ in range(4)
    ]
    for number, process in enumerate(running):
        given = failed(home / "mill", command=f"make {'abcd'[number]}", error=f"error: no rule for {'abcd'[number]}")
        assert process.stdin is not None
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
    assert [process.wait(120) for process in running] == [0] * 4
    for process in running:
        assert process.stdout is not None
        process.stdout.close()
    listing = [sys.executable, "-m", "memorist", "--embedder", "none", "list", "--json"]
    listed = json.loads(subprocess.run(listing, env=environment, cwd=home, capture_output=True).stdout)
    assert len(listed["items"]) == 4 and log_of(home) == ""


def test_the_log_is_private_and_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LARGEST_LOG", 2000)
    for number in range(100):
        guard.log(f"it took too long, {number}")
    file = guard.log_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    both = [file, file.with_name("hooks.log.1")]
    assert all(path.stat().st_size < 2200 for path in both)
    assert both[0].read_text().splitlines()[-1].endswith("it took too long, 99")


def test_the_log_follows_no_link(tmp_path: Path) -> None:
    guard.log("first")
    file, mine = guard.log_file(), tmp_path / "mine.txt"
    mine.write_text("mine")
    file.unlink()
    file.symlink_to(mine)
    guard.log("second")
    assert mine.read_text() == "mine"

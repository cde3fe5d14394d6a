"""What differs on a terminal: questions, colours, width, progress."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from memorist.surfaces.cli.output import width
from tests.surfaces.conftest import Cli

pty = pytest.importorskip("pty")
Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(db: Path, tmp_path: Path) -> Terminal:
    """A command whose standard streams are a terminal of 80 columns."""

    def run(*arguments: str, keys: bytes = b"") -> tuple[int, str]:
        ours, theirs = pty.openpty()
        environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color", "PYTHONUNBUFFERED": ""}
        environment["TMPDIR"] = str(tmp_path)
        environment.pop("NO_COLOR", None)
        command = [sys.executable, "-m", "memorist", "--db", str(db), "--embedder", "none", *arguments]
        with subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment
        ) as running:
            os.close(theirs)
            os.write(ours, keys)
            shown = _read(ours)
        os.close(ours)
        return running.returncode, shown

    return run


def _read(descriptor: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_forget_asks_and_does_as_told(terminal: Terminal, cli: Cli) -> None:
    cli("remember", "Tea at five.", "--scope", "user:ann")
    status, shown = terminal("forget", "--scope", "user:ann", keys=b"n\n")
    assert status == 1
    assert "Tea at five." in shown
    assert "Forget 1 memory for good?" in shown
    assert plain(shown).endswith("memorist: Nothing was forgotten. Answer y to erase.\n")
    status, shown = terminal("forget", "--scope", "user:ann", keys=b"y\n")
    assert status == 0
    assert plain(shown).endswith("Forgot 1 memory.\n")
    assert cli("list").out == "No memories here.\n"


def test_an_end_of_input_forgets_nothing(terminal: Terminal, cli: Cli) -> None:
    cli("remember", "Tea at five.", "--scope", "user:ann")
    status, _ = terminal("forget", "--scope", "user:ann", keys=b"\x04")
    assert status == 130
    assert "Tea at five." in cli("list").out


def test_colours_and_cut_lines_are_for_terminals_only(terminal: Terminal, cli: Cli) -> None:
    cli("remember", "A long story. " * 20)
    _, shown = terminal("list")
    assert "\x1b[" in shown
    [line] = plain(shown).splitlines()
    assert len(line) == 80 and line.endswith("…")
    _, shown = terminal("recall", "story")
    assert max(map(len, plain(shown).splitlines())) <= 80


def test_json_on_a_terminal_is_indented_but_never_coloured(terminal: Terminal, cli: Cli) -> None:
    cli("remember", "Tea at five.")
    _, shown = terminal("stats", "--json")
    assert "\x1b" not in shown
    assert shown.startswith('{\n  "space": "agent"')


def test_the_demo_fits_a_terminal_and_leaves_no_progress_behind(terminal: Terminal) -> None:
    status, shown = terminal("demo")
    assert status == 0
    assert "Remembering" in shown
    lines = plain(shown).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1].strip().startswith("In Python:")


TABLE = [("任务", "a long value that wraps " * 3), ("extraction_tokens", "400000")]


def table(monkeypatch: pytest.MonkeyPatch, columns: int | None) -> list[str]:
    """What `say_table` prints on a terminal with that many columns, or to a pipe."""
    from rich.console import Console

    from memorist.surfaces.cli import output

    shown = io.StringIO()
    console = columns and Console(file=shown, force_terminal=True, width=columns, color_system=None)
    monkeypatch.setattr(output, "terminal", lambda: console)
    with redirect_stdout(shown):
        output.say_table(TABLE, indent=2)
    return shown.getvalue().splitlines()


def test_a_table_is_as_wide_as_its_cells_and_wraps_within_the_last_column(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = table(monkeypatch, None)
    assert [line.index(value[:6]) for line, (_, value) in zip(piped, TABLE, strict=True)] == [19, 21]
    assert [width(line[: line.index(value[:6])]) for line, (_, value) in zip(piped, TABLE, strict=True)] == [21, 21]
    wide = table(monkeypatch, 60)
    assert wide[0].startswith("  任务") and wide[1].startswith(" " * 21 + "that wraps") and len(wide) == 3
    assert all(width(line) <= 60 for line in wide)
    narrow = table(monkeypatch, 32)
    assert (
        narrow[0].strip() == "任务" and narrow[1].startswith("    a long value") and narrow[-2].strip() == TABLE[1][0]
    )
    assert all(width(line) <= 32 for line in narrow)


def test_progress_counts_towards_a_total_on_a_terminal_alone_and_skipped_files_are_named(
    terminal: Terminal, cli: Cli, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The heron stands by the weir.", encoding="utf-8")
    (folder / "b.bin").write_bytes(bytes(range(256)))
    (folder / ".hidden").write_text("Nothing.", encoding="utf-8")
    piped = cli("ingest", str(folder))
    assert piped.err == ""
    assert "  skipped 1: hidden (.hidden)\n" in piped.out
    assert re.search(r"  skipped 1: .*binary.* \(b\.bin\)\n", piped.out)
    assert re.search(r"Ingesting .* 1/1 0:00:00", plain(terminal("ingest", str(folder))[1]))
    export = str(tmp_path / "all.jsonl")
    assert re.search(r"Exporting .* 1/1 ", plain(terminal("export", export)[1]))
    assert re.search(r"Importing .* 1/1 ", plain(terminal("import", export)[1]))

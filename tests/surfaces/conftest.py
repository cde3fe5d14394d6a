from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.surfaces.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Its standard output, which must be one JSON document on one line."""
        assert (self.status, self.err) == (0, ""), self
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def problem(self) -> str:
        """The one line it complained with."""
        assert self.out == ""
        assert self.err.startswith("memorist: ") and self.err.count("\n") == 1, self.err
        return self.err.removeprefix("memorist: ").rstrip("\n")


Cli = Callable[..., Ran]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def bare(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """A command in this process, in an empty folder, with no options but its own."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*arguments: str) -> Ran:
        capfd.readouterr()
        status = main(list(arguments))
        return Ran(status, *capfd.readouterr())

    return run


@pytest.fixture
def cli(bare: Cli, db: Path) -> Cli:
    """A command on a file of its own, searched by words alone."""
    return lambda *arguments: bare("--db", str(db), "--embedder", "none", *arguments)


@pytest.fixture
def empty(cli: Cli, db: Path) -> Cli:
    """A command on a memory in which nothing is remembered."""
    memorist.open(db, embedder="none", config={}).close()
    return cli


@pytest.fixture
def process(tmp_path: Path) -> Cli:
    """A command in a process of its own."""

    def run(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> Ran:
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-m", "memorist", *arguments],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            env={**os.environ, **environment},
        )
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    return run

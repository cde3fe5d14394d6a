"""A recall sees what was acknowledged before it began, while another process goes on writing, forgetting and keying."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memorist
from memorist import Engine

WRITES = 60
REOPENED = 15
NOISE = 3_000
"""More rows than an index file is worth."""


def write(path: str) -> None:
    """Tell a memory with a word of its own for each line that comes in, then do something else at random."""
    dice, engine, others = random.Random(7), memorist.open(path, embedder="none"), list[str]()
    for number, _ in enumerate(sys.stdin):
        word, how = f"wren{number}q", dice.choice(("remember", "key", "update"))
        if how == "update" and others:
            engine.update(others.pop(), f"The {word} is in the garden.")
        else:
            engine.remember(f"The {word} is in the garden.", key="garden" if how == "key" else None)
        sys.stdout.write(f"{word}\n")
        sys.stdout.flush()
        for step in range(dice.randint(0, 4)):
            others.append(engine.remember(f"Rain fell for {number * 10 + step} hours.").id)
            if dice.random() < 0.5:
                engine.forget(others.pop(dice.randrange(len(others))))
    engine.close()


@contextmanager
def writer(path: Path) -> Generator[subprocess.Popen[str]]:
    """Another process that writes."""
    command = [sys.executable, "-c", f"from {__name__} import write; write({str(path)!r})"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def told(process: subprocess.Popen[str]) -> str:
    """The word of the next memory, once it is acknowledged."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


@pytest.mark.parametrize("index", ["kept open", "opened again", "without its file"])
def test_what_another_process_has_acknowledged_is_found(tmp_path: Path, index: str) -> None:
    path = tmp_path / "a.db"
    engine = memorist.open(path, embedder="none")
    if index != "kept open":
        engine.remember_many([f"Row {number} tells of {number * 7919 % 10007} things." for number in range(NOISE)])
    with writer(path) as process:
        for number in range(WRITES):
            if number % REOPENED == 0:
                engine = again(engine, path, index)
            word = told(process)
            found = [item.memory.text for item in engine.recall(word).items]
            assert f"The {word} is in the garden." in found
    engine.close()


def again(engine: Engine, path: Path, index: str) -> Engine:
    """The engine, perhaps opened again or with its index file removed."""
    if index == "without its file":
        path.with_name(f"{path.name}-index").unlink(missing_ok=True)
    if index == "kept open":
        return engine
    engine.close()
    return memorist.open(path, embedder="none")

"""Killing a process at a chosen step of its work with files."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STEPS = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.copyfile", "shutil.rmtree"}
"""The events of Python that change files; `open` counts if it writes. SQLite's own writes are between them."""


def _changes_files(event: str, arguments: tuple[Any, ...]) -> bool:
    return event in STEPS or (event == "open" and isinstance(arguments[2], int) and bool(arguments[2] & WRITES))


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Work in a fork that is killed at this step; returns whether it was, and False if it finished before."""
    child = os.fork()
    if child == 0:
        _be_killed_at(step)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def kills(work: Callable[[], object], folder: Path) -> Iterator[int]:
    """Kill a fork of the same work at its first step, at its second, and so on; gives each step before the last.

    The folder that it works in is as it was before, each time.
    """
    step, before = 1, folder.with_name(f"{folder.name} before")
    shutil.copytree(folder, before)
    while killed_at(step, work):
        yield step
        step += 1
        shutil.rmtree(folder)
        shutil.copytree(before, folder)
    assert step > 3, "the work changes files"


def _be_killed_at(step: int) -> None:
    seen = 0

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if _changes_files(event, arguments):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)

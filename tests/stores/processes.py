"""Starting `worker.py` and talking to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("worker.py")


class Worker:
    """A worker process; leaving its block ends it."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, str(SCRIPT), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line: str) -> str:
        self.tell(line)
        return self.hear()

    def rest(self) -> list[str]:
        """What it still has to say, once it has ended by itself or been killed."""
        assert self.process.stdout is not None
        return [line.strip() for line in self.process.stdout]


@contextmanager
def working(*arguments: object) -> Iterator[Worker]:
    worker = Worker(*arguments)
    try:
        yield worker
    finally:
        worker.process.kill()
        worker.process.communicate()


def run(*arguments: object) -> list[str]:
    """Run a worker to its end and return its lines."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()

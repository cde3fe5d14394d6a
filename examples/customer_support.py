"""Customer support: a space per customer, a key per desk, and nothing that crosses over.

    pip install "memorist[server]" && python examples/customer_support.py

Starts a real server over a folder of spaces, with keys for two customers. A key opens its own space only, and sees
nothing above its classification.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import memorist

MEMORIST = [sys.executable, "-m", "memorist"]


def new_key(folder: Path, space: str, *options: str) -> str:
    """A key for a space; its secret is printed once."""
    command = [*MEMORIST, "--db", f"{folder}/", "keys", "create", space, *options]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^rk_\S+", printed, re.MULTILINE)[0]


@contextmanager
def server(folder: Path) -> Generator[str]:
    """A server for the spaces of a folder, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [*MEMORIST, "--db", f"{folder}/", "serve", "--port", str(port)], stderr=subprocess.DEVNULL
    )
    try:
        while process.poll() is None:
            with suppress(urllib.error.URLError), urllib.request.urlopen(f"{url}/readyz"):
                break
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        acme = new_key(folder, "acme", "--rights", "write")
        desk = new_key(folder, "acme", "--rights", "read", "--max-classification", "1")
        other = new_key(folder, "globex", "--rights", "write")
        with server(folder) as url:
            with memorist.connect(url, space="acme", key=acme) as memory:
                memory.remember("Ms Ito of Acme wants invoices as PDF.", at="2024-03-02")
                memory.remember("Acme's contract ends in May.", classification=2)
            with memorist.connect(url, space="acme", key=desk) as memory:
                for question in ("How does Acme want invoices?", "When does the contract end?"):
                    print("desk:", question, [item.memory.text for item in memory.recall(question).items])
            with memorist.connect(url, space="acme", key=other) as memory:
                try:
                    memory.recall("How does Acme want invoices?")
                except memorist.Error as refused:
                    print("globex:", refused)


if __name__ == "__main__":
    main()

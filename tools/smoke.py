"""Use an installed Memorist as a stranger would. `tools/wheels.py` runs it in an empty folder, far from any source."""

from __future__ import annotations

import argparse
import json
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import memorist

MEMORIST = Path(sys.executable).with_name("memorist")
STORY = "My son Emil is allergic to hazelnuts."
QUESTION = "Is there anything my boy cannot eat?"


def command(*arguments: str) -> str:
    """What a command prints."""
    ran = subprocess.run([MEMORIST, *arguments], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, f"memorist {' '.join(arguments)}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def check_install(expected: str) -> None:
    """The package is the installed one, whole, and says its version everywhere alike."""
    package = Path(memorist.__file__).parent
    assert package.is_relative_to(sys.prefix), f"{package} is not installed"
    assert memorist.__version__ == version("memorist") == expected
    assert command("--version") == f"memorist {expected}\n"
    assert (package / "py.typed").exists()


def check_commands() -> None:
    """Remember and recall by meaning, which needs the models, and by each recipe, which is a file of the package."""
    command("--db", "agent.db", "remember", STORY)
    found = json.loads(command("--db", "agent.db", "recall", QUESTION, "--json"))
    assert found["items"][0]["text"] == STORY, found
    with memorist.open("agent.db", background=False) as memory:
        for recipe in memory.recipes:
            with suppress(memorist.MissingService):
                assert memory.recall(QUESTION, recipe=recipe).recipe == recipe


def check_distributions() -> None:
    """Each other distribution brings its commands, which load."""
    brought = {entry.name for entry in entry_points(group="memorist.commands")}
    others = {"bench", "hook", "install", "sync", "tune", "uninstall"}
    assert brought == {"db", "inspect", "keys", "mcp", "serve"} | others, brought
    for name in sorted(brought):
        assert name in command(name, "--help")
    assert "claude-code" in command("install", "--help")
    assert {entry.name for entry in entry_points(group="memorist.stores")} == {"postgresql"}
    assert "slack" in command("ingest", "--help")


def check_server() -> None:
    """The server becomes ready, keeps and finds over HTTP, and shows its pages."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    command = [MEMORIST, "--db", "spaces/", "serve", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and server.poll() is None:
            with suppress(URLError):
                assert urlopen(f"{base}/readyz").status == 200
                break
            time.sleep(0.1)
        _post(f"{base}/v1/spaces/agent/memories", {"text": STORY})
        found = _post(f"{base}/v1/spaces/agent/recall", {"query": QUESTION})
        assert found["items"][0]["text"] == STORY, found
        _check_page(f"{base}/docs")
        _check_page(f"{base}/")
    finally:
        server.terminate()
        assert server.wait(60) is not None


def _check_page(url: str) -> None:
    """A page loads, with everything of its own server that it refers to."""
    with urlopen(url) as page:
        text = page.read().decode()
    assert "Memorist" in text
    for link in re.findall(r"""<(?:script|link|img)\b[^>]*?(?:src|href)=["']([^"':]+)["']""", text):
        assert urlopen(urljoin(url, link)).status == 200, link


def _post(url: str, data: dict[str, str]) -> Any:
    body = Request(url, json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urlopen(body) as answer:
        return json.load(answer)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--every-set", action="store_true", help="the other sets of models are installed too")
    given = parser.parse_args()
    check_install(given.version)
    check_commands()
    check_distributions()
    command("demo")
    assert json.loads(command("mcp", "--cost", "--json"))["tools"]
    check_server()
    if given.every_set:
        for models in ("best", "multilingual"):
            with memorist.open(":memory:", models=models) as memory:
                memory.remember(STORY)
                assert memory.recall(QUESTION).items[0].memory.text == STORY


if __name__ == "__main__":
    main()

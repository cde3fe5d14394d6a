"""Memorist calls nobody: no host is looked up, nothing is contacted, and only our own files appear in a home."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from memorist.client import connect
from memorist.models.folder import TELEMETRY_OFF

pytest.importorskip("memorist_models")

SHIM = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void note(const char *what, const char *whom) {
    const char *path = getenv("RECORD");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) { fprintf(file, "%s %s\n", what, whom ? whom : "-"); fclose(file); }
}

static void note_address(const char *what, const struct sockaddr *to) {
    char text[INET6_ADDRSTRLEN] = "";
    if (!to) return;
    if (to->sa_family == AF_INET) inet_ntop(AF_INET, &((struct sockaddr_in *)to)->sin_addr, text, sizeof text);
    if (to->sa_family == AF_INET6) inet_ntop(AF_INET6, &((struct sockaddr_in6 *)to)->sin6_addr, text, sizeof text);
    if (text[0]) note(what, text);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    note("look-up", name);
    return REAL(getaddrinfo)(name, service, hints, found);
}
struct hostent *gethostbyname(const char *name) { note("look-up", name); return REAL(gethostbyname)(name); }
struct hostent *gethostbyname2(const char *name, int family) {
    note("look-up", name);
    return REAL(gethostbyname2)(name, family);
}
int connect(int door, const struct sockaddr *to, socklen_t length) {
    note_address("connect", to);
    return REAL(connect)(door, to, length);
}
ssize_t sendto(int door, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
    note_address("send", to);
    return REAL(sendto)(door, data, size, flags, to, length);
}
"""
HOOK = """
import os, sys

def note(event, given):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        whom = given[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        whom = given[1][0] if isinstance(given[1], tuple) else None
    else:
        return
    with open(os.environ["RECORD"], "a") as file:
        print(event, whom or "-", file=file)

sys.addaudithook(note)
"""
STORY = """
import os, memorist

with memorist.open() as memory:
    memory.remember("Alice moved to Stockholm.", at="2024-06-03")
    assert memory.recall("Where does Alice live?").items
assert "ORT_DISABLE_TELEMETRY" not in os.environ
"""
OURS = tuple(f"{folder}/memorist" for folder in (".local/share", ".config", ".cache"))


@dataclass(frozen=True)
class Home:
    """A fresh home, and a record of whom the processes in it looked up or contacted."""

    path: Path
    record: Path
    environment: dict[str, str]

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen([sys.executable, *arguments], env=self.environment, text=True, cwd=self.path, **pipes)

    def run(self, *arguments: str) -> str:
        process = self.start(*arguments)
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        return out

    def contacted(self) -> list[str]:
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        return [line for line in lines if not _is_here(line.split(" ", 1)[1])]

    def foreign(self) -> list[str]:
        files = (str(file.relative_to(self.path)) for file in self.path.rglob("*") if not file.is_dir())
        return sorted(file for file in files if not file.startswith(OURS))


def _is_here(whom: str) -> bool:
    try:
        return whom in ("-", "localhost") or ip_address(whom).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """A library that records the calls of C code; None without a compiler, and then only Python's are recorded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    library = folder / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "shim.c", "-ldl"], check=True)
    return library


@pytest.fixture
def home(tmp_path: Path, shim: Path | None) -> Home:
    path, hook, record = tmp_path / "home", tmp_path / "hook", tmp_path / "record"
    path.mkdir()
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(HOOK)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MEMORIST_", "ORT_"))}
    search = os.pathsep.join((str(hook), *(text for text in sys.path if text)))
    preload = {"LD_PRELOAD": str(shim)} if shim is not None else {}
    return Home(path, record, {**kept, **preload, "HOME": str(path), "PYTHONPATH": search, "RECORD": str(record)})


def _python(home: Home) -> None:
    home.run("-c", STORY)


def _commands(home: Home) -> None:
    home.run("-m", "memorist", "remember", "Alice moved to Stockholm.")
    assert "Stockholm" in home.run("-m", "memorist", "recall", "Where does Alice live?")


def _rest(home: Home) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = home.start("-m", "memorist", "serve", "--port", str(port), stdin=subprocess.DEVNULL)
    try:
        assert process.stderr is not None
        assert any("startup complete" in line for line in process.stderr)
        with connect(f"http://127.0.0.1:{port}", space="agent") as memory:
            memory.remember("Alice moved to Stockholm.")
            assert memory.recall("Where does Alice live?").items
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _mcp(home: Home) -> None:
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    said = (
        {"id": 1, "method": "initialize", "params": who},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": {"text": "Alice left Oslo."}}},
    )
    process = home.start("-m", "memorist", "mcp")
    assert process.stdin is not None and process.stdout is not None
    for message in said:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    _, errors = process.communicate(timeout=60)
    assert all("result" in answer for answer in answers), errors


ENTRIES = (
    pytest.param(_python, id="python"),
    pytest.param(_rest, id="serve"),
    pytest.param(_commands, id="cli", marks=pytest.mark.slow),
    pytest.param(_mcp, id="mcp", marks=pytest.mark.slow),
)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_point_contacts_nobody_and_leaves_only_our_files(home: Home, entry: Callable[[Home], None]) -> None:
    entry(home)
    assert home.contacted() == []
    assert home.foreign() == []


def test_the_recorder_sees_look_ups_of_python_and_of_c(home: Home, shim: Path | None) -> None:
    """Else the promise above could hold because nobody looked."""
    ask = "import ctypes, socket\ntry: socket.getaddrinfo('python.invalid', 80)\nexcept OSError: pass\n"
    home.run("-c", f"{ask}ctypes.CDLL(None).gethostbyname(b'c.invalid')")
    seen = "\n".join(home.contacted())
    assert "socket.getaddrinfo python.invalid" in seen
    if shim is None:
        pytest.skip("no C compiler: look-ups of C code are not recorded")
    assert "look-up python.invalid" in seen
    assert "look-up c.invalid" in seen


def test_a_switch_that_the_user_set_stays_as_it_was(home: Home) -> None:
    home.environment[TELEMETRY_OFF] = "0"
    load = "import os\nfrom memorist.models.folder import onnx_runtime\nonnx_runtime()\n"
    home.run("-c", f"{load}assert os.environ['{TELEMETRY_OFF}'] == '0'")
    assert home.foreign() == []


def test_one_place_imports_onnx_runtime() -> None:
    root = Path(__file__).parents[2]
    folders = (root / "src", root / "packages", root / "training", root / "benchmarks", root / "tests")
    imports = re.compile(r"^ *(?:import|from) onnxruntime\b", re.MULTILINE)
    found = {file.name for folder in folders for file in folder.rglob("*.py") if imports.search(file.read_text())}
    assert found == {"folder.py", "compare.py"}  # the second for type checkers only

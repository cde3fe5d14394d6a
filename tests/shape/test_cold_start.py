"""A process that runs one command loads and compiles only what that takes. These are counts, so no machine matters."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

STORY = """
import json, re, sys

compiled, real = [], re._compiler.compile

def compile(expression, flags=0):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] == "re":
        frame = frame.f_back
    if "/memorist/" in frame.f_code.co_filename:
        compiled.append([frame.f_code.co_filename, frame.f_code.co_name])
    return real(expression, flags)

re._compiler.compile = compile
exec(sys.argv.pop(1))
print()
json.dump({"modules": list(sys.modules), "compiled": compiled}, sys.stdout)
"""
COMMAND = "from memorist.surfaces.cli import main; assert main() == 0"


@dataclass(frozen=True)
class Loaded:
    """What a process imported, and the patterns it compiled for us: the file and the function of each."""

    modules: set[str]
    compiled: list[list[str]]

    @property
    def ours(self) -> set[str]:
        """Our modules, without the name of the package."""
        names = (name.partition(".") for name in self.modules)
        return {rest for package, _, rest in names if package == "memorist" and rest}

    def of(self, room: str) -> set[str]:
        """Our modules in a room."""
        return {name for name in self.ours if name.partition(".")[0] == room}


def process(code: str, *arguments: str) -> Loaded:
    ran = subprocess.run([sys.executable, "-c", STORY, code, *arguments], capture_output=True, text=True, check=True)
    data = json.loads(ran.stdout.splitlines()[-1])
    return Loaded(set(data["modules"]), data["compiled"])


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cold") / "agent.db")


@pytest.fixture(scope="module")
def remember(db: str) -> Loaded:
    return process(COMMAND, "--db", db, "remember", "Alice moved to Stockholm on 3 June 2024.")


@pytest.fixture(scope="module")
def recall(db: str, remember: Loaded) -> Loaded:
    assert remember
    return process(COMMAND, "--db", db, "recall", "Where does Alice live?")


def test_the_version_needs_no_part_of_the_command_line() -> None:
    loaded = process(COMMAND, "--version")
    assert loaded.ours == {"surfaces", "surfaces.cli"}
    assert not loaded.compiled
    assert not {"typer", "rich", "inspect", "dataclasses", "pathlib"} & loaded.modules
    assert len(loaded.modules) < 100, sorted(loaded.modules)


def test_importing_memorist_compiles_nothing() -> None:
    loaded = process("import memorist")
    assert (loaded.ours, loaded.compiled) == (set(), [])


CLIENT_ROOMS = {
    *("aio", "client", "errors", "files", "http", "model", "ports", "results", "validate", "verbs"),
    "text",  # how quotes and names are written: labels and patterns alone
}


def test_the_client_loads_nothing_that_keeps_or_finds_memories() -> None:
    loaded = process("import memorist; memorist.Client, memorist.connect_async, memorist.Recall, memorist.Receipt")
    assert {name.partition(".")[0] for name in loaded.ours} == CLIENT_ROOMS
    assert loaded.of("text") == {"text", "text.labels", "text.patterns"}
    assert len(loaded.ours) < 35, sorted(loaded.ours)
    assert not [file for file, function in loaded.compiled if function == "<module>"]
    foreign = {name.partition(".")[0] for name in loaded.modules} - sys.stdlib_module_names
    assert foreign <= {"memorist", "__main__", "_distutils_hack", "sitecustomize"}, "httpx is imported by `connect`"


def test_no_module_compiles_a_pattern_when_it_is_imported(remember: Loaded, recall: Loaded) -> None:
    assert not [file for file, function in (*remember.compiled, *recall.compiled) if function == "<module>"]


def test_a_recall_loads_nothing_that_writes(recall: Loaded) -> None:
    assert recall.of("remember") == {"remember", "remember.jobs", "remember.policy"}
    assert not recall.of("upkeep")
    assert len(recall.ours) <= 135, sorted(recall.ours)


def test_remembering_loads_no_stage_of_a_recall(remember: Loaded) -> None:
    frame = {"recall", "recall.recipes", "recall.catalogue", "recall.data", "recall.pipeline", "recall.stage"}
    assert remember.of("recall") == frame
    assert not remember.of("upkeep") and "memorist_import" not in remember.modules
    assert len(remember.ours) < 148, sorted(remember.ours)


def test_a_pipe_is_written_to_without_rich(remember: Loaded, recall: Loaded) -> None:
    assert "rich" not in remember.modules | recall.modules


def test_what_only_plugins_need_is_not_loaded(recall: Loaded) -> None:
    assert not {"importlib.metadata", "importlib.resources", "numpy.ma", "httpx", "opentelemetry"} & recall.modules


HOOK = """
import io
sys.stdin = io.TextIOWrapper(io.BytesIO(sys.argv.pop().encode()))
from memorist.surfaces.cli import main
assert main() == 0
"""


def hook(db: str, event: str, **payload: str) -> Loaded:
    return process(HOOK, "--db", db, "hook", event, json.dumps({"session_id": "s", **payload}))


def test_a_hook_that_recalls_loads_nothing_that_writes(db: str, remember: Loaded) -> None:
    assert remember
    for loaded in (hook(db, "session-start"), hook(db, "prompt", prompt="Where does Alice live now?")):
        assert loaded.of("remember") == {"remember", "remember.jobs", "remember.policy"}
        assert not loaded.of("upkeep") and "rich" not in loaded.modules
        assert len(loaded.ours) < 150, sorted(loaded.ours)
        assert not [file for file, function in loaded.compiled if function == "<module>"]


def test_a_hook_with_nothing_to_do_opens_no_memory(db: str) -> None:
    for loaded in (hook(db, "prompt", prompt="/clear"), hook(db, "stop", transcript_path="/nowhere")):
        assert not loaded.of("stores") | loaded.of("recall") | loaded.of("models")
        assert not {"numpy", "apsw", "onnxruntime"} & loaded.modules


THREADS = """
import os
from memorist.surfaces.cli import run
os._exit = lambda status: None
run()
import numpy
assert len(os.listdir("/proc/self/task")) == 1
"""


def test_numpy_starts_no_threads_in_a_process_of_ours(db: str) -> None:
    assert "numpy" in process(THREADS, "--db", db, "stats").modules


INDEX = """
from memorist.stores.index_sync import IndexCache
views, view = [], IndexCache.view
IndexCache.view = lambda self: views.append(self) or view(self)
from memorist.surfaces.cli import main
assert main() == 0
assert bool(views) is {read}
"""


def test_remembering_reads_no_index(db: str, remember: Loaded) -> None:
    assert remember
    process(INDEX.replace("{read}", "False"), "--db", db, "remember", "Bob works at Volvo.")
    process(INDEX.replace("{read}", "True"), "--db", db, "recall", "Where does Bob work?")

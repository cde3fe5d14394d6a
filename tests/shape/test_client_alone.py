"""The client works without the rest of Memorist: its files import each other and httpx alone, and are a package."""

from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.wheels import CLIENT, ROOT, files_of_client, packed, within

SOURCE = ROOT / "src"
FILES = packed(CLIENT)
OF_OTHER_ROOMS = {
    "memorist/files.py": {"platformdirs"},  # where indexes are kept
    "memorist/model/recall.py": {"numpy"},
    "memorist/ports/notices.py": {"opentelemetry"},
    "memorist/ports/store.py": {"numpy"},
    "memorist/ports/values.py": {"numpy"},
    "memorist/text/words.py": {"Stemmer", "numpy"},  # what stores index
}
"""Packages that a file imports in a function, or for type checkers, that no client calls."""
LATER = {"memorist.engine", "memorist.engine.engine", "memorist.engine.open", "memorist.engine.syncing"}
"""What `memorist/__init__.py` imports for type checkers, and when it is asked for a name of it."""


def modules(names: set[str]) -> set[str]:
    return {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in names if ".py" in name}


def imported(path: Path) -> set[str]:
    """Every module that a file imports, wherever in it, and each package that the module is in."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found - {"__future__"}


def test_every_file_of_the_client_exists() -> None:
    listed = files_of_client((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert [name for name in listed if not (ROOT / name).exists()] == []
    assert within({"src/memorist/model.py", "src/memorist/modelling/x.py"}, ["src/memorist/model"]) == set()


@pytest.mark.parametrize("name", sorted(file for file in FILES if file.endswith(".py")))
def test_the_files_of_the_client_import_each_other_alone(name: str) -> None:
    ours = modules(FILES)
    wanted = imported(SOURCE / name)
    missing = {module for module in wanted if module.partition(".")[0] == "memorist"} - ours
    assert missing <= (LATER if name == "memorist/__init__.py" else set())
    others = {module.partition(".")[0] for module in wanted} - sys.stdlib_module_names - {"memorist"}
    assert others <= {"httpx", *OF_OTHER_ROOMS.get(name, ())}


def test_no_file_is_in_both_wheels_and_none_in_neither() -> None:
    core = packed(ROOT)
    assert not core & FILES and "memorist/__init__.py" in FILES and "memorist/engine/open.py" in core
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert core | FILES == {name.removeprefix("src/") for name in tracked.splitlines()}


def taken_over(before: set[str], left_to_client: list[str], now: list[str]) -> set[str]:
    """The files that the wheel of memorist had at a release, and that of memorist-client has now."""
    return within(before - within(before, left_to_client), now)


def test_no_file_goes_from_the_wheel_of_memorist_to_that_of_the_client() -> None:
    """pip installs the new client before it removes the old memorist, and with it every file that both have."""
    before = {"src/memorist/model/a.py", "src/memorist/b.py", "src/memorist/c.py"}
    kept, now = ["src/memorist/model"], ["src/memorist/model", "src/memorist/b.py", "src/memorist/new.py"]
    assert taken_over(before, kept, now) == {"src/memorist/b.py"}

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout

    for tag in git("tag", "--list", "v*", "--merged").split():
        files, project = git("ls-tree", "-r", "--name-only", tag, "src"), git("show", f"{tag}:pyproject.toml")
        listed = files_of_client((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        lost = taken_over(set(files.splitlines()), files_of_client(project), listed)
        assert not lost, f"{tag} has them in the wheel of memorist: give them other paths"


STORY = """
import sys
import memorist

try:
    memorist.open("agent.db")
except memorist.MissingExtra as error:
    assert "pip install memorist" in str(error), error
else:
    raise AssertionError("the engine is there")
with memorist.connect(sys.argv[1], space="agent") as memory:
    kept = memory.remember("Alice moved to Stockholm.", at="2024-06-03")
    assert isinstance(kept, memorist.Remembered), kept
    found = memory.recall("Where does Alice live?", where={"text": {"contains": "Stockholm"}})
    assert found.items[0].memory.id == kept.id
    assert "rank 1" in str(memory.explain(found, kept.id))
    try:
        memory.recall("Where?", top_k=3)
    except memorist.InvalidInput as error:
        assert "limit" in str(error), error
    with memory.session("Move house") as session:
        session.step("The flat is empty.", "paint it", 1.0)
    assert memory.audit().checked and memory.tidy().run is None and memory.stats().memories
    assert memory.export("export.jsonl").head.space == "agent" and memory.backup("copy.db").bytes
    assert memory.import_("export.jsonl").known
    assert memory.ingest([{"role": "user", "content": "Bob likes tea."}]).kept == 1
    assert isinstance(memory.forget(kept.id), memorist.Receipt)
heavy = {"numpy", "onnxruntime", "tokenizers", "apsw", "Stemmer", "platformdirs"} & sys.modules.keys()
assert not heavy, heavy
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server process, once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memorist", "--db", str(tmp_path / "spaces") + "/", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if f"127.0.0.1:{port}" in line:
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)
        process.stdout and process.stdout.close()


def tell(python: Path | str, server: str, folder: Path, **own: str) -> None:
    """Run the story there, without any other source on the path."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MEMORIST"))}
    story = folder / "story.py"
    story.write_text(STORY, encoding="utf-8")
    command = [str(python), "-W", "error", str(story), server]
    ran = subprocess.run(command, cwd=folder, env={**clean, **own}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_files_of_the_client_talk_to_a_server(server: str, tmp_path: Path) -> None:
    for name in FILES:
        target = tmp_path / "alone" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / name, target)
    tell(sys.executable, server, tmp_path, PYTHONPATH=str(tmp_path / "alone"))


@pytest.mark.slow
def test_the_installed_client_talks_to_a_server(server: str, tmp_path: Path) -> None:
    """Wants the package index, for hatchling and httpx."""
    wheels = tmp_path / "wheels"
    subprocess.run([sys.executable, "-m", "build", "--outdir", wheels, CLIENT], check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    own = tmp_path / "venv" / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", wheel], check=True)
    listed = subprocess.run([own, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True)
    names = {line.partition("==")[0].lower() for line in listed.stdout.splitlines()} - {"pip", "setuptools"}
    assert {"memorist-client", "httpx"} <= names and not {"memorist", "numpy", "onnxruntime", "apsw"} & names
    tell(own, server, tmp_path)

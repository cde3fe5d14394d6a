"""The registry of formats: those of other distributions are found, and where they are missing, their extra is named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import memorist
from memorist.errors import InvalidInput, MissingExtra
from memorist.remember.ingest import detect, format_names
from memorist.remember.ingest.files import OWN as OWN_FILES
from memorist.remember.ingest.formats import (
    ENTRY_POINTS,
    OWN_NAMES,
    FileFormat,
    Format,
    InputFile,
    ObjectFormat,
    installed,
)
from memorist.remember.ingest.model import DraftMemory, Found
from memorist.remember.ingest.objects import OWN as OWN_OBJECTS
from memorist.remember.ingest.values import Object
from memorist.surfaces.cli import app
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import running
from tests.remember.ingest.helpers import items, pieces, skipped, talk, written
from tests.surfaces.conftest import Cli

INSTALL = r"pip install 'memorist\[{}\]'"
Install = Callable[..., None]


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Replaces the formats of other distributions."""

    def install(*formats: Format) -> None:
        points = [SimpleNamespace(load=lambda: formats)] if formats else []
        monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points if group == ENTRY_POINTS else [])
        installed.cache_clear()

    yield install
    monkeypatch.undo()
    installed.cache_clear()


def test_a_few_formats_are_memorists_own(only: Install) -> None:
    only()
    assert format_names() == OWN_NAMES
    assert {format.name for format in (*OWN_FILES, *OWN_OBJECTS)} == set(OWN_NAMES)


@pytest.mark.parametrize(
    ("name", "content", "extra"),
    [
        ("a.zip", b"PK\x03\x04rest", "import"),
        ("a.db", b"SQLite format 3\0rest", "import"),
        ("a.txt", b"%PDF-1.7 words", "pdf"),
        ("a.txt", "<!DOCTYPE html><p>Hi.", "import"),
        ("a.html", "<p>Hi.", "import"),
        ("a.json", [{"mapping": {}}], "import"),
    ],
)
def test_a_file_that_only_another_distribution_reads_names_its_extra(
    only: Install, tmp_path: Path, name: str, content: object, extra: str
) -> None:
    only()
    path = written(tmp_path / "all" / name, content)
    wanted = INSTALL.format(extra)
    with memorist.open(":memory:", embedder="none") as memory, pytest.raises(MissingExtra, match=wanted):
        memory.ingest(path)
    written(tmp_path / "all/b.txt", "The heron is red.")
    found = items(tmp_path / "all")
    assert [piece.text for piece in pieces(found)] == ["The heron is red."]
    assert [skip.reason for skip in skipped(found) if f"pip install 'memorist[{extra}]'" in skip.reason]


def test_a_line_that_only_another_distribution_reads_is_skipped_and_the_others_are_read(
    only: Install, tmp_path: Path
) -> None:
    only()
    found = items(written(tmp_path / "a.jsonl", '{"mapping": {}}\n{"role": "user", "content": "Hi."}\n'))
    assert talk(found) == [("user", "Hi.")]
    assert [skip.reason for skip in skipped(found) if "pip install 'memorist[import]'" in skip.reason]


def test_a_format_of_another_distribution_names_its_extra(only: Install, tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", [])
    only()
    with pytest.raises(InvalidInput, match=INSTALL.format("import")):
        items(path, format="slack")


def test_the_command_names_the_extra_of_a_file(only: Install, cli: Cli, tmp_path: Path) -> None:
    only()
    ran = cli("ingest", str(written(tmp_path / "page.html", "<html><p>Hi.")))
    assert ran.status == 1 and ran.problem.endswith("Install it with: pip install 'memorist[import]'.")


def test_the_server_names_the_extra_of_a_file(only: Install, tmp_path: Path) -> None:
    only()
    with running(Settings(db=f"{tmp_path}/spaces/", embedder="none")) as server, server.http() as http:
        given = {"content": b"<html><p>Hi.", "headers": {"Content-Type": "application/octet-stream"}}
        answer = http.post("/v1/spaces/agent/ingest/file?name=page.html", **given)
    assert answer.status_code == 501 and "pip install 'memorist[import]'" in answer.json()["remedy"], answer.text


def test_sync_names_its_extra_where_that_is_missing(
    cli: Cli, bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", "Tea at five.")
    monkeypatch.setattr(app, "_offered", lambda name: ())
    assert cli("sync", str(tmp_path)).problem.endswith("Install it with: pip install 'memorist[import]'")
    assert "Keep machines together" not in bare("--help").out
    monkeypatch.setitem(sys.modules, "memorist_import.sync", None)
    with (
        memorist.open(":memory:", embedder="none") as memory,
        pytest.raises(MissingExtra, match=INSTALL.format("import")),
    ):
        memorist.sync(memory, tmp_path / "shared")


def haiku(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    yield DraftMemory(" / ".join(given["lines"]), where, turn=False)


def score(file: InputFile) -> Iterator[Found]:
    text, notes = file.text()
    yield from notes
    yield DraftMemory(text.partition("\n")[2], file.name, turn=False)


HAIKU = ObjectFormat("haiku", lambda given: "lines" in given, haiku)
SCORE = FileFormat("score", lambda head: head.text.startswith("X:"), score)


def test_formats_of_others_come_before_memorists_own(only: Install, tmp_path: Path) -> None:
    poem = {"lines": ["An old pond", "a frog"], "text": "A poem."}
    only(HAIKU, SCORE)
    assert format_names() == (*OWN_NAMES, "haiku", "score")
    assert [piece.text for piece in pieces(items([poem, {"text": "A note."}]))] == ["An old pond / a frog", "A note."]
    tune = written(tmp_path / "a.txt", "X:1\nThe heron's tune.")
    assert (detect(tune), detect(written(tmp_path / "a.json", [poem]))) == ("score", "haiku")
    assert [piece.text for piece in pieces(items(tune))] == ["The heron's tune."]
    assert [piece.text for piece in pieces(items(tune, format="text"))] == ["X:1\nThe heron's tune."]
    only()
    assert [piece.text for piece in pieces(items([poem]))] == ["A poem."]


class Counting:
    """Numbers the objects of a file."""

    def __init__(self) -> None:
        self._number = 0

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        self._number += 1
        yield DraftMemory(f"Line {self._number}", where, turn=False)


def test_a_class_reads_the_objects_of_each_file_from_the_beginning(only: Install, tmp_path: Path) -> None:
    only(ObjectFormat("lines", lambda given: "line" in given, Counting))
    poem: list[Any] = [{"line": "An old pond"}, {"line": "a frog"}]
    for name in ("a.json", "b.json"):
        assert [piece.text for piece in pieces(items(written(tmp_path / name, poem)))] == ["Line 1", "Line 2"]

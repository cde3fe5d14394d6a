from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from memorist.errors import Error, InvalidInput
from memorist_bench.datasets import KNOWN, KnownSet, fetch, load
from test_datasets_beir import DOCUMENTS, QRELS, QUERIES, json_lines


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address it is served at."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def drinks(served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A known set `drinks`, served as an archive."""
    folder, address = served
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("drinks/corpus.jsonl", json_lines(DOCUMENTS))
        packed.writestr("drinks/queries.jsonl", json_lines(QUERIES))
        packed.writestr("drinks/qrels/test.tsv", QRELS)
        packed.writestr("drinks/run.sh", "echo unasked for")
        packed.writestr("../../escaped.tsv", "outside")
    (folder / "drinks.zip").write_bytes(content.getvalue())
    monkeypatch.setitem(KNOWN, "drinks", KnownSet(f"{address}/drinks.zip", "CC0", "who drinks what"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_known_set_is_fetched_by_its_name_and_then_read_without_a_network(drinks: Path) -> None:
    first = load("drinks")
    assert first.name == "drinks"
    assert [question.id for question in first.groups[0].questions] == ["q1", "q2"]
    (drinks / "drinks.zip").unlink()
    assert load("drinks") == first


def test_the_first_fetch_records_the_checksums_of_what_it_got(drinks: Path, tmp_path: Path) -> None:
    path = fetch("drinks", tmp_path / "sets")
    record = json.loads((tmp_path / "sets" / "drinks.json").read_text())
    assert record["address"].endswith("/drinks.zip") and record["licence"] == "CC0"
    assert set(record["sha256"]) == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert record["sha256"]["corpus.jsonl"] == hashlib.sha256((path / "corpus.jsonl").read_bytes()).hexdigest()


def test_an_archive_gives_only_the_files_of_the_layout(drinks: Path, tmp_path: Path) -> None:
    path = fetch("drinks", tmp_path / "sets")
    files = {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}
    assert files == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert not list(tmp_path.rglob("escaped.tsv"))


def test_files_that_were_changed_since_are_refused(drinks: Path, tmp_path: Path) -> None:
    path = fetch("drinks", tmp_path / "sets")
    (path / "qrels" / "test.tsv").write_text("q1\td2\t1\n")
    with pytest.raises(InvalidInput, match=r"checksums differ from drinks\.json.*Delete"):
        fetch("drinks", tmp_path / "sets")


def test_a_set_of_one_file_is_kept_as_it_came(
    served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, address = served
    (folder / "talk.json").write_text("[]")
    monkeypatch.setitem(KNOWN, "talk", KnownSet(f"{address}/talk.json", "CC0", "a talk"))
    assert fetch("talk", tmp_path / "sets") == tmp_path / "sets" / "talk" / "talk.json"
    assert fetch("talk", tmp_path / "sets").read_text() == "[]"


def test_a_path_goes_before_a_name(drinks: Path, tmp_path: Path) -> None:
    (tmp_path / "drinks").mkdir()
    with pytest.raises(InvalidInput, match=r"drinks: there is neither qrels\.tsv"):
        load("drinks")


def test_a_fetch_that_fails_leaves_nothing_and_says_what_to_do(drinks: Path, tmp_path: Path) -> None:
    (drinks / "drinks.zip").unlink()
    with pytest.raises(Error, match=r"'drinks' could not be downloaded from http://127.*404.*pass the path"):
        fetch("drinks", tmp_path / "sets")
    assert list((tmp_path / "sets").iterdir()) == []


def test_without_a_network_the_address_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(KNOWN, "away", KnownSet("http://127.0.0.1:1/away.zip", "CC0", "nowhere"))
    with pytest.raises(Error, match=r"could not be downloaded from http://127\.0\.0\.1:1/away\.zip: .*network"):
        fetch("away", tmp_path)


def test_what_is_no_archive_is_refused(drinks: Path, tmp_path: Path) -> None:
    (drinks / "drinks.zip").write_text("<html>Please log in</html>")
    with pytest.raises(Error, match="not a ZIP archive"):
        fetch("drinks", tmp_path / "sets")
    assert list((tmp_path / "sets").iterdir()) == []


def test_a_name_nobody_knows_lists_those_we_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="known sets: locomo, longmemeval-s"):
        load("lokomo")
    with pytest.raises(InvalidInput, match="Unknown public set 'lokomo'"):
        fetch("lokomo", tmp_path)


def test_every_known_set_has_an_address_and_a_licence() -> None:
    assert all(known.address.startswith("https://") and known.licence and known.meaning for known in KNOWN.values())

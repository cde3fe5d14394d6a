"""Real server processes: under load, at their end, and against every request that their description allows."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import memorist
from benchmarks.serve import Load, lost, served
from memorist.models.folder import SETS
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import running
from tests.models.tiny_models import install
from tests.surfaces.conftest import Cli

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def test_another_address_needs_a_key_and_a_folder(bare: Cli, tmp_path: Path) -> None:
    refused = bare("--db", f"{tmp_path}/spaces/", "serve", "--host", "0.0.0.0")
    assert refused.status == 1 and "without a key" in refused.problem and "keys create" in refused.problem
    for url in (f"{tmp_path}/agent.db", ":memory:"):
        assert "not a folder of spaces" in bare("--db", url, "serve").problem
    assert "Leave --space out" in bare("--space", "a", "serve").problem


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorist_server.commands.serve.find_spec", lambda name: None)
    assert "pip install 'memorist[server]'" in bare("--db", f"{tmp_path}/spaces/", "serve").problem


def test_settings_survive_the_way_to_a_worker() -> None:
    settings = Settings(db="a/", allowed_hosts=("b", "c"), rate=1.5)
    assert Settings.from_text(settings.to_text()) == settings


def test_a_server_changes_a_space_to_its_set_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "site", "fast", "best")
    with memorist.open(f"{tmp_path}/spaces/", space="agent", background=False) as memory:
        memory.remember("Ann keeps a lamp.")
    with running(Settings(db=f"{tmp_path}/spaces/", models="best")) as server:
        client = server.client("agent", server.key("*", "admin"))
        assert (client.stats().embedding or "").startswith(f"{SETS['fast'].embedder}:")
        assert client.recall("Where does Ann keep a lamp?").items
        assert client.reembed().embedded == 1
        assert (client.stats().embedding or "").startswith(f"{SETS['best'].embedder}:")


@pytest.mark.slow
def test_no_request_that_the_description_allows_breaks_it(tmp_path: Path) -> None:
    with running(Settings(db=f"{tmp_path}/spaces/", embedder="none", rate=0)) as server:
        key = server.key("*", "admin")
        memory = server.client("agent", key)
        memory.remember("The barn is red.")
        memory.relate("Alice", "lives_in", "Oslo")
        found = subprocess.run(
            [
                *(Path(sys.executable).with_name("schemathesis"), "run", f"{server.url}/openapi.json"),
                *("--checks", ",".join(CHECKS), "--header", f"Authorization: Bearer {key}"),
                *("--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--seed", "1", "--no-color"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert found.returncode == 0, found.stdout[-6000:]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_fifty_clients_lose_nothing_and_meet_no_error(tmp_path: Path, workers: int) -> None:
    log = tmp_path / "log"
    with served(tmp_path / "spaces", "--workers", str(workers), log=log) as (url, _):
        load = Load(url, clients=50, spaces=3)
        load.run(5)
        assert load.errors == []
        assert load.seconds["recall"] and lost(url, load.acknowledged) == 0
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    assert {line["message"] for line in lines} >= {"request", "Application shutdown complete."}
    assert "parcel" not in log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_signal_to_stop_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with served(tmp_path / "spaces") as (url, process):
        load = Load(url, clients=8, spaces=2)
        loading = threading.Thread(target=load.run, args=(120,))
        loading.start()
        for _ in range(40):
            assert load.turns.acquire(timeout=60)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        load.stop()
        loading.join()
    assert load.errors, "the signal came in the middle"
    for space, ids in load.acknowledged.items():
        with memorist.open(f"{tmp_path}/spaces/", space=space, embedder="none") as engine:
            assert [id for id in ids if engine.get(id) is None] == []

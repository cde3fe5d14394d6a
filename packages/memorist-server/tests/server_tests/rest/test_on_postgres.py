"""A server on PostgreSQL: several of them are one, and all that they share lies in the database."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import httpx
import psycopg
import pytest

import memorist
from memorist.engine.open import open_database
from memorist.errors import StoreUnavailable
from memorist.ports import Batch, Job
from memorist.ports.models import SystemClock
from memorist.remember.jobs import Worker
from memorist.surfaces.cli.app import Target
from memorist_server.postgres import PostgresStore
from memorist_server.rest.remote import Readiness
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import Running, running
from tests.surfaces.conftest import Cli
from tests.surfaces.verbs import a_file_is_ingested_under_its_name, an_export_is_taken_in_by_another

PASSWORD = "hunter2-of-the-database"


@pytest.fixture
def pair(database: str) -> Iterator[tuple[Running, Running]]:
    """Two servers on one database, started one after the other."""
    with ExitStack() as stack:
        one, two = (stack.enter_context(running(Settings(db=database, embedder="none"))) for _ in range(2))
        yield one, two


def test_each_finds_what_the_other_keeps(pair: tuple[Running, Running]) -> None:
    one, two = (server.client() for server in pair)
    kept = one.remember("The barn is red.")
    assert two.get(kept.id) == kept.memory
    two.remember("The mill is white.")
    assert "The mill is white." in {item.memory.text for item in one.recall("Which colour is the mill?").items}
    one.forget(kept.id)
    assert two.get(kept.id) is None


def test_a_space_is_created_by_its_first_write_and_sees_no_other(pair: tuple[Running, Running]) -> None:
    one, two = pair
    assert two.client("ann").recall("Is anybody there?").items == ()
    assert two.http().get("/v1/spaces").json() == {"items": []}
    one.client("ann").remember("The barn is red.")
    one.client("bob").remember("The barn is blue.")
    assert two.http().get("/v1/spaces").json() == {"items": ["ann", "bob"]}
    for space, colour in (("ann", "red"), ("bob", "blue")):
        found = two.client(space).recall("Which colour is the barn?").items
        assert [item.memory.text for item in found] == [f"The barn is {colour}."]


def test_a_key_counts_at_every_server_from_its_creation_to_its_end(pair: tuple[Running, Running], cli_on: Cli) -> None:
    one, two = pair
    made = cli_on("keys", "create", "team-*", "--rights", "write", "--max-classification", "1", "--json").data
    for server in pair:
        assert server.http().get("/v1/spaces").status_code == 401
        assert server.http("rk_0123456789ab_nonsense").get("/v1/spaces").status_code == 401
        assert server.http(made["secret"]).get("/v1/spaces/other/stats").status_code == 403
    one.client("team-a", made["secret"]).remember("The team meets on Monday.")
    assert two.http(made["secret"]).get("/v1/spaces").json() == {"items": ["team-a"]}
    assert cli_on("keys", "revoke", made["id"], "--json").data == {"revoked": made["id"]}
    assert [server.http(made["secret"]).get("/v1/spaces").status_code for server in pair] == [401, 401]
    assert [record["id"] for record in cli_on("keys", "list", "--json").data] == [made["id"]]


@pytest.fixture
def cli_on(bare: Cli, database: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A command on the database, whose URL is in the environment."""
    monkeypatch.setenv("MEMORIST_DB", database)
    return bare


def test_a_write_that_is_repeated_at_the_other_server_is_answered_from_the_table(pair: tuple[Running, Running]) -> None:
    path, headers = "/v1/spaces/agent/sessions", {"Idempotency-Key": "one"}
    once, twice = (server.http().post(path, json={"goal": "Mend the roof"}, headers=headers) for server in pair)
    other = pair[1].http().post(path, json={"goal": "Mend the door"}, headers=headers)
    assert once.status_code == twice.status_code == 201 and once.content == twice.content
    assert other.json()["type"] == "urn:memorist:idempotency-key-reused"


def test_no_answer_outlives_what_was_forgotten(pair: tuple[Running, Running], database: str) -> None:
    text, headers = "The spare key lies under the third pot.", {"Idempotency-Key": "one"}
    kept = pair[0].http().post("/v1/spaces/agent/memories", json={"text": text}, headers=headers).json()
    receipt = pair[1].http().delete(f"/v1/spaces/agent/memories/{kept['id']}", headers={"Idempotency-Key": "two"})
    assert receipt.json()["forgotten"] == [kept["id"]] and receipt.json()["pending"]
    assert stored_answers(database) == 1  # the receipt
    open_database(database).rewrite()
    assert open_database(database).delete("agent") == 0
    assert stored_answers(database) == 0


def stored_answers(database: str) -> int:
    with psycopg.connect(database) as connection:
        row = connection.execute("SELECT count(*) FROM memorist.answers").fetchone()
    assert row is not None
    return row[0]


def test_files_pass_through_a_private_folder(pair: tuple[Running, Running], tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    an_export_is_taken_in_by_another(pair[0].client("one"))
    a_file_is_ingested_under_its_name(pair[0].client("two"), tmp_path / "files")
    transit = Path(os.environ["XDG_CACHE_HOME"], "memorist", "transit")
    assert transit.stat().st_mode & 0o777 == 0o700 and list(transit.iterdir()) == []


def test_a_space_that_is_deleted_is_let_go(pair: tuple[Running, Running], cli_on: Cli) -> None:
    one, two = (server.client("ann") for server in pair)
    for memory in (one, two):
        memory.remember("The barn is red.")
        assert memory.recall("Which colour is the barn?").items
    assert cli_on("db", "delete", "ann").problem.startswith("Invalid value: Nobody can be asked")
    assert cli_on("db", "delete", "ann", "--yes", "--json").data == {"deleted": "ann", "memories": 1}
    assert pair[0].http().get("/v1/spaces").json() == {"items": []}
    for memory in (one, two):  # a client repeats what is refused with 503
        assert memory.recall("Which colour is the barn?").items == ()
    one.remember("The mill is white.")
    assert [item.memory.text for item in two.recall("Which colour is the mill?").items] == ["The mill is white."]
    assert cli_on("db", "delete", "nobody", "--yes").problem.startswith("There is no space 'nobody'")


def test_a_job_is_done_once_however_many_look_for_it(database: str) -> None:
    """Thirty jobs and three workers, as three servers have a space open."""
    clock, done = SystemClock(), Counter[str]()
    stores = [PostgresStore.open(database, space="ann") for _ in range(3)]
    due = clock.now() - timedelta(minutes=1)
    stores[0].put(Batch(jobs=[Job("greet", f"{number:02}", due) for number in range(30)]))
    workers = [Worker(store, clock, {"greet": lambda job: done.update([job.subject])}) for store in stores]
    threads = [threading.Thread(target=worker.run_due) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == {f"{number:02}": 1 for number in range(30)} and stores[1].jobs() == []
    for store in stores:
        store.close()


def test_who_asks_whether_it_is_ready_waits_for_one_answer_and_not_for_long() -> None:
    go, begun, asked = threading.Event(), threading.Event(), list[int]()

    def check() -> None:
        asked.append(1)
        begun.set()
        if not go.wait(20):
            raise StoreUnavailable("the database does not respond", remedy="Wait.")

    async def story() -> None:
        readiness = Readiness(check, within=0.01)
        for _ in range(2):
            assert await asyncio.gather(*(readiness.reached() for _ in range(20))) == [False] * 20
            assert begun.wait(20)
        assert len(asked) == 1
        go.set()
        while not await readiness.reached():
            await asyncio.sleep(0.001)

    asyncio.run(story())
    assert not asyncio.run(Readiness(_failing).reached())


def _failing() -> None:
    raise StoreUnavailable("the database does not respond", remedy="Wait.")


def test_a_folder_that_is_gone_is_not_ready(tmp_path: Path) -> None:
    with running(Settings(db=f"{tmp_path}/spaces/", embedder="none")) as server:
        ready = server.http().get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        (tmp_path / "spaces").rename(tmp_path / "elsewhere")
        gone = server.http().get("/readyz")
        assert (gone.status_code, gone.json()["status"]) == (503, "no folder")
        (tmp_path / "elsewhere").rename(tmp_path / "spaces")


def test_the_password_of_a_url_is_shown_nowhere(bare: Cli, tmp_path: Path) -> None:
    nowhere = f"postgresql://ann:{PASSWORD}@/memories?host={tmp_path}"
    for command in (("serve", nowhere), ("--db", nowhere, "serve"), ("--db", nowhere, "keys", "create", "ann")):
        refused = bare(*command)
        assert refused.status == 1 and "Check that the server runs" in refused.problem
        assert PASSWORD not in refused.err
    assert PASSWORD not in f"{Settings(db=nowhere)!r} {Target(nowhere)!r}"


def test_a_database_that_others_can_reach_needs_a_key(bare: Cli, database: str) -> None:
    refused = bare("serve", database, "--host", "0.0.0.0")
    assert refused.status == 1 and "without a key" in refused.problem
    with memorist.open(database, space="ann", embedder="none"):
        pass
    assert "Leave --space out" in bare("--space", "a", "serve", database).problem


def test_a_lookup_of_a_key_that_fails_is_told(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Settings(db=database, embedder="none")) as server:
        monkeypatch.setattr("memorist_server.access.database.DatabaseKeys.any", lambda _: _failing())
        answer: httpx.Response = server.http().get("/v1/spaces/agent/stats")
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:memorist:store-unavailable")
        assert answer.json()["remedy"] == "Wait."
        assert server.http().get("/healthz").status_code == 200

"""Three stateless workers on one PostgreSQL: any of them answers, and one may be killed at any time."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

import memorist
from memorist_server.access.home import key_ring
from memorist_server.postgres.database import MIGRATIONS
from server_tests.rest.cluster import Cluster, Worker, workers
from tests.stores.postgres_server import new_database, running, stopped
from tests.surfaces.verbs import FILE_STORIES, STORIES

pytestmark = pytest.mark.slow
PASSWORD = "hunter2-of-the-database"


@pytest.fixture(scope="module")
def secret_url() -> Iterator[str]:
    """A server of its own, whose URL has a password that it does not ask for."""
    with running() as url:
        yield url.replace("postgres:@", f"postgres:{PASSWORD}@")


@pytest.fixture(scope="module")
def cluster(secret_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with workers(secret_url, tmp_path_factory.mktemp("cluster"), 3) as started:
        yield started


def logged(worker: Worker, message: str) -> list[dict[str, object]]:
    lines = worker.log.read_text(encoding="utf-8").splitlines()
    return [
        record for record in map(json.loads, (line for line in lines if line[0] == "{")) if record["message"] == message
    ]


def eventually(fulfilled: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not fulfilled():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_workers_that_start_together_migrate_once(cluster: Cluster) -> None:
    migrated = [record["migrations"] for worker in cluster.workers for record in logged(worker, "migrated")]
    assert migrated == [[migration.name for migration in MIGRATIONS]]


def test_a_key_used_at_all_workers_at_once_performs_the_verb_once(cluster: Cluster) -> None:
    headers, body = {"Idempotency-Key": "one"}, {"goal": "Mend the roof"}

    def post(number: int) -> httpx.Response:
        port = cluster.workers[number % 3].port
        url = f"http://127.0.0.1:{port}/v1/spaces/once/sessions"
        while (answer := httpx.post(url, json=body, headers=headers, timeout=60)).status_code == 409:
            time.sleep(0.05)
        return answer

    with ThreadPoolExecutor(9) as pool:
        answers = list(pool.map(post, range(9)))
    assert {answer.status_code for answer in answers} == {201} and len({answer.content for answer in answers}) == 1
    assert cluster.client("once").stats().memories == 1


def test_a_key_that_is_revoked_is_refused_by_every_worker_at_once(secret_url: str, tmp_path: Path) -> None:
    """On a database of its own: once there is a key, every request needs one."""
    with new_database(secret_url) as url, key_ring(url) as ring, workers(url, tmp_path, 3) as locked:
        key, secret = ring.create(space="team-*", rights="write", max_classification=1)

        def statuses(path: str, secret: str | None) -> set[int]:
            headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
            ports = (worker.port for worker in locked.workers)
            return {httpx.get(f"http://127.0.0.1:{port}{path}", headers=headers).status_code for port in ports}

        assert statuses("/v1/spaces/team-a/stats", secret) == {200}
        assert statuses("/v1/spaces/other/stats", secret) == {403}
        assert statuses("/v1/spaces", None) == {401}
        assert ring.revoke(key.id)
        assert statuses("/v1/spaces/team-a/stats", secret) == {401}


def test_the_stories_go_on_while_a_worker_is_killed(secret_url: str, tmp_path: Path) -> None:
    """Each request goes to the next worker; a third of the way through, one of them dies."""
    (tmp_path / "files").mkdir()
    with workers(secret_url, tmp_path / "logs", 3) as cluster:
        for number, story in enumerate(STORIES):
            if number == len(STORIES) // 3:
                cluster.workers[1].kill()
            story(cluster.client(uuid4().hex))
        for story in FILE_STORIES:
            story(cluster.client(uuid4().hex), tmp_path / "files")
    answered = [Counter(record["status"] for record in logged(worker, "request")) for worker in cluster.workers]
    assert all(answer[201] for answer in answered), "every worker took part"
    assert {status for answer in answered for status in answer} <= {200, 201, 404, 422}
    assert PASSWORD not in cluster.logs()


def test_nothing_acknowledged_is_lost_when_a_worker_is_killed(secret_url: str, tmp_path: Path) -> None:
    """A request that died with its worker is repeated under its key, and performed once its time is up."""
    acknowledged: dict[str, list[str]] = {"left": [], "right": []}
    steps: list[int] = []
    stop, enough = threading.Event(), threading.Semaphore(0)

    def remember(space: str) -> None:
        memory, turn = cluster.client(space, retries=100), 0
        while not stop.is_set():
            turn += 1
            acknowledged[space].append(memory.remember(f"Parcel {turn} is on the {space} shelf.").id)
            enough.release()

    def step() -> None:
        session = cluster.client("left", retries=100).session("Sort the parcels", id="run")
        while not stop.is_set():
            number = len(steps) + 1
            session.step(f"Parcel {number} is sorted.", number=number)
            steps.append(number)

    with workers(secret_url, tmp_path, 3, "--timeout", "10") as cluster, ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(remember, "left"), pool.submit(remember, "right"), pool.submit(step)]
        for number in range(60):
            assert enough.acquire(timeout=120)
            if number == 20:
                cluster.workers[0].kill()
        stop.set()
        for job in jobs:
            job.result(120)
    assert steps
    for space, ids in acknowledged.items():
        with memorist.open(secret_url, space=space, embedder="none", background=False) as engine:
            assert [id for id in ids if engine.get(id) is None] == []
            told = Counter(memory.text for memory in engine.list(10_000, kinds=["source"]).items)
        if space == "left":
            assert {told[f"Parcel {number} is sorted."] for number in steps} == {1}


def test_a_database_that_restarts_is_told_and_found_again(tmp_path: Path) -> None:
    with running() as url, workers(url, tmp_path, 1) as cluster:
        (worker,) = cluster.workers
        kept = cluster.client("agent").remember("The barn is red.")
        path = f"/v1/spaces/agent/memories/{kept.id}"
        with stopped(url):
            answer = worker.get(path)
            assert answer.status_code == 503 and answer.headers["Retry-After"] == "1"
            assert answer.json()["remedy"].startswith(("Check that the server runs", "Try again in a moment, check"))
            ready = worker.get("/readyz")
            assert (ready.status_code, ready.json()["status"]) == (503, "no database")
            assert worker.get("/healthz").status_code == 200
        eventually(lambda: worker.get(path).status_code == 200, "it recovers by itself")
        eventually(lambda: worker.get("/readyz").status_code == 200, "it is ready again")
        assert cluster.client("agent").remember("The mill is white.").id


def test_a_worker_told_to_stop_drains_first(tmp_path: Path, secret_url: str) -> None:
    with workers(secret_url, tmp_path, 1, "--drain", "3600") as cluster:
        (worker,) = cluster.workers
        worker.stop()
        eventually(lambda: worker.get("/readyz").status_code == 503, "it is no longer ready")
        assert worker.get("/readyz").json()["status"] == "stopping"
        assert worker.get("/v1/spaces").status_code == 200, "it still answers"
        worker.stop()  # a second signal does not wait
        assert worker.process.wait(60) in (0, -signal.SIGTERM)
        with pytest.raises(httpx.ConnectError):
            worker.get("/healthz")
    assert logged(worker, "Application shutdown complete.")


def test_the_time_to_drain_ends(tmp_path: Path, secret_url: str) -> None:
    with workers(secret_url, tmp_path, 1, "--drain", "0.5") as cluster:
        (worker,) = cluster.workers
        worker.stop()
        assert worker.process.wait(60) in (0, -signal.SIGTERM)
    assert logged(worker, "Application shutdown complete.")

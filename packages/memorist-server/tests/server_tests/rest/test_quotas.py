"""What a space may hold, and how often it may be asked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memorist.errors import QuotaExceeded
from memorist.ports import Held
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist_server.rest.quotas import Quota
from server_tests.rest.conftest import Serve
from tests.stores.kinds import STORES, OpenStore
from tests.upkeep.worlds import opened


def test_a_full_space_can_be_read_and_emptied_but_not_filled(serve: Serve) -> None:
    server = serve(max_memories=2)
    agent, other = server.client("agent"), server.client("other")
    first = agent.remember("qwerty lamp")
    agent.remember("asdf barn")
    adding: list[Callable[[], object]] = [
        lambda: agent.remember("one more"),
        lambda: agent.update(first.id, "the lamp is blue"),
        lambda: agent.relate("Ann", "lives_in", "Oslo"),
        lambda: agent.session("paint the barn"),
        lambda: agent.ingest([{"role": "user", "content": "hello"}]),
    ]
    for add in adding:
        with pytest.raises(QuotaExceeded, match="limit of 2 memories") as refused:
            add()
        assert "max_memories" in refused.value.remedy and "forget" in refused.value.remedy
    assert agent.recall("lamp").items[0].memory.id == first.id
    assert other.remember("the other space has room")
    agent.forget([first.id])
    assert agent.remember("zxcv room")
    with pytest.raises(QuotaExceeded):
        agent.remember("and none now")


def test_the_answer_is_a_problem_document(serve: Serve) -> None:
    with serve(max_bytes=10).http() as http:
        path = "/v1/spaces/agent/memories"
        assert http.post(path, json={"text": "0123456789"}).status_code == 201
        told = http.post(path, json={"text": "more"})
        assert (told.status_code, told.json()["type"]) == (507, "urn:memorist:quota-exceeded")
        assert "`POST /forget`" in told.json()["remedy"] and "max_bytes" in told.json()["remedy"]


def test_a_space_that_is_asked_too_often_is_told_to_wait(serve: Serve) -> None:
    with serve(space_rate=1).http() as http:
        answers = [http.get("/v1/spaces/agent/stats") for _ in range(4)]
        assert [answer.status_code for answer in answers[:2]] == [200, 200]
        assert answers[-1].status_code == 429 and int(answers[-1].headers["Retry-After"]) >= 1
        assert "space" in answers[-1].json()["detail"]
        assert http.get("/v1/spaces/other/stats").status_code == 200


@pytest.mark.parametrize("sort", STORES)
def test_what_is_held_counts_texts_of_every_version_in_bytes(sort: str, open_store: OpenStore) -> None:
    store = open_store(sort, "held")
    with opened(store) as engine:
        assert (store.held().memories, store.held().bytes) == (0, 0)
        memory = engine.remember("ö" * 5)
        assert (store.held().memories, store.held().bytes) == (1, 10)
        before = store.held().generation
        engine.update(memory.id, "x" * 7)
        assert (store.held().memories, store.held().bytes) == (2, 17)
        assert store.held(before).memories >= 1
        engine.forget([memory.id])
        assert store.held().memories == 0


def test_a_space_is_counted_once_and_again_only_when_it_seems_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    whole = SqliteStore.held

    def held(store: SqliteStore, since: int = 0) -> Held:
        asked.append(since)
        return whole(store, since)

    monkeypatch.setattr(SqliteStore, "held", held)
    quota = Quota(12, 0)
    with opened(SqliteStore.open(tmp_path / "agent.db")) as engine:
        engine.remember("lamp 0")
        for number in range(1, 12):
            quota.check(engine)
            engine.remember(f"lamp {number}")
        assert asked.count(0) == 1, "the first time"
        with pytest.raises(QuotaExceeded):
            quota.check(engine)


def test_a_revised_memory_does_not_make_a_space_look_full(tmp_path: Path) -> None:
    """Three revisions of one memory are four rows; by the sum of what changed they are seven."""
    quota = Quota(5, 0)
    with opened(SqliteStore.open(tmp_path / "agent.db")) as engine:
        memory = engine.remember("lamp")
        for text in ("lamp a", "lamp b", "lamp c"):
            quota.check(engine)
            memory = engine.update(memory.id, text)
        quota.check(engine)
        engine.remember("the fifth row")
        with pytest.raises(QuotaExceeded):
            quota.check(engine)


def test_without_a_quota_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def held(store: MemoryStore, since: int = 0) -> Held:
        raise AssertionError("counted")

    monkeypatch.setattr(MemoryStore, "held", held)
    with opened(MemoryStore()) as engine:
        Quota(0, 0).check(engine)


def test_two_clients_at_once_exceed_a_quota_by_no_more_than_the_requests_that_were_running(serve: Serve) -> None:
    most, bulk = 60, 25
    server = serve(max_memories=most)

    def fill(name: str) -> int:
        client, kept = server.client("agent"), 0
        for turn in range(8):
            try:
                kept += len(client.remember_many([f"{name} wrote line {turn} {line}." for line in range(bulk)]))
            except QuotaExceeded:
                break
        return kept

    with ThreadPoolExecutor(2) as pool:
        kept = sum(pool.map(fill, ("Ann", "Ben")))
    assert most <= kept < most + 2 * bulk
    assert server.client("agent").stats().memories == kept
    with pytest.raises(QuotaExceeded):
        server.client("agent").remember("one more")

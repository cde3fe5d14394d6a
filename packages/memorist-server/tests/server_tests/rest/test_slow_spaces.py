"""One space that is slow to open, to load or to close keeps nobody waiting who wants another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from memorist.errors import StoreError
from memorist.stores.sqlite import SqliteStore, opening
from memorist_server.rest.limits import ConcurrencyLimit
from memorist_server.rest.threads import VerbThreads
from server_tests.rest.conftest import Running, Serve

SLOW, PATIENCE = "slow", 60.0


class Gate:
    """Holds up whatever passes it for the slow space, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached = threading.Semaphore(0)
        self.open = threading.Event()
        self.passed: list[str] = []
        self._patch = monkeypatch

    def before(self, owner: Any, name: str) -> None:
        """Stand before a function that gets a store, or connections to a file, first."""
        real = getattr(owner, name)

        def held(first: Any, *args: Any, **kwargs: Any) -> Any:
            if first.path.stem == SLOW:
                self.passed.append(name)
                self.reached.release()
                assert self.open.wait(PATIENCE)
            return real(first, *args, **kwargs)

        self._patch.setattr(owner, name, held)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.open.set()


def asked(server: Running, times: int, callers: ThreadPoolExecutor) -> list[Future[Any]]:
    """Writes and questions to the slow space, all under way."""
    clients = [server.client(SLOW) for _ in range(times)]
    verbs = [one.remember if place % 2 else one.recall for place, one in enumerate(clients)]
    asked = [callers.submit(verb, f"Ann keeps lamp {place}.") for place, verb in enumerate(verbs)]
    with server.http() as http:
        while f"memorist_requests_under_way {times + 1}\n" not in http.get("/metrics").text:
            pass
    return asked


def check_served(server: Running, space: str) -> None:
    """Another space takes a write and answers a question."""
    client = server.client(space)
    kept = client.remember("The barn is red.")
    assert client.recall("Which colour is the barn?").items[0].memory.id == kept.id


def known(server: Running, space: str) -> None:
    """Make a space that is not open when the next server starts."""
    server.client(space).remember("Ann keeps a lamp.")


@pytest.mark.parametrize(("owner", "name"), [(opening, "prepare"), (SqliteStore, "view")], ids=["open", "index"])
def test_other_spaces_answer_while_one_is_opened(serve: Serve, gate: Gate, owner: Any, name: str) -> None:
    """More requests wait for the slow space than there are threads, and it is opened once for all of them."""
    known(serve(), SLOW)
    server = serve(threads=2)
    gate.before(owner, name)
    with ThreadPoolExecutor(6) as callers:
        waiting = asked(server, 6, callers)
        assert gate.reached.acquire(timeout=PATIENCE)
        for space in ("quick", "new"):
            check_served(server, space)
        assert not any(future.done() for future in waiting) and gate.passed == [name]
        gate.open.set()
        for future in waiting:
            future.result(PATIENCE)


def test_nobody_waits_until_another_space_is_closed(serve: Serve, gate: Gate) -> None:
    server = serve(open_spaces=1)
    known(server, SLOW)
    gate.before(SqliteStore, "close")
    check_served(server, "quick")
    assert gate.reached.acquire(timeout=PATIENCE) and not gate.open.is_set()
    gate.open.set()
    assert server.client(SLOW).recall("What does Ann keep?").items


def test_all_who_wait_for_a_space_that_cannot_be_opened_hear_it_and_the_next_may_try_again(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(serve(), SLOW)
    server, go = serve(threads=2), threading.Event()
    with monkeypatch.context() as broken, ThreadPoolExecutor(4) as callers:

        def fail(*_: object, **__: object) -> None:
            assert go.wait(PATIENCE)
            raise StoreError("The disk is gone", remedy="Bring it back.")

        broken.setattr(opening, "prepare", fail)
        waiting = asked(server, 4, callers)
        go.set()
        errors = [future.exception(PATIENCE) for future in waiting]
        assert {type(error).__name__ for error in errors} == {"StoreError"}
    assert server.client(SLOW).recall("What does Ann keep?").items


def test_a_time_limit_holds_for_the_opening_too(serve: Serve, gate: Gate) -> None:
    known(serve(), SLOW)
    server = serve(timeout=0.05)
    gate.before(opening, "prepare")
    answer = server.http().get(f"/v1/spaces/{SLOW}/stats")
    assert (answer.status_code, answer.json()["type"]) == (504, "urn:memorist:timed-out")
    gate.open.set()


def test_a_busy_space_leaves_a_quarter_of_the_threads_to_the_others() -> None:
    over, begun = threading.Event(), list[str]()

    def work(space: str) -> str:
        begun.append(space)
        assert space != SLOW or over.wait(PATIENCE)
        return space

    async def ask() -> None:
        threads = VerbThreads(8, ConcurrencyLimit(0))
        slow = [asyncio.ensure_future(threads.run(None, lambda: work(SLOW), None, SLOW)) for _ in range(12)]
        assert await threads.run(None, lambda: work("quick"), PATIENCE, "quick") == "quick"
        assert begun.count(SLOW) <= 6
        over.set()
        assert await asyncio.gather(*slow) == [SLOW] * 12

    try:
        asyncio.run(ask())
    finally:
        over.set()

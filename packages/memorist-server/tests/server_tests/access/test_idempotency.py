"""Answers that are stored under idempotency keys, in files and in tables."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memorist.engine.open import on_server, open_database
from memorist_server.access.database import DatabaseAnswers, SharedTables
from memorist_server.access.files import FileAnswers
from memorist_server.access.home import catalogue_of
from memorist_server.access.idempotency import KEPT, Answers, KeyReused, RequestUnderWay, Ticket

TICKET = Ticket("caller", "key", "agent", "request")
GIVEN = b'{"text":"The barn is red."}'
Open = Callable[[], Answers]


class Now:
    """A clock that all who answer share."""

    def __init__(self) -> None:
        self.at = 0.0


class AtNow(DatabaseAnswers):
    """Answers in a table, with another clock than the server's."""

    def __init__(self, tables: SharedTables, now: Now) -> None:
        super().__init__(tables)
        self._now = now

    def begin(self, ticket: Ticket, patience: float) -> bytes | None:
        self.now = self._now.at
        return super().begin(ticket, patience)


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def worker(db: str, now: Now, request: pytest.FixtureRequest) -> Open:
    """Opens the answers as another worker does."""
    catalogue = catalogue_of(db)
    catalogue.prepare()
    catalogue.close()

    def open_() -> Answers:
        made = AtNow(SharedTables(db), now) if on_server(db) else FileAnswers(Path(db), lambda: now.at)
        request.addfinalizer(made.close)
        return made

    return open_


def test_an_answer_is_kept_for_a_day_and_shared_between_workers(worker: Open, now: Now) -> None:
    first, second = worker(), worker()
    assert first.begin(TICKET, 60) is None
    first.keep(TICKET, GIVEN)
    assert second.begin(TICKET, 60) == GIVEN
    now.at = KEPT + 1
    assert second.begin(TICKET, 60) is None


def test_a_request_under_way_is_not_begun_twice_unless_it_was_given_up(worker: Open, now: Now) -> None:
    killed, living = worker(), worker()
    assert killed.begin(TICKET, 60) is None
    with pytest.raises(RequestUnderWay):
        living.begin(TICKET, 60)
    with pytest.raises(KeyReused):
        living.begin(replace(TICKET, request="another request"), 60)
    now.at = 59.9
    with pytest.raises(RequestUnderWay):
        living.begin(TICKET, 60)
    now.at = 60
    assert living.begin(TICKET, 60) is None
    with pytest.raises(RequestUnderWay):
        killed.begin(TICKET, 60)
    living.keep(TICKET, GIVEN)
    assert killed.begin(TICKET, 60) == GIVEN


def test_what_was_dropped_may_be_begun_with_another_request(worker: Open) -> None:
    answers = worker()
    answers.begin(TICKET, 60)
    answers.drop(TICKET)
    assert answers.begin(replace(TICKET, request="another request"), 60) is None
    answers.keep(TICKET, GIVEN)
    answers.drop(TICKET)  # a stored answer stays
    assert answers.begin(replace(TICKET, request="another request"), 60) == GIVEN


def test_the_same_key_of_another_caller_is_another_key(worker: Open) -> None:
    answers = worker()
    answers.begin(TICKET, 60)
    answers.keep(TICKET, GIVEN)
    assert answers.begin(replace(TICKET, caller="another"), 60) is None


def test_of_workers_that_begin_at_once_one_answers(worker: Open) -> None:
    workers, gate = [worker() for _ in range(4)], threading.Barrier(8)
    began: list[int] = []

    def begin(number: int) -> None:
        gate.wait()
        for turn in range(10):
            try:
                workers[number % 4].begin(replace(TICKET, key=f"key {turn}"), 60)
            except RequestUnderWay:
                continue
            began.append(turn)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(began) == list(range(10))


def test_forgetting_erases_what_is_no_longer_stored_and_nothing_else(worker: Open) -> None:
    """Of 3 answers about the space, one still holds; the receipt and the answer about another space stay."""
    answers = worker()
    told = {
        "same": {"id": "a", "text": "The barn is red."},
        "changed": {"id": "b", "text": "The mill is white."},
        "many": {"items": [{"id": "a", "text": "The barn is red."}, {"id": "c", "text": "The weir is old."}]},
        "receipt": {"forgotten": ["c"], "at": "2024-01-01", "pending": False},
        "odd": {"found": "a text somewhere"},
    }
    tickets = {key: replace(TICKET, key=key) for key in told} | {"there": Ticket("caller", "there", "other", "r")}
    for key, ticket in tickets.items():
        answers.begin(ticket, 60)
        answers.keep(ticket, json.dumps(told.get(key, told["changed"])).encode())
    asked: list[set[str]] = []

    def texts_of(ids: set[str]) -> dict[str, str]:
        asked.append(ids)
        return {"a": "The barn is red.", "b": "The mill is grey."}

    answers.forget("agent", texts_of)
    assert asked == [{"a", "b", "c"}]
    left = {key for key, ticket in tickets.items() if answers.begin(ticket, 60) is not None}
    assert left == {"same", "receipt", "there"}


def prepared(database: str) -> DatabaseAnswers:
    open_database(database).migrate()
    return DatabaseAnswers(SharedTables(database))


def test_answers_in_a_table_are_forgotten_page_by_page(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = prepared(database)
    tickets = [replace(TICKET, key=f"{number:04}") for number in range(1203)]
    for ticket in tickets[::100]:
        answers.begin(ticket, 60)
        answers.keep(ticket, b'{"id": "a", "text": "The barn is red."}')
    monkeypatch.setattr("memorist_server.access.database._TOLD", _in_pages_of(5))
    asked: list[set[str]] = []
    assert not answers.forget("agent", lambda ids: asked.append(ids) or {})
    assert len(asked) == 3  # 13 answers, 5 at a time
    assert answers.forget("agent", lambda ids: {})
    answers.close()


def _in_pages_of(number: int) -> str:
    from memorist_server.access import database

    return database._TOLD.replace(f"LIMIT {database.PAGE}", f"LIMIT {number}")  # pyright: ignore[reportPrivateUsage]


def test_the_tables_clock_is_the_servers(database: str) -> None:
    """No worker's own clock decides whether another was killed."""
    answers = prepared(database)
    assert answers.begin(TICKET, 60) is None
    with pytest.raises(RequestUnderWay):
        answers.begin(TICKET, 60)
    assert answers.begin(TICKET, 0) is None
    answers.close()

"""Answers that are stored under idempotency keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from memorist.access.idempotency import KEPT, Answers, KeyReused, RequestUnderWay, Ticket

TICKET = Ticket("caller", "key", "agent", "request")
GIVEN = b'{"text":"The barn is red."}'


def test_an_answer_is_kept_for_a_day_and_shared_between_processes(tmp_path: Path) -> None:
    now = 0.0
    first, second = (Answers(tmp_path, lambda: now) for _ in range(2))
    assert first.begin(TICKET, 60) is None
    first.keep(TICKET, GIVEN)
    assert second.begin(TICKET, 60) == GIVEN
    now = KEPT + 1
    assert second.begin(TICKET, 60) is None
    first.close()
    second.close()


def test_a_request_under_way_is_not_begun_twice_unless_it_was_given_up(tmp_path: Path) -> None:
    now = 0.0
    answers = Answers(tmp_path, lambda: now)
    assert answers.begin(TICKET, 60) is None
    with pytest.raises(RequestUnderWay):
        answers.begin(TICKET, 60)
    with pytest.raises(KeyReused):
        answers.begin(Ticket("caller", "key", "agent", "another request"), 60)
    now = 61
    assert answers.begin(TICKET, 60) is None
    answers.drop(TICKET)
    assert answers.begin(TICKET, 60) is None
    answers.close()


def test_the_same_key_of_another_caller_is_another_key(tmp_path: Path) -> None:
    answers = Answers(tmp_path)
    answers.begin(TICKET, 60)
    answers.keep(TICKET, GIVEN)
    assert answers.begin(Ticket("another", "key", "agent", "request"), 60) is None
    answers.close()

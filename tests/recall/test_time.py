"""Questions about a time: which window they ask for, and which memories lie in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import memorist
from memorist import Engine
from memorist.recall.prepare import Dates
from memorist.testing import FakeClock
from memorist.text.dates.numbers import iso
from tests.recall.worlds import draft, world

NOW = datetime(2025, 3, 1, 9, tzinfo=UTC)  # a Saturday


@pytest.fixture
def diary() -> Iterator[Engine]:
    """What a family said in the last weeks."""
    with memorist.open(":memory:", embedder="none", clock=FakeClock(NOW)) as memory:
        memory.remember("Kemi has squad trials at Bloc on 8 March at 10:00.", at="2025-02-27T19:00")
        memory.remember("Saturday is always swimming.", at="2025-02-12")
        memory.remember("Amina is expecting!", at="2025-02-28T21:00")
        memory.remember("Mei is away until the 14th.", at="2025-02-24T09:45")
        memory.remember("They go to Sarajevo in May.", at="2024-10-20")
        memory.remember("We were in Lisbon in May.", at="2024-10-21")
        yield memory


def inside(diary: Engine, question: str) -> list[str]:
    """The memories inside the window of a question, best first."""
    items = diary.recall(question).items
    return [item.memory.text for item in items if "temporal" in item.signals and item.signals["temporal"].norm == 1.0]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What's on next Saturday morning?", ["Kemi has squad trials at Bloc on 8 March at 10:00."]),
        ("What did we hear yesterday?", ["Amina is expecting!"]),
        ("Where do they go in May 2025?", ["They go to Sarajevo in May."]),
        ("Where were we in May 2024?", ["We were in Lisbon in May."]),
    ],
)
def test_a_day_finds_what_was_said_or_meant_then(diary: Engine, question: str, texts: list[str]) -> None:
    """Each date was understood when it was said: 8 March, said in February, was to come."""
    assert inside(diary, question) == texts


def test_what_is_next_is_what_was_announced(diary: Engine) -> None:
    ahead = inside(diary, "What are the next trials?")
    assert {"Kemi has squad trials at Bloc on 8 March at 10:00.", "They go to Sarajevo in May."} <= set(ahead)
    assert "We were in Lisbon in May." not in ahead


def test_until_a_day_means_from_when_it_was_said(diary: Engine) -> None:
    """24 February to 14 March are 19 days less 9:45 hours, of which the day asked for is the root of the share."""
    items = {item.memory.text: item.signals for item in diary.recall("Is Mei away on 5 March?").items}
    assert items["Mei is away until the 14th."]["temporal"].norm == pytest.approx((24 / (18 * 24 - 9.75)) ** 0.5)


@pytest.mark.parametrize(
    ("question", "windows"),
    [
        ("Where did we go in October?", ["2023-10-01/2023-11-01"]),
        ("Where do we go in October?", ["2024-10-01/2024-11-01"]),
        ("Who called on Friday evening?", ["2024-06-28T16:00/2024-06-28T20:00"]),
        ("Who is called on Friday?", ["2024-07-05"]),
        ("What did we buy in 2022 and in 2023?", ["2022-01-01/2023-01-01", "2023-01-01/2024-01-01"]),
        ("What do I do today?", ["2024-07-01"]),
        ("I have to decide today: what did Bo say on Thursday?", ["2024-06-27"]),
        ("Does Yusuf smoke at the moment?", []),
        ("On which day in May did we meet?", ["2024-05-01/2024-06-01"]),
        ("When do we go home after Christmas?", []),
        ("What do we do after Christmas?", ["2024-12-26/.."]),
        ("When is my next appointment?", ["2024-07-01/.."]),
        ("Who lives next door?", []),
    ],
)
def test_a_question_is_read_on_a_monday_in_july(question: str, windows: list[str]) -> None:
    with world() as env:
        query = Dates()(draft(query=question), env).query
    assert [iso(*window) for window in query.windows] == windows
    assert query.is_dated == any(".." not in window for window in windows)

"""A memory of something that is still to happen is found and marked, and stays out of a look at another time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memorist.model import Filter
from memorist.ports import Store
from memorist.testing import FakeClock
from tests.recall.worlds import NOW
from tests.recipes.worlds import ids, near, opened

AHEAD = datetime(2024, 9, 12, 9, tzinfo=UTC)
QUERY = "When do I see the dentist?"


@pytest.mark.parametrize("recipe", ["memorist", "nearest"])
def test_an_appointment_is_found_and_marked(store: Store, recipe: str) -> None:
    vectors = {QUERY: near(1.0), "I see the dentist.": near(0.9)}
    with opened(recipe=recipe, store=store, clock=FakeClock(NOW), vectors=vectors) as engine:
        kept = engine.remember("I see the dentist.", at=AHEAD)
        found = engine.recall(QUERY)
        assert ids(found) == [kept.id] and "planned for 2024-09-12" in found.items[0].notes
        assert "(planned for 2024-09-12) I see the dentist." in found.context
        assert [memory.id for memory in engine.list().items] == [kept.id]


def test_an_appointment_is_no_longer_planned_once_it_was(store: Store) -> None:
    clock = FakeClock(NOW)
    with opened(store=store, clock=clock) as engine:
        engine.remember("I see the dentist.", at=AHEAD)
        clock.set(AHEAD + timedelta(days=1))
        assert engine.recall(QUERY).items[0].notes == ()


def test_another_time_shows_only_what_had_begun(store: Store) -> None:
    with opened(store=store, clock=FakeClock(NOW)) as engine:
        kept = engine.remember("I see the dentist.", at=AHEAD)
        assert ids(engine.recall(QUERY, as_of=NOW)) == []
        assert ids(engine.recall(QUERY, as_of=AHEAD)) == [kept.id]
        assert ids(engine.recall(QUERY, known_at=NOW - timedelta(days=1))) == []


def test_a_fact_from_a_later_day_waits_for_it(store: Store) -> None:
    with opened(store=store, clock=FakeClock(NOW)) as engine:
        engine.relate("Ana", "lives_in", "Oslo", valid_from=AHEAD)
        assert [memory.fact for memory in engine.list().items if memory.fact] == []


def test_every_store_lists_the_same(store: Store) -> None:
    where = Filter(as_of=NOW, planned=True)
    with opened(store=store, clock=FakeClock(NOW)) as engine:
        engine.remember("I see the dentist.", at=AHEAD)
        engine.remember("A rule for later.", kind="semantic", at=AHEAD)
        assert [memory.text for memory in store.scan(where, 10).items] == ["I see the dentist."]

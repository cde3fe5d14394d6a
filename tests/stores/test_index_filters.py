"""Filters over the index's columns, and times as numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.model import Filter, Kind, Memory, Tier, Times, Worth, instant
from memorist.stores.index import Index, entry_of, index, micros, moment
from memorist.stores.index.filtering import filter_mask
from memorist.testing.world import memory

START = instant("2024-01-01")
moments = st.integers(0, 4).map(lambda days: START + timedelta(days=days))
maybe = st.none() | moments
scopes = st.sampled_from(("global", "user:a", "user:b"))
topics = st.none() | st.sampled_from(("", "home", "work"))

memories = st.builds(
    Memory,
    id=st.uuids().map(str),
    text=st.just("a lamp"),
    times=st.builds(Times, moments, moments, maybe, maybe, maybe),
    kind=st.sampled_from(Kind),
    scope=scopes,
    tier=st.sampled_from(Tier),
    topic=topics,
    worth=st.integers(0, 3).map(lambda number: Worth(classification=number)),
)
labels = st.builds(
    Filter,
    scopes=st.none() | st.lists(scopes, max_size=2).map(tuple),
    kinds=st.none() | st.lists(st.sampled_from(Kind), max_size=6).map(tuple),
    topic=topics,
    tier=st.none() | st.sampled_from(Tier),
    max_classification=st.integers(0, 3),
)
clocks = st.builds(
    Filter,
    since=st.none() | st.just(START + timedelta(days=1)),
    until=st.none() | st.just(START + timedelta(days=3)),
    as_of=maybe,
    known_at=maybe,
    include_expired=st.booleans(),
)
both = st.builds(lambda one, other: replace(one, as_of=other.as_of, known_at=other.known_at), labels, clocks)


@pytest.mark.parametrize("filters", [labels, clocks, both], ids=["labels", "clocks", "both"])
@settings(deadline=None)
@given(data=st.data())
def test_a_search_admits_what_the_filter_does(filters: st.SearchStrategy[Filter], data: st.DataObject) -> None:
    world = data.draw(st.lists(memories, min_size=4, max_size=12, unique_by=lambda one: one.id))
    wheres = data.draw(st.lists(filters, min_size=4, max_size=12))
    made = Index()
    made.apply([entry_of(memory, {}) for memory in world], (), generation=1)
    view = made.view()
    for where in wheres * 2:  # the second time from the cache
        found = {hit.id for hit in view.search_text("lamp", where, 100)}
        assert found == {memory.id for memory in world if where.admits(memory)}


def test_a_filter_is_applied_again_when_its_clock_passes_a_beginning_or_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One lamp from day 0 to day 2, known since day 0; one from day 1, known since day 3."""
    applied: list[Filter] = []

    def counted(where: Filter, *rest: Any) -> Any:
        applied.append(where)
        return filter_mask(where, *rest)

    monkeypatch.setattr(index, "filter_mask", counted)
    days = [START + timedelta(days=day) for day in range(6)]
    short = Memory("short", "a lamp", Times(days[0], days[0], valid_to=days[2], expired_at=days[0]))
    late = Memory("late", "a lamp", Times(days[1], days[3]))
    made = Index()
    made.apply([entry_of(memory, {}) for memory in (short, late)], (), generation=1)

    def found(as_of: datetime, known_at: datetime) -> list[str]:
        return [hit.id for hit in made.view().search_text("lamp", Filter(as_of=as_of, known_at=known_at), 9)]

    hour = timedelta(hours=1)
    assert found(days[0], days[0]) == found(days[0] + hour, days[0] + hour) == ["short"] and len(applied) == 1
    assert found(days[1], days[1]) == ["short"] and len(applied) == 2  # the other one begins, but nobody knows it
    assert found(days[1], days[3]) == ["late", "short"] and len(applied) == 3
    assert found(days[2], days[3]) == found(days[5], days[5]) == ["late"] and len(applied) == 4
    assert found(days[1], days[3]) == ["late", "short"] and len(applied) == 5  # a clock that goes back


def test_a_label_that_nobody_has_any_more_admits_nobody() -> None:
    made = Index()
    made.apply([entry_of(memory("a lamp", id="x", scope="user:a"), {})], (), generation=1)
    made.apply([entry_of(memory("a lamp", id="x", scope="user:b"), {})], (), generation=2)
    assert made.view().search_text("lamp", Filter(scopes=("user:a",)), 5) == []


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_survive_as_numbers(time: datetime) -> None:
    assert moment(micros(time)) == time


@pytest.mark.parametrize(
    ("time", "number"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), -1),
        (datetime(1, 1, 1, tzinfo=UTC), -62_135_596_800_000_000),
        (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), 253_402_300_799_999_999),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), -62_135_647_200_000_000),
        (datetime(1970, 1, 1), 0),  # naive: UTC
    ],
)
def test_moments_in_microseconds(time: datetime, number: int) -> None:
    assert micros(time) == number

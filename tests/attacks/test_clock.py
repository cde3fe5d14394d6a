"""A clock that goes back breaks nothing: no memory ends before it begins, and no verb fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist import Engine
from memorist.model import Filter, Memory
from memorist.ports import Kept
from memorist.stores.memory import MemoryStore
from memorist.testing import FakeClock

HOUR = timedelta(hours=1)


def in_order(memory: Memory) -> bool:
    """Whether a memory's times are in order on both clocks."""
    times = memory.times
    ends: list[tuple[datetime, datetime | None]] = [
        (times.valid_from, times.valid_to),
        (times.ingested_at, times.expired_at),
        (times.ingested_at, times.retracted_at),
    ]
    return all(end is None or start <= end for start, end in ends)


def all_in_order(engine: Engine) -> bool:
    return all(in_order(record.memory) for record in engine.store.records() if isinstance(record, Kept))


def newest(engine: Engine) -> Memory:
    return list(engine.store.scan(Filter(), 1000).items)[-1]


def _ending(engine: Engine, end: Callable[[str], object]) -> None:
    memory = newest(engine)
    if memory.times.valid_to is None and memory.times.retracted_at is None and memory.version_of is None:
        end(memory.id)


def _session(engine: Engine) -> None:
    with engine.session("Repair the pump", "run") as session:
        session.step("The pump makes no sound.", "Check the fuse.", 1.0)


ACTS: dict[str, Callable[[Engine, int], object]] = {
    "remember": lambda engine, n: engine.remember(f"Parcel {n} came."),
    "under a key": lambda engine, n: engine.remember(f"The code is {n}.", key="code"),
    "the same again": lambda engine, n: engine.remember("The lamp is on."),
    "state": lambda engine, n: engine.remember(f"I live in {('Oslo', 'Rome', 'Bonn')[n % 3]}.", speaker="Ann"),
    "relate": lambda engine, n: engine.relate("Ann", "lives_in", ("Oslo", "Rome", "Bonn")[n % 3]),
    "invalidate": lambda engine, n: _ending(engine, engine.invalidate),
    "outdated": lambda engine, n: _ending(engine, lambda id: engine.feedback(id, "outdated")),
    "hide": lambda engine, n: _ending(engine, lambda id: engine.feedback(id, "hide")),
    "session": lambda engine, n: _session(engine),
    "ingest": lambda engine, n: engine.ingest([{"role": "user", "content": f"Turn {n}."}], session="s"),
    "recall": lambda engine, n: engine.recall("Where does Ann live?"),
    "tidy": lambda engine, n: engine.tidy(dry_run=False),
    "sleep": lambda engine, n: engine.sleep(dry_run=False),
    "audit": lambda engine, n: engine.audit(fix=True),
    "consolidate": lambda engine, n: engine.consolidate(),
    "work": lambda engine, n: engine.work(),
}


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.integers(-2000, 2000)), min_size=1, max_size=12))
def test_no_memory_ends_before_it_begins_whatever_the_clock_does(run: list[tuple[str, int]]) -> None:
    clock = FakeClock()
    with Engine(MemoryStore(), clock=clock, background=False) as engine:
        engine.remember("The lamp is on.")
        for number, (act, hours) in enumerate(run):
            clock.advance(hours * HOUR)
            ACTS[act](engine, number)
            assert all_in_order(engine), act


@pytest.mark.parametrize("act", sorted(ACTS))
def test_each_verb_survives_a_clock_that_went_back(act: str) -> None:
    clock = FakeClock()
    with Engine(MemoryStore(), clock=clock, background=False) as engine:
        for again in range(4):
            for number, name in enumerate(("remember", "under a key", "state", "relate", act)):
                clock.advance(-HOUR)
                ACTS[name](engine, number + again)
        assert all_in_order(engine)


def test_what_is_kept_after_the_clock_went_back_is_recalled() -> None:
    clock = FakeClock()
    with Engine(MemoryStore(), clock=clock, background=False) as engine:
        engine.remember("The code is four.", key="code")
        clock.advance(-100 * HOUR)
        assert engine.remember("The code is nine.", key="code").outcome == "merged"
        assert [item.memory.text for item in engine.recall("What is the code?").items] == ["The code is nine."]

"""Changes: checked as they are written, journalled, and undone, one by one or as a run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memorist.errors import InvalidInput, NotFound
from memorist.model import Link, Memory, Tier, Usage
from memorist.ports import Batch, Entry, Store
from memorist.remember.record import record
from memorist.results.upkeep import Change
from memorist.stores.memory import MemoryStore
from memorist.upkeep.change import PendingWrite, apply_changes, batch_of, end_memory, retract_memory, undo, write

NOW = datetime(2024, 7, 1, 12, tzinfo=UTC)
LAMP, DOOR = record("The lamp is red.", NOW), record("The door is green.", NOW)


def store_with(*memories: Memory) -> MemoryStore:
    store = MemoryStore()
    store.put(Batch(memories=memories))
    return store


def now_of(store: Store, memory: Memory) -> Memory:
    return store.get([memory.id])[memory.id]


def moved(memory: Memory, tier: Tier) -> Change:
    return Change("tier", memory.id, f"moves to {tier}", ((memory, replace(memory, tier=tier)),))


def unkept(memory: Memory) -> None:
    raise AssertionError(f"{memory.id} was not held back")


def test_each_change_sees_the_ones_before_it_and_a_run_is_undone_backwards() -> None:
    store = store_with(LAMP)
    lamp = now_of(store, LAMP)
    up = moved(lamp, Tier.CORE)
    then = Change("end", lamp.id, "is over", ((up.pairs[0][1], end_memory(up.pairs[0][1], NOW, NOW, DOOR.id)),))
    made, run = apply_changes(store, [up, then], "tidy", NOW)
    assert made == (up, then)
    after = now_of(store, LAMP)
    assert (after.tier, after.times.valid_to, after.superseded_by) == (Tier.CORE, NOW, DOOR.id)
    undone = undo(store, run, NOW, unkept)
    assert (undone.id, undone.subjects) == (run, (lamp.id,))
    assert now_of(store, LAMP) == lamp
    with pytest.raises(InvalidInput, match="undone already"):
        undo(store, run, NOW, unkept)


def test_a_change_of_a_memory_that_is_no_longer_as_planned_is_left_out() -> None:
    store = store_with(LAMP, DOOR)
    lamp, door = now_of(store, LAMP), now_of(store, DOOR)
    store.put(Batch(revised=[replace(lamp, topic="light")]))
    made, _ = apply_changes(store, [moved(lamp, Tier.CORE), moved(door, Tier.CORE)], "tidy", NOW)
    assert [change.id for change in made] == [door.id]
    assert now_of(store, LAMP).tier is Tier.WORKING
    assert [entry.subjects for entry in store.journal("tidy")] == [(door.id,)]


def test_links_usage_and_retraction_are_journalled_and_undone() -> None:
    store = store_with(LAMP, DOOR)
    link, gone = Link(LAMP.id, "near", DOOR.id), Link(DOOR.id, "near", LAMP.id)
    store.put(Batch(links=[gone]))
    lamp = now_of(store, LAMP)
    after = replace(retract_memory(lamp, NOW), usage=Usage(3, NOW, (NOW,) * 3))
    change = Change("merge", lamp.id, "says the same", ((lamp, after),), (link,), (gone,))
    _, run = apply_changes(store, [change], "tidy", NOW)
    assert now_of(store, LAMP) == after
    assert store.links([LAMP.id]) == [link]
    (entry,) = store.journal("tidy")
    assert entry.data["run"] == run and entry.data["reason"] == f"{lamp.id} says the same"
    undo(store, entry.id, NOW, unkept)
    assert now_of(store, LAMP) == lamp
    assert store.links([LAMP.id]) == [gone]


def test_a_final_change_keeps_no_trace_of_what_was_and_is_not_undone() -> None:
    store = store_with(LAMP)
    lamp = now_of(store, LAMP)
    change = replace(moved(lamp, Tier.CORE), final="it is gone for good")
    write(store, lambda pending: pending.add(batch_of(change, Entry("e", NOW, "audit", (lamp.id,)))))
    assert store.journal()[0].data == {"final": "it is gone for good"}
    with pytest.raises(InvalidInput, match="cannot be undone: it is gone for good"):
        undo(store, "e", NOW, unkept)
    with pytest.raises(NotFound):
        undo(store, "another", NOW, unkept)


def test_a_plan_that_the_store_runs_twice_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_with(LAMP)
    lamp = now_of(store, LAMP)
    update = store.update
    monkeypatch.setattr(store, "update", lambda plan: update(lambda reader: (plan(reader), plan(reader))[1]))

    def plan(pending: PendingWrite) -> int:
        pending.add(batch_of(moved(lamp, Tier.CORE), Entry("e", NOW, "tidy", (lamp.id,))))
        return len(pending.batch().journal)

    assert write(store, plan) == 1
    assert [entry.id for entry in store.journal()] == ["e"]

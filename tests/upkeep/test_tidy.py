"""Tidying: what it may touch, each rule by hand, a dry run that tells all, and an undo that restores all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput
from memorist.model import (
    HIERARCHY,
    MEMBERSHIP,
    PROVENANCE,
    Kind,
    Link,
    Memory,
    Origin,
    Tier,
    Times,
    Usage,
    Worth,
    to_data,
)
from memorist.ports import Batch, Store
from memorist.ports.notices import Notice, Notices
from memorist.results.upkeep import Change, Tidying
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import START, FakeClock, FakeEmbedder
from tests.recipes.worlds import near
from tests.recorded_run import GOAL, STEPS
from tests.upkeep.worlds import answers, fill, opened

DAY = timedelta(days=1)
KEYS = {Kind.SEMANTIC: "proposition", Kind.PROCEDURAL: "procedure", Kind.TAG: "tag", Kind.INTENT: "intent"}


def node(id: str, text: str | None = None, *, kind: Kind = Kind.SEMANTIC, age: float = 0, **fields: Any) -> Memory:
    """Something that a session taught, so many days ago."""
    learnt = START - age * DAY
    origin = Origin(source="session/run", session="run", key=f"{KEYS[kind]}/{id}")
    told = text or f"It works with {id}."
    return Memory(id, told, Times(learnt, learnt), kind=kind, origin=origin, metadata={"by": "rules"}, **fields)


def said(id: str, text: str = "It was said.", age: float = 0, **fields: Any) -> Memory:
    return Memory(id, text, Times(START - age * DAY, START - age * DAY), **fields)


def used(recalls: int = 0, rewards: tuple[float, ...] = (), age: float = 0) -> Usage:
    times = (START - age * DAY,) * min(recalls, 20)
    return Usage(recalls, times[-1] if times else None, times, len(rewards), sum(rewards))


def engine_with(
    *memories: Memory,
    links: tuple[Link, ...] = (),
    vectors: Mapping[str, Sequence[float]] | None = None,
    told: list[Notice] | None = None,
) -> Engine:
    store = MemoryStore()
    store.adopt("chosen:6", 6)
    rows = {id: {"text": np.array(row, np.float32)} for id, row in (vectors or {}).items()}
    store.put(Batch(memories, rows, links))
    notices = Notices(told.append if told is not None else lambda notice: None)
    return Engine(store, clock=FakeClock(), notices=notices, background=False)


def done(engine: Engine, dry_run: bool = False) -> list[tuple[str, str]]:
    return [(change.rule, change.id) for change in engine.tidy(dry_run=dry_run).changes]


def lived_in(store: Store) -> Engine:
    """A memory with a session's lessons, old and new, and everything else there is."""
    engine = opened(store)
    fill(engine)
    clock: FakeClock = engine._clock  # pyright: ignore[reportPrivateUsage, reportAssignmentType]
    for name in ("one", "two"):
        with engine.session(GOAL, name) as session:
            for step in STEPS:
                session.step(f"{step.observation} ({name})", step.action, step.reward)
    clock.advance(40 * DAY)
    engine.recall("the timeout of the sync")
    alike = [
        node("lamp-1", "The lamp in the hall was red.", usage=used(3, (0.9,))),
        node("lamp-2", "the lamp in the hall  was red", usage=used(5, (0.4, 0.6))),
        node("tag", "lamp", kind=Kind.TAG),
    ]
    embedder = FakeEmbedder()
    rows = embedder.embed([memory.text for memory in alike], purpose="memory")
    vectors = {one.id: {"text": row} for one, row in zip(alike, rows, strict=True)}
    links = [Link("lamp-1", MEMBERSHIP, "tag"), Link("lamp-2", PROVENANCE, engine.list().items[0].id)]
    recent = [replace(memory, times=Times(clock.now(), clock.now())) for memory in alike]
    store.put(Batch(recent, vectors, links))
    return engine


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "it.db")


QUESTIONS = ("why does the nightly sync stop?", "the lamp in the hall", "Where does Alice live?", "parking permit")


def test_a_dry_run_tells_exactly_what_a_run_does_and_undo_restores_every_answer(store: Store) -> None:
    engine = lived_in(store)
    before = answers(engine, QUESTIONS)
    planned = engine.tidy()
    assert planned.run is None and answers(engine, QUESTIONS) == before
    tidied = engine.tidy(dry_run=False)
    assert tidied.changes == planned.changes
    assert {"decay", "merge", "orphan", "expire"} <= tidied.counts.keys()
    assert answers(engine, QUESTIONS) != before
    assert engine.tidy().changes == ()
    undone = engine.undo(tidied.run or "")
    assert undone.data["reason"] == f"{len(tidied.changes)} changes of tidy"
    assert answers(engine, QUESTIONS) == before
    assert engine.tidy().changes == planned.changes
    with pytest.raises(InvalidInput, match="undone already"):
        engine.undo(tidied.run or "")
    engine.close()


def test_what_was_said_expires_and_moves_between_tiers_and_keeps_its_text(store: Store) -> None:
    engine = lived_in(store)
    engine.remember("Deploys need two reviews.", kind="semantic", at="2020-01-01", ingested_at="2020-01-01")
    engine.remember("Oil the hinge.", kind="procedural", at="2020-01-01", ingested_at="2020-01-01", tier="core")
    tidied = engine.tidy()
    verbatim = {
        after.id: change.rule
        for change in tidied.changes
        for before, after in change.pairs
        if not (before.metadata.get("by") and (before.origin.key or "").partition("/")[0] in KEYS.values())
    }
    assert set(verbatim.values()) == {"expire", "tier"}
    for change in tidied.changes:
        for before, after in change.pairs:
            assert after.text == before.text and after.fact is None
    engine.close()


def test_expiry_closes_at_the_memorys_own_moment() -> None:
    times = replace(said("a").times, valid_from=START - 9 * DAY, expires_at=START - 2 * DAY)
    engine = engine_with(replace(said("a"), times=times), said("b"))
    assert done(engine) == [("expire", "a")]
    ended = engine.store.get(["a"])["a"].times
    assert (ended.valid_to, ended.expired_at) == (START - 2 * DAY, START)


@pytest.mark.parametrize(
    ("recalls", "rewards", "days", "stays"),
    [
        (0, (), 4.5, True),  # 0.3 · exp(−0.01 · 108) = 0.1019
        (0, (), 4.6, False),  # 0.3 · exp(−0.01 · 110.4) = 0.0995
        (20, (), 8.5, True),  # 0.8 · exp(−2.04) = 0.104
        (20, (0.0,), 8.5, False),  # 0.5 · 0.104
    ],
)
def test_a_node_decays_when_recency_times_frequency_times_reward_falls_below_a_tenth(
    recalls: int, rewards: tuple[float, ...], days: float, stays: bool
) -> None:
    told: list[Notice] = []
    one = node("a", age=days, usage=used(recalls, rewards, days))
    engine = engine_with(one, said("s"), links=(Link("a", PROVENANCE, "s"),), told=told)
    assert (("decay", "a") in done(engine)) is not stays
    assert ([notice.kind for notice in told] == ["decay"]) is not stays


def test_what_decayed_and_is_learnt_again_comes_back() -> None:
    engine = engine_with(node("a", age=30), said("s", age=30), links=(Link("a", PROVENANCE, "s"),))
    assert done(engine) == [("decay", "a")]
    clock: FakeClock = engine._clock  # pyright: ignore[reportPrivateUsage, reportAssignmentType]
    again = said("again", age=-1)
    clock.advance(2 * DAY)
    engine.store.put(Batch([again], links=[Link("a", PROVENANCE, "again")]))
    engine.store.touch(["a"], clock.now())
    assert done(engine) == [("revive", "a")]
    assert engine.store.get(["a"])["a"].worth.flags == ()


@pytest.mark.parametrize(
    ("tier", "recalls", "days", "worth", "becomes"),
    [
        (Tier.PERIPHERAL, 3, 1, Worth(), Tier.WORKING),  # 0.4 · 0.99 + 0.3 · 0.45 + 0.15 = 0.68
        (Tier.PERIPHERAL, 2, 1, Worth(), Tier.PERIPHERAL),
        (Tier.WORKING, 10, 0, Worth(importance=0.8), Tier.CORE),  # 0.4 + 0.3 · 0.816 + 0.24 = 0.885
        (Tier.WORKING, 10, 0, Worth(importance=0.7), Tier.WORKING),
        (Tier.WORKING, 9, 0, Worth(importance=0.8), Tier.WORKING),
        (Tier.CORE, 0, 0, Worth(), Tier.CORE),
    ],
)
def test_tiers_go_up_and_down_by_mnemos_rules(
    tier: Tier, recalls: int, days: float, worth: Worth, becomes: Tier
) -> None:
    one = node("a", age=days, tier=tier, worth=worth, usage=used(recalls, age=days))
    engine = engine_with(one, said("s"), links=(Link("a", PROVENANCE, "s"),))
    engine.tidy(dry_run=False)
    assert engine.store.get(["a"])["a"].tier is becomes


@pytest.mark.parametrize(("confidence", "becomes"), [(1.0, Tier.PERIPHERAL), (0.95, Tier.WORKING)])
def test_a_text_that_nobody_rated_needs_more_to_rise(confidence: float, becomes: Tier) -> None:
    """After 31 days 0.4 · 0.389 + 0.3 · 0.451 = 0.291, and 0.15 · 0.7 = 0.105 or 0.15 · 0.95 = 0.1425; it takes 0.4."""
    one = said("a", age=31, tier=Tier.PERIPHERAL, worth=Worth(confidence=confidence), usage=used(3, age=31))
    engine = engine_with(one)
    engine.tidy(dry_run=False)
    assert engine.store.get(["a"])["a"].tier is becomes


def test_remembered_texts_move_between_tiers_and_undo_brings_them_back(store: Store) -> None:
    """Three recalls lift a peripheral memory, sixty idle days lower a working one; what was made core stays core."""
    clock = FakeClock(START)
    with Engine(store, clock=clock, background=False) as engine:
        rose = engine.remember("The harbour office opens at nine.", tier="peripheral").id
        fell = engine.remember("The old lamp was sold.").id
        core = engine.remember("Alice is allergic to peanuts.", tier="core", importance=0.1).id
        noise = engine.remember("Thanks!").id
        clock.advance(61 * DAY)
        for _ in range(3):
            engine.recall("harbour office", limit=1)
            engine.recall("thanks", limit=1)

        def tiers() -> dict[str, str]:
            return {id: str(one.tier) for id, one in store.get([rose, fell, core, noise]).items()}

        before = tiers()
        tidied = engine.tidy(dry_run=False)
        assert {change.id: change.reason.partition(":")[0] for change in tidied.changes if change.rule == "tier"} == {
            rose: "peripheral → working",
            fell: "working → peripheral",
        }
        assert tiers() == {rose: "working", fell: "peripheral", core: "core", noise: "peripheral"}
        assert engine.list(tier="working").items[0].text == "The harbour office opens at nine."
        engine.undo(tidied.run or "")
        assert tiers() == before


def test_idle_nodes_go_to_the_edge_after_sixty_days() -> None:
    """What has no usage does not decay, so that tiers alone are looked at."""
    engine = engine_with(node("a", age=61, usage=None), node("b", age=59, usage=None))
    tidied = [change for change in engine.tidy().changes if change.rule == "tier"]
    assert [change.id for change in tidied] == ["a"]
    assert tidied[0].pairs[0][1].tier is Tier.PERIPHERAL


def test_the_better_of_two_alike_survives_with_both_histories() -> None:
    better = node("a", "The cache is warm in the morning.", usage=used(2, (0.9, 0.7)))
    worse = node("b", "the cache is  warm in the morning", usage=used(3, (0.2,)))
    links = (Link("b", PROVENANCE, "s"), Link("b", MEMBERSHIP, "t"), Link("a", PROVENANCE, "r"))
    vectors = {"a": near(1.0), "b": near(0.86), "s": near(0.9), "r": near(0.9)}
    nodes = (better, worse, node("t", "cache", kind=Kind.TAG), said("s"), said("r"))
    engine = engine_with(*nodes, links=links, vectors=vectors)
    tidied = engine.tidy(dry_run=False)
    assert [(change.rule, change.id) for change in tidied.changes] == [("merge", "b")]
    kept = engine.store.get(["a", "b"])
    assert kept["b"].superseded_by == "a" and kept["b"].times.retracted_at == START
    assert kept["a"].usage == Usage(5, START, (START,) * 5, 3, 0.9 + 0.7 + 0.2)
    assert Link("a", PROVENANCE, "s") in engine.store.links(["a"])
    assert Link("a", MEMBERSHIP, "t") in engine.store.links(["a"])
    engine.store.touch(["a"], START + DAY)
    engine.undo(tidied.run or "")
    restored = engine.store.get(["a", "b"])
    assert restored["b"] == worse
    now = restored["a"].usage
    assert now is not None and now.mean_reward == pytest.approx(0.8)
    assert replace(now, reward_total=0.0) == Usage(3, START + DAY, (START, START, START + DAY), 2)
    assert set(engine.store.links(["a", "b"])) == set(links)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The timeout is 30 seconds.", "The timeout is 90 seconds."),
        ("The timeout is thirty seconds.", "The timeout is ninety seconds."),
        ("Deploys to Heron need a review.", "Deploys to Pelican need a review."),
        ("Deploys need a review.", "Deploys do not need a review."),
        ("Restart it before the sync.", "Restart it after the sync."),
        ("Anna owns the runbook.", "Oslo owns the runbook."),
        ("Anna likes the runbook.", "Anna hates the runbook."),
        ("The blood type is O+.", "The blood type is O-."),
    ],
)
def test_different_statements_are_never_merged(one: str, other: str) -> None:
    engine = engine_with(node("a", one), node("b", other), vectors={"a": near(1.0), "b": near(0.99)})
    assert ("merge", "b") not in done(engine) and ("merge", "a") not in done(engine)


def test_scopes_are_never_merged() -> None:
    here, there = (node(id, "It works.", scope=f"user:{id}") for id in "ab")
    assert done(engine_with(here, there, vectors={"a": near(1.0), "b": near(1.0)})) == []


@pytest.mark.parametrize(
    ("cosine", "rewards", "mean"),
    [(None, (0.8, 0.6), 0.4), (None, (0.2,), 0.0), (0.2, (0.8, 0.6), 0.6), (0.4, (0.8, 0.6), 0.7)],
)
def test_ungrounded_nodes_lose_some_of_their_reward_once(
    cosine: float | None, rewards: tuple[float, ...], mean: float
) -> None:
    links = () if cosine is None else (Link("a", PROVENANCE, "s"),)
    vectors = {"a": near(1.0), "s": near(cosine or 0.0)}
    before = node("a", usage=used(9, rewards))
    engine = engine_with(before, said("s"), links=links, vectors=vectors)
    tidied = engine.tidy(dry_run=False)
    after = engine.store.get(["a"])["a"].usage
    assert after is not None and after.mean_reward == pytest.approx(mean)
    assert engine.tidy().changes == ()
    if tidied.run is not None:
        engine.undo(tidied.run)
    assert engine.store.get(["a"])["a"] == before


def test_tags_and_intents_that_lead_to_nothing_are_dropped_and_come_back_with_members() -> None:
    tag, intent, used_tag = (node(id, id, kind=kind) for id, kind in
                             (("t", Kind.TAG), ("i", Kind.INTENT), ("u", Kind.TAG)))  # fmt: skip
    old = node("old", age=30, kind=Kind.PROCEDURAL)
    links = (Link("a", MEMBERSHIP, "u"), Link("old", HIERARCHY, "i"))
    engine = engine_with(tag, intent, used_tag, old, node("a"), links=links)
    assert done(engine) == [("decay", "old"), ("orphan", "t"), ("orphan", "i")]
    engine.store.put(Batch(links=[Link("a", MEMBERSHIP, "t")]))
    assert done(engine) == [("revive", "t")]
    assert engine.store.get(["t"])["t"] == tag


def test_what_changed_between_plan_and_write_is_left_alone() -> None:
    engine = engine_with(node("a", age=30), node("b", age=30))
    store: Any = engine.store
    update = store.update

    def meanwhile(plan: Any, draft: Any = None) -> Any:
        store.touch(["a"], START)
        return update(plan, draft)

    store.update = meanwhile
    tidied: Tidying = engine.tidy(dry_run=False)
    assert [change.id for change in tidied.changes] == ["b"]
    assert engine.store.get(["a"])["a"].times.valid_to is None


def test_a_change_as_json_tells_what_it_moves() -> None:
    (change,) = engine_with(node("a", age=30)).tidy().changes
    assert isinstance(change, Change)
    data = to_data(change)
    assert (data["rule"], data["id"]) == ("decay", "a")
    assert data["changes"]["a"]["before"]["valid_to"] is None

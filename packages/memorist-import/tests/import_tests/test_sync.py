"""Sync: replicas that change apart and meet in a folder, in any order, agree in the end and forget together."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memorist
from import_tests.replicas import SECRET, Replica, agree, holding, live, meet
from memorist.engine.engine import up_to
from memorist.errors import InvalidInput, TooClassified
from memorist.model import Tier
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import START, FakeEmbedder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def pair(folder: Path) -> tuple[Replica, Replica]:
    return Replica(folder), Replica(folder)


# Meeting


def test_a_memory_comes_as_it_was_said_with_both_clocks(pair: tuple[Replica, Replica]) -> None:
    here, there = pair
    kept = here.engine.remember("Alice moved to Stockholm.", at="2024-06-03", metadata={"n": [1, None]}, key="alice")
    here.engine.remember("Alice moved to Malmö.", at="2024-06-20", key="alice")
    here.sync()
    there.clock.advance(timedelta(days=9))
    done = there.sync()
    assert (done.came.memories, done.went.memories) == (2, 0)
    assert [version.text for version in there.engine.history(kept.id)] == [
        "Alice moved to Malmö.",
        "Alice moved to Stockholm.",
    ]
    assert there.engine.get(kept.id) == here.engine.get(kept.id)
    assert there.store.get([kept.id])[kept.id].times.ingested_at == START
    agree(here, there)


def test_a_second_sync_moves_nothing_and_writes_nothing(pair: tuple[Replica, Replica], folder: Path) -> None:
    for replica in pair:
        live(replica, random.Random(7), 8)
    meet(pair)
    files, journals = sorted(os.listdir(folder)), [replica.store.journal(limit=1000) for replica in pair]
    for replica in pair:
        done = replica.sync()
        assert not done.came and not done.went and not done.skipped and not done.renewed
    assert sorted(os.listdir(folder)) == files
    assert [replica.store.journal(limit=1000) for replica in pair] == journals


def test_a_dry_run_tells_what_a_run_does(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    here.engine.remember("Bo is allergic to nuts.")
    here.engine.relate("Ann", "lives_in", "Oslo")
    would = here.sync(dry_run=True)
    assert not folder.exists() and not here.store.journal("sync")
    assert (would.came, would.went) == ((done := here.sync()).came, done.went) and done.went.facts == 2
    would = there.sync(dry_run=True)
    assert not there.store.stats().memories
    assert would.came == there.sync().came == done.went


def test_where_nothing_changed_a_dry_run_reads_no_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replica = Replica(folder)
    replica.engine.remember("Alice lives in Oslo.")
    assert replica.sync().went.memories == 1
    with monkeypatch.context() as patched:
        patched.setattr(replica.store, "records", None)
        done = replica.sync(dry_run=True)
        assert done.dry_run and not done.came and not done.went
    replica.engine.remember("Bo is allergic to nuts.")
    assert replica.sync(dry_run=True).went.memories == 1


def test_facts_of_both_sides_become_one_history(pair: tuple[Replica, Replica]) -> None:
    here, there = pair
    here.engine.relate("Bo", "lives_in", "Oslo", valid_from="2024-01-01")
    there.clock.advance(timedelta(hours=1))
    there.engine.relate("bo", "lives_in", "Rome", valid_from="2024-05-01")
    meet(pair)
    for replica in pair:
        rome, oslo = replica.engine.history("Bo")
        assert (oslo.fact and oslo.fact.object, rome.fact and rome.fact.object) == ("Oslo", "Rome")
        assert oslo.times.valid_to == rome.times.valid_from and oslo.superseded_by == rome.id
    agree(*pair)


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_edits_the_later_wins_and_the_other_stays_in_the_history(
    pair: tuple[Replica, Replica], first: int
) -> None:
    kept = pair[0].engine.remember("The key is under the mat.", key="door")
    meet(pair)
    for hours, replica in enumerate(pair, 1):
        replica.clock.advance(timedelta(hours=hours))
        replica.engine.update(kept.id, f"The key is with neighbour {hours}.")
    meet([pair[first], pair[1 - first]])
    for replica in pair:
        texts = [version.text for version in replica.engine.history(kept.id)]
        assert texts[0] == "The key is with neighbour 2."
        assert sorted(texts[1:]) == ["The key is under the mat.", "The key is with neighbour 1."]
    agree(*pair)


def test_pins_verdicts_and_ends_travel_and_usage_does_not(pair: tuple[Replica, Replica]) -> None:
    here, there = pair
    ids = [here.engine.remember(text).id for text in ("I like tea.", "The pool is open.", "It rained.")]
    fact = here.engine.relate("Ann", "lives_in", "Oslo").id
    meet(pair)
    there.engine.pin(ids[0])
    there.engine.invalidate(ids[1])
    there.engine.feedback(ids[2], "useful")
    there.engine.pin(fact)
    there.engine.recall("tea")
    meet(pair)
    agree(*pair)
    assert here.store.get([fact])[fact].tier is Tier.PINNED
    assert here.store.get(ids)[ids[0]].usage != there.store.get(ids)[ids[0]].usage
    there.engine.unpin(fact)
    meet(pair)
    assert here.store.get([fact])[fact].tier is Tier.WORKING
    agree(*pair)


@pytest.mark.parametrize("seed", range(8))
def test_replicas_that_live_apart_agree_in_the_end(folder: Path, seed: int) -> None:
    converge(folder, seed, lambda number: MemoryStore())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 400))
def test_many_more_lives_agree_in_the_end(folder: Path, seed: int) -> None:
    converge(folder, seed, lambda number: MemoryStore())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_replicas_in_files_agree_in_the_end(folder: Path, tmp_path: Path, seed: int) -> None:
    converge(folder, seed, lambda number: SqliteStore.open(tmp_path / f"{number}.db"))


@pytest.mark.slow
def test_a_file_and_a_server_agree_in_the_end(tmp_path: Path) -> None:
    from memorist_server.postgres import PostgresStore
    from tests.stores.postgres_server import running

    with running() as url:
        for seed in range(6):
            stores = [
                SqliteStore.open(tmp_path / f"{seed}.db"),
                PostgresStore.open(url, space=f"space{seed}"),
                MemoryStore(),
            ]
            converge(tmp_path / f"shared{seed}", seed, stores.__getitem__)


def converge(folder: Path, seed: int, make: Callable[[int], Any]) -> None:
    """Two or three replicas, one perhaps with a wrong clock, do anything, sync now and then, and meet."""
    dice = random.Random(seed)
    late = [timedelta(seconds=dice.choice((0, 0, -5, 1000))) for _ in range(dice.choice((2, 3)))]
    replicas = [Replica(folder, store=make(number), late=delay) for number, delay in enumerate(late)]
    for _ in range(dice.randint(1, 4)):
        for replica in replicas:
            live(replica, dice, dice.randint(0, 4))
            if dice.random() < 0.5:
                replica.sync()
    meet(replicas, dice)
    agree(*replicas)
    for replica in replicas:
        replica.engine.close()


def test_vectors_travel_if_they_can_be_compared_and_are_made_anew_if_not(folder: Path) -> None:
    here, same, other, none = (
        Replica(folder, embedder=embedder) for embedder in (FakeEmbedder(), FakeEmbedder(), FakeEmbedder(32), None)
    )
    kept = here.engine.remember("Bo is allergic to nuts.")
    here.engine.relate("Bo", "lives_in", "Oslo")
    here.sync()
    assert holding(folder, '"vectors"')
    for replica in (same, other, none):
        replica.sync()
    assert (same.store.vectors([kept.id])[kept.id]["text"] == here.store.vectors([kept.id])[kept.id]["text"]).all()
    assert other.store.vectors([kept.id])[kept.id]["text"].shape == (32,)
    assert not none.store.vectors([kept.id])
    assert not other.store.without_vectors(str(other.store.embedding), 10) and not same.store.without_vectors(
        str(same.store.embedding), 10
    )
    assert same.engine.recall("nuts").items[0].memory.id == kept.id


# Forgetting


def test_what_one_forgets_all_forget_and_the_folder_too(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    kept = here.engine.remember(SECRET)
    stays = here.engine.remember("The oak is old.")
    meet(pair)
    there.engine.update(kept.id, SECRET + " Dig deep.")
    meet(pair)
    assert holding(folder, "treasure")
    here.engine.forget(kept.id)
    here.sync()
    assert holding(folder, "treasure")  # in the file of the other, which only it may write
    there.sync()
    here.sync()
    assert not holding(folder, "treasure") and there.engine.get(kept.id) is None
    assert there.engine.get(stays.id) is not None
    third = Replica(folder)
    third.sync()
    agree(here, there, third)


def test_a_forget_wins_over_a_change_that_did_not_know_of_it(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    kept = here.engine.remember("Alice lives in Oslo.")
    meet(pair)
    here.engine.forget(kept.id)
    there.clock.advance(timedelta(days=30))
    there.engine.update(kept.id, "Alice lives in Rome.")
    there.sync()
    meet(pair)
    for replica in pair:
        assert not replica.store.stats().memories and not replica.store.stats().versions
    assert not holding(folder, "Alice")


def test_what_is_told_again_after_a_forget_lives(pair: tuple[Replica, Replica]) -> None:
    here, there = pair
    kept = here.engine.remember("I like tea.")
    fact = here.engine.relate("Ann", "lives_in", "Oslo", valid_from="2024-01-01", ingested_at="2024-01-01")
    meet(pair)
    here.engine.forget([kept.id, fact.id])
    meet(pair)
    there.engine.remember("I like tea.")
    there.engine.relate("Ann", "lives_in", "Oslo", valid_from="2024-01-01", ingested_at="2024-01-01")
    meet(pair)
    assert here.engine.get(kept.id) and here.engine.get(fact.id)
    agree(*pair)


def test_what_is_forgotten_and_told_otherwise_between_two_syncs_is_forgotten(
    pair: tuple[Replica, Replica], folder: Path
) -> None:
    here, there = pair
    kept = here.engine.remember(SECRET, key="treasure map")
    meet(pair)
    here.engine.forget(kept.id)
    here.engine.remember("There is no oak.", key="treasure map")
    meet(pair)
    assert [version.text for version in there.engine.history(kept.id)] == ["There is no oak."]
    assert not holding(folder, "treasure lies")
    agree(*pair)


def test_a_lost_database_is_no_forget(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    kept = here.engine.remember(SECRET)
    meet(pair)
    fresh = Replica(folder)
    fresh.sync()
    there.sync()
    assert here.engine.get(kept.id) and there.engine.get(kept.id) and fresh.engine.get(kept.id)


def test_a_replica_that_will_not_come_back_can_be_retired(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    kept, gone = there.engine.remember("The oak is old."), there.engine.remember(SECRET)
    lost = there.sync().replica
    here.sync()
    here.engine.forget(gone.id)
    with pytest.raises(InvalidInput, match="no other replica"):
        here.sync(retire="0" * 16)
    here.sync(retire=lost)
    assert not holding(folder, "treasure") and not list(folder.glob(f"memorist-{lost}-*"))
    third = Replica(folder)
    third.sync()
    assert third.engine.get(kept.id)
    there.sync()  # it comes back after all
    meet([here, there, third])
    agree(here, there, third)


# What passes


def test_only_what_is_shared_passes_in_either_direction(pair: tuple[Replica, Replica], folder: Path) -> None:
    here, there = pair
    for scope, level in (("project:x", 1), ("project:x", 2), ("user:ann", 1)):
        here.engine.remember(f"Of {scope} at {level}.", scope=scope, classification=level)
        here.engine.relate("Ann", "likes", f"{scope} {level}", scope=scope, classification=level)
    here.sync(scopes=["project:x"])
    here.sync()  # the choice is remembered
    assert not holding(folder, "user:ann") and not holding(folder, "at 2")
    there.sync()
    assert {
        (memory.scope, memory.worth.classification) for memory in there.engine.list(max_classification=3).items
    } == {("project:x", 1)}
    assert here.sync(scopes=["project:x", "user:ann"]).went.memories == 1
    narrow = Replica(folder)
    done = narrow.sync(scopes=["project:x"])
    assert done.refused and {memory.scope for memory in narrow.engine.list().items} == {"project:x"}
    assert not here.sync(scopes=["project:x"]).went  # less is shared, and nothing is forgotten by that
    assert not holding(folder, "user:ann")
    assert not there.sync().came.forgotten and not here.sync().came


def test_who_may_not_see_everything_may_not_sync(pair: tuple[Replica, Replica], folder: Path) -> None:
    with pytest.raises(TooClassified):
        memorist.sync(up_to(pair[0].engine, 1), folder)
    for wrong in ({"trust": 4}, {"classification": 9}):
        with pytest.raises(InvalidInput, match="out of range"):
            pair[0].sync(**wrong)


def test_files_are_for_their_user_only(pair: tuple[Replica, Replica], folder: Path) -> None:
    pair[0].engine.remember("Mine.")
    pair[0].sync()
    assert [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())] == [0o700, 0o600]

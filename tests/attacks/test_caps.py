"""A caller with a cap sees, touches and learns nothing above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memorist.engine.engine import Engine, up_to
from memorist.errors import NotFound, TooClassified
from memorist.model import Filter, Surroundings, memory_id
from memorist.ports import Batch
from memorist.remember import record
from memorist.stores import MemoryStore, SqliteStore
from memorist.testing import FakeClock, FakeEmbedder, memory
from tests.attacks.two_worlds import compare, worlds
from tests.stores.kinds import STORES, OpenStore


def _compared(folder: Path, kind: str, cap: int, seed: int, length: int) -> None:
    with ExitStack() as stack:
        compare(worlds(folder, kind, cap, seed, stack), length)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_secrets_change_no_answer_to_a_caller_below_them(tmp_path: Path, kind: str, seed: int) -> None:
    _compared(tmp_path, kind, cap=(1, 2, 0)[seed], seed=seed, length=12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_no_long_story_with_secrets_changes_an_answer(tmp_path: Path, kind: str, seed: int) -> None:
    _compared(tmp_path, kind, cap=seed % 3, seed=seed, length=40)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(MemoryStore(), clock=FakeClock(), background=False) as opened:
        yield opened


@pytest.fixture
def guest(engine: Engine) -> Engine:
    return up_to(engine, 1)


SOURCE: dict[str, Any] = {"kind": "source", "key": "session/heist", "session": "heist"}
GOAL: dict[str, Any] = {**SOURCE, "metadata": {"goal": "Rob the vault.", "steps": 0}}


def test_a_question_in_context_does_not_quote_a_classified_session(engine: Engine, guest: Engine) -> None:
    engine.remember("Rob the vault.", **GOAL, classification=3)
    engine.session(id="heist").step("The guard sleeps at noon.")
    assert guest.recall_in_context("heist", "What now?").request.surroundings == Surroundings()
    assert "guard" in "".join(engine.recall_in_context("heist", "What now?").request.surroundings.steps)


def test_a_low_fact_neither_ends_nor_meets_a_secret_one(engine: Engine, guest: Engine) -> None:
    secret = engine.relate("Ann", "lives_in", "Lima", valid_from="2024-01-01", classification=3)
    low = guest.relate("Ann", "lives_in", "Rome", valid_from="2024-02-01")
    assert (low.worth.classification, engine.get(secret.id)) == (1, secret.memory)
    assert [version.id for version in guest.history("Ann")] == [low.id]
    assert {version.id for version in engine.history("Ann")} == {low.id, secret.id}


def test_a_low_key_replaces_no_secret(engine: Engine, guest: Engine) -> None:
    secret = engine.remember("The code is seven.", key="code", classification=3)
    low = guest.remember("The code is nine.", key="code")
    assert (low.version, engine.get(secret.id)) == (1, secret.memory)


def test_a_repeat_of_a_secret_is_kept_like_any_text(engine: Engine, guest: Engine) -> None:
    engine.remember("The vault opens with the brass key at noon.", classification=3)
    kept = guest.remember("The vault opens with the brass key at noon.")
    assert guest.get(kept.id) == kept.memory and kept.worth.classification == 1


def test_a_secret_leaves_what_is_less_secret_alone(engine: Engine, guest: Engine) -> None:
    kept = guest.remember("The code is nine.", key="code")
    fact = guest.relate("Ann", "lives_in", "Rome", valid_from="2024-02-01")
    engine.remember("The code is seven.", key="code", classification=3)
    engine.relate("Ann", "lives_in", "Lima", valid_from="2024-03-01", classification=2)
    assert (guest.get(kept.id), guest.get(fact.id)) == (kept.memory, fact.memory)


def test_counts_and_jobs_name_nothing_secret(engine: Engine, guest: Engine) -> None:
    engine.remember("Rob the vault.", **GOAL, scope="user:mallory", classification=3)
    engine.session(id="heist").step("The guard sleeps at noon.")
    stats = guest.stats()
    assert (stats.memories, stats.links, stats.entities, stats.scopes) == (0, 0, 0, {})
    assert guest.jobs() == [] and len(engine.jobs()) == 1


@pytest.mark.parametrize("write", ["remember", "relate", "ingest", "session"])
def test_a_write_above_the_cap_is_refused_whatever_is_stored(engine: Engine, write: str) -> None:
    writes: dict[str, Callable[[Engine], object]] = {
        "remember": lambda guest: guest.remember("A plan.", classification=3),
        "relate": lambda guest: guest.relate("Ann", "lives_in", "Lima", classification=3),
        "ingest": lambda guest: guest.ingest([{"text": "A plan.", "classification": 3}]),
        "session": lambda guest: up_to(guest, 0).session("A plan."),
    }
    told: list[str] = []
    for _ in range(2):
        with pytest.raises(TooClassified) as refused:
            writes[write](up_to(engine, 1))
        told.append(str(refused.value))
        engine.remember("A plan.", classification=3)
        engine.relate("Ann", "lives_in", "Lima", classification=3)
    assert told[0] == told[1]


def test_forgetting_below_a_cap_erases_nothing_above_it(engine: Engine, guest: Engine) -> None:
    secret = engine.remember("The code is seven.", scope="user:ann", classification=3)
    low = guest.remember("The code is nine.", scope="user:ann")
    assert guest.forget(scope="user:ann").forgotten == (low.id,)
    with pytest.raises(NotFound):
        guest.forget(secret.id)
    assert engine.get(secret.id) == secret.memory


def test_no_wildcard_or_condition_reaches_above_a_cap(engine: Engine, guest: Engine) -> None:
    for number, classification in enumerate((1, 3)):
        engine.remember(f"Code {number}.", scope="team/a", speaker="Ann", classification=classification)
    everything: Any = {"scope": "t*", "where": {"not": {"speaker": "Ben"}}, "max_classification": 3}
    assert [memory.text for memory in guest.list(**everything).items] == ["Code 0."]
    assert [item.memory.text for item in guest.recall("Code", **everything).items] == ["Code 0."]
    assert len(guest.forget(**everything).forgotten) == 1
    assert [memory.text for memory in engine.list(**everything).items] == ["Code 1."]


@pytest.mark.parametrize("kind", STORES)
def test_no_wildcard_reaches_another_space(open_store: OpenStore, kind: str) -> None:
    stores = [open_store(kind, name) for name in ("team", "team-a")]
    for store in stores:
        store.put(Batch([memory(f"kept in {store.space}", id=store.space, scope="team/a")]))
    where = Filter(scopes=(), scope_prefixes=("team",))
    for store in stores:
        assert [memory.id for memory in store.scan(where, 9).items] == [store.space]
        assert [hit.id for hit in store.view().search_text("kept", where, 9)] == [store.space]
        store.close()


def test_what_concerns_everything_is_refused_below_the_top(guest: Engine, tmp_path: Path) -> None:
    for verb in (guest.reembed, lambda: guest.export(tmp_path / "a"), lambda: guest.backup(tmp_path / "b")):
        with pytest.raises(TooClassified, match="every memory"):
            verb()


def test_who_may_see_everything_sees_both(engine: Engine, guest: Engine) -> None:
    guest.remember("Carol keeps the brass key.", key="brass")
    engine.remember("Carol lost the brass key in Lima.", key="brass", classification=3)
    engine.relate("Lima", "located_in", "Peru", classification=2)
    assert len(engine.recall("Where is Carol's brass key?", max_classification=3).items) >= 2


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_an_old_secret_makes_way_for_a_low_memory_with_its_id(tmp_path: Path, kind: str) -> None:
    """Before ids told classifications apart, a secret could have the id that a low memory has now."""
    store = MemoryStore() if kind == "memory" else SqliteStore.open(tmp_path / "old.db")
    with Engine(store, embedder=FakeEmbedder(), clock=FakeClock(), background=False) as engine:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(record, "memory_id", _id_without_classification)
            engine.remember("I live in Rome.", key="home", speaker="Ann", classification=3)
            old = engine.remember("I live in Lima.", key="home", speaker="Ann", classification=3)
        low = up_to(engine, 1).remember("I live in Oslo.", key="home", speaker="Ann")
        assert (low.id, low.version, up_to(engine, 1).history(low.id)) == (old.id, 1, [low.memory])
        [moved] = [memory for memory in engine.list(max_classification=3).items if memory.text == old.text]
        assert moved.id != old.id and [version.version for version in engine.history(moved.id)] == [2, 1]
        engine.forget(moved.id)
        left = engine.list(max_classification=3, include_expired=True).items
        assert {memory.worth.classification for memory in left} == {1}  # with the facts that rested on it


def _id_without_classification(text: str, **fields: Any) -> str:
    fields["classification"] = 1
    return memory_id(text, **fields)


@pytest.mark.parametrize("asked", [{}, {"speaker": "Bo"}, {"speaker": "Ann"}, {"session": "s", "fresh": True}])
def test_who_says_i_above_a_cap_does_not_change_who_is_asked_for(asked: Any) -> None:
    answers: list[Any] = []
    for number in (0, 30):
        engine = Engine(MemoryStore(), embedder=FakeEmbedder(), clock=FakeClock(), background=False)
        for times in range(4):
            engine.remember(f"I am allergic to nuts {times}.", speaker="Ann")
            engine.remember(f"I like tea {times}.", speaker="Bo")
        for times in range(number):
            engine.remember(f"I am allergic to bees, and I keep code {times}.", speaker="Bo", classification=3)
        found = up_to(engine, 1).recall("What am I allergic to?", **asked)
        answers.append(([(item.memory.text, item.score, item.probability) for item in found.items], found.confidence))
        engine.close()
    assert answers[0] == answers[1] and answers[0][0]

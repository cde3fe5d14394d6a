"""The verbs, on the reference store and on a file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memorist
from memorist import Engine
from memorist.testing.fakes import FakeClock, FakeEmbedder

START = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Engine]:
    url = ":memory:" if request.param == "memory" else tmp_path / "agent.db"
    with memorist.open(url, embedder=FakeEmbedder(), clock=clock) as engine:
        yield engine


def texts(found: memorist.Recall) -> list[str]:
    return [item.memory.text for item in found.items]


def test_what_is_remembered_is_found_at_once(memory: Engine) -> None:
    kept = memory.remember("Alice moved to Stockholm.", at="2023-06-03", speaker="Bob")
    found = memory.recall("Where did Alice move?")
    assert texts(found) == ["Alice moved to Stockholm."]
    assert found.items[0].memory.id == kept.id
    assert {"vector", "keyword"} <= found.items[0].signals.keys()
    assert "[1] 2023-06-03 Bob: Alice moved to Stockholm." in found.context
    assert found.tokens > 0 and not found.abstained


def test_the_same_again_is_the_same_memory(memory: Engine, clock: FakeClock) -> None:
    first = memory.remember("Tea at five.")
    clock.advance(timedelta(days=1))
    again = memory.remember("Tea at five.")
    assert (again.id, again.times) == (first.id, first.times)
    assert memory.stats().memories == 1


def test_a_key_with_new_text_is_a_new_version_and_the_old_one_stays_findable_in_its_time(
    memory: Engine, clock: FakeClock
) -> None:
    first = memory.remember("Alice lives in Oslo.", key="home", at="2024-01-01")
    clock.advance(timedelta(days=90))
    second = memory.remember("Alice lives in Stockholm.", key="home", at="2024-03-01")
    assert second.id == first.id
    assert second.version == 2
    assert texts(memory.recall("Where does Alice live?")) == ["Alice lives in Stockholm."]
    assert texts(memory.recall("Where does Alice live?", as_of="2024-02-01")) == ["Alice lives in Oslo."]
    assert texts(memory.recall("Where does Alice live?", as_of="2023-12-31")) == []
    # on the day before the change was told, the old value was still believed
    known_then = memory.recall("Where does Alice live?", as_of="2024-03-15", known_at="2024-03-30")
    assert texts(known_then) == ["Alice lives in Oslo."]


def test_two_versions_in_one_batch_are_two_writes(memory: Engine) -> None:
    kept = memory.remember_many([{"text": "one", "key": "k"}, {"text": "two", "key": "k"}, "three"])
    assert [(written.text, written.version) for written in kept] == [("one", 1), ("two", 2), ("three", 1)]
    assert memory.stats().memories == 2


def test_a_bad_one_leaves_its_batch_unwritten_and_names_the_remedy(memory: Engine) -> None:
    with pytest.raises(memorist.InvalidInput, match="visible character"):
        memory.remember_many(["fine", "  "])
    assert memory.stats().memories == 0
    with pytest.raises(memorist.InvalidInput, match="'text' key"):
        memory.remember_many([{"at": "2024-01-01"}])


def test_progress_adds_up(memory: Engine) -> None:
    done: list[int] = []
    memory.remember_many((f"memory number {n}" for n in range(600)), progress=done.append)
    assert sum(done) == 600 and len(done) > 1


def test_scopes_kinds_and_classification_are_kept_apart(memory: Engine) -> None:
    memory.remember("The plan is blue.", scope="user:ann", kind="semantic")
    memory.remember("The plan is red.", scope="user:bob")
    memory.remember("The plan is secret.", classification=3)
    assert set(texts(memory.recall("the plan"))) == {"The plan is blue.", "The plan is red."}
    assert texts(memory.recall("the plan", scope="user:bob")) == ["The plan is red."]
    assert texts(memory.recall("the plan", kinds="semantic")) == ["The plan is blue."]
    assert "The plan is secret." in texts(memory.recall("the plan", max_classification=3))


def test_what_has_expired_is_found_only_on_request(memory: Engine, clock: FakeClock) -> None:
    memory.remember("The code is 1234.", expires_at=START + timedelta(hours=1))
    assert texts(memory.recall("what is the code")) == ["The code is 1234."]
    clock.advance(timedelta(hours=1))
    assert texts(memory.recall("what is the code")) == []
    assert texts(memory.recall("what is the code", include_expired=True)) == ["The code is 1234."]


def test_recalls_are_counted_unless_told_otherwise(memory: Engine, clock: FakeClock) -> None:
    kept = memory.remember("Tea at five.")
    memory.recall("tea")
    clock.advance(timedelta(hours=2))
    memory.recall("tea")
    memory.recall("tea", track=False)
    now = memory.get(kept.id)
    assert now is not None and now.usage is not None
    assert (now.usage.recalls, now.usage.last_recall) == (2, START + timedelta(hours=2))


def test_forgetting_takes_every_version(memory: Engine) -> None:
    kept = memory.remember("old words", key="k")
    memory.remember("new words", key="k")
    receipt = memory.forget(kept.id)
    assert kept.id in receipt.forgotten and len(receipt.forgotten) == 2
    assert memory.get(kept.id) is None
    assert texts(memory.recall("old words new words", include_expired=True)) == []


def test_forgetting_by_filter_takes_expired_and_classified_ones_too(memory: Engine) -> None:
    memory.remember("a", scope="user:ann", classification=3)
    memory.remember("b", scope="user:ann", expires_at="2023-01-01")
    memory.remember("c", scope="user:bob")
    assert len(memory.forget(scope="user:ann").forgotten) == 2
    assert [row.text for row in memory.list().items] == ["c"]


def test_forgetting_wants_exactly_one_way_of_saying_what(memory: Engine) -> None:
    memory.remember("a")
    for filters in ({}, {"scope": None}, {"scope": None, "topic": None}):
        with pytest.raises(memorist.InvalidInput, match="exactly one"):
            memory.forget(**filters)  # pyright: ignore[reportArgumentType]
    assert memory.stats().memories == 1
    with pytest.raises(memorist.NotFound, match="no memory 'nope'"):
        memory.forget("nope")


def test_listing_pages_in_the_order_of_writing(memory: Engine) -> None:
    memory.remember_many(f"memory number {n}" for n in range(5))
    first = memory.list(limit=3)
    rest = memory.list(limit=3, cursor=first.cursor)
    assert [row.text[-1] for row in (*first.items, *rest.items)] == list("01234")
    assert rest.cursor is None


def test_explain_tells_signals_and_stages(memory: Engine) -> None:
    memory.remember("Alice moved to Stockholm.")
    found = memory.recall("Where did Alice move?")
    text = str(memory.explain(found, found.items[0].memory.id))
    assert "rank 1 of 1 by recipe 'memorist'" in text
    assert "keyword: rank 1" in text and "bounded_recency" in text
    with pytest.raises(memorist.NotFound, match="why_not"):
        memory.explain(found, "another")


@pytest.mark.parametrize("query", ["", " ", "\0", "\ud800", "\"' OR NEAR( *", "مرحبا", "🦊" * 50, "a" * 100_000, "的"])
def test_no_query_raises(memory: Engine, query: str) -> None:
    memory.remember("Alice moved to Stockholm. 的 🦊")
    memory.recall(query)


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"max_tokens": -1},
        {"verbosity": "loud"},
        {"kinds": "dream"},
        {"recipe": "soup"},
        {"colour": 1},
    ],
)
def test_bad_options_are_refused(memory: Engine, options: dict[str, object]) -> None:
    with pytest.raises(memorist.InvalidInput):
        memory.recall("x", **options)  # pyright: ignore[reportArgumentType]


def test_without_an_embedder_the_other_signals_answer_and_the_trace_says_so(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "a.db", embedder="none") as engine:
        engine.remember("Alice moved to Stockholm.")
        found = engine.recall("Stokholm")
    assert texts(found) == ["Alice moved to Stockholm."]
    assert found.trace.found["vector"].skipped == "no embedder"
    assert [step.skipped for step in found.trace.steps if step.stage == "embed"] == ["no embedder"]


def test_a_store_keeps_the_embedder_it_was_made_with(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "a.db", embedder=FakeEmbedder()) as engine:
        engine.remember("one")
    with memorist.open(tmp_path / "a.db", embedder=FakeEmbedder(dim=32)) as engine:
        with pytest.raises(memorist.EmbeddingMismatch, match="reembed"):
            engine.remember("two")
        assert engine.stats().memories == 1


def test_the_clock_going_back_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from memorist.ports import models

    times = iter([START, START - timedelta(days=1), START + timedelta(seconds=1)])

    class Unsteady(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # pyright: ignore[reportIncompatibleMethodOverride]
            return next(times)

    monkeypatch.setattr(models, "datetime", Unsteady)
    steady = models.SystemClock()
    assert [steady.now(), steady.now(), steady.now()] == [START, START, START + timedelta(seconds=1)]


def test_the_async_engine_answers_the_same(tmp_path: Path, clock: FakeClock) -> None:
    async def story() -> list[str]:
        async with memorist.open_async(tmp_path / "a.db", embedder=FakeEmbedder(), clock=clock) as memory:
            await memory.remember("Alice moved to Stockholm.")
            found = await asyncio.gather(*(memory.recall("Where is Alice?") for _ in range(8)))
            return [texts(recall)[0] for recall in found]

    assert asyncio.run(story()) == ["Alice moved to Stockholm."] * 8


def test_verbs_on_a_closed_engine_say_so(tmp_path: Path) -> None:
    engine = memorist.open(tmp_path / "a.db", embedder="none")
    engine.close()
    engine.close()
    with pytest.raises(memorist.Closed):
        engine.recall("x")


def test_only_the_end_of_an_endless_query_is_searched(memory: Engine) -> None:
    memory.remember("Alice moved to Stockholm.")
    found = memory.recall("x" * 1_000_000 + " Stockholm")
    assert texts(found) == ["Alice moved to Stockholm."]
    assert found.trace.steps[0].notes == ("only the last 2,000 characters of the query were searched",)


@pytest.mark.slow
def test_ten_megabytes_are_kept_exactly(memory: Engine) -> None:
    text = "the quick brown fox 狐狸 🦊\r\n\t" * 330_000
    kept = memory.remember(text)
    stored = memory.get(kept.id)
    assert stored is not None and stored.text == text
    assert texts(memory.recall("fox", limit=1)) == [text]


@pytest.mark.parametrize(
    ("verb", "given", "problem"),
    [
        ("remember", {"text": "x", "topics": "y"}, "remember has no keyword 'topics'. Did you mean `topic`?"),
        ("relate", {"subject": "a", "relation": "b", "object": "c", "valid": "2024"}, "relate has no keyword 'valid'"),
        ("recall", {"query": "x", "limits": 3}, "recall has no keyword 'limits'. Did you mean `limit`?"),
        ("why_not", {"query": "x", "scopes": "y"}, "why_not has no keyword 'scopes'. Did you mean `scope`?"),
        ("list", {"kind": "fact"}, "list has no keyword 'kind'. Did you mean `kinds`?"),
        ("recall", {"query": "x", "top_k": 3}, "recall has no keyword 'top_k'. Use `limit`."),
        ("recall", {"query": "x", "asOf": "2024"}, "recall has no keyword 'asOf'. Did you mean `as_of`?"),
        ("remember", {"text": "x", "user_id": "ann"}, "no keyword 'user_id'. Use `scope` or `speaker`."),
        ("remember", {"text": "x", "tags": ["y"]}, "remember has no keyword 'tags'. Use `keywords` or `topic`."),
        ("remember", {"text": "x", "infer": False}, "no keyword 'infer'. Leave it out: a text is always stored"),
        ("ingest", {"what": [], "run_id": "y"}, "ingest has no keyword 'run_id'. Use `session`."),
        ("forget", {"scopes": "y"}, "forget has no keyword 'scopes'. Did you mean `scope`?"),
    ],
)
def test_an_unknown_keyword_is_refused_with_ours_that_is_meant(
    memory: Engine, verb: str, given: dict[str, object], problem: str
) -> None:
    kept = memory.remember("The heron stands by the weir.")
    with pytest.raises(memorist.InvalidInput, match=re.escape(problem)):
        getattr(memory, verb)(**given, **({"id": kept.id} if verb == "why_not" else {}))
    assert memory.stats().memories == 1

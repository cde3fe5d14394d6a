"""mnemo (seed 001): ten stages, RRF, Weibull decay, blending, minimum score, MMR, noise, sessions, adaptive sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp, log, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, ModelUnavailable
from memorist.model import Candidate, Filter, Memory, Recall, Tier, Usage, Worth
from memorist.models.noise_bank import PROTOTYPES, learn_noise
from memorist.ports import Purpose, Store
from memorist.recall.data import with_settings
from memorist.recall.diversity import diverse_order
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES, custom_recipes
from memorist.recall.search import Search
from memorist.recall.select import MinimumScore, Scope
from memorist.recall.stage import pool_for
from memorist.stores.classified import ClassifiedStore
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeClock, FakeEmbedder
from tests.recall.worlds import NOW, draft, memory, world
from tests.recipes.worlds import (
    ChosenEmbedder,
    ChosenReranker,
    ids,
    near,
    notes,
    opened,
    scores,
    skipped,
    tuned,
)

QUERY = "Which ledger?"
AXIS = near(1.0)
MNEMO = RECIPES["mnemo"]
CORE = tuned("mnemo", adaptive=False)
CLOUD = tuned("mnemo", adaptive=True)
"""The page's free edition: fixed pool and minimum, raw counts, no memory of the session."""


def test_the_stages_run_in_the_pages_order() -> None:
    assert [stage.kind for stage in MNEMO.stages] == [
        "content", "embed",  # 2 embedding, which runs beside
        "expand", "dates", "entities",  # 1 preprocessing
        "search",  # 3 three paths
        "rrf",  # 4 fusion
        "weigh", "normalise",  # 5 decay
        "rerank", "minimum_score",  # 6 rerank
        "mmr",  # 7
        "scope",  # 8
        "noise", "standing", "drop_shown", "limit",  # 9 noise, session; and the head of the context
        "assemble", "track",  # 10 context
    ]  # fmt: skip
    search = next(stage for stage in MNEMO.stages if isinstance(stage, Search))
    assert [signal.kind for signal in search.signals] == ["vector", "keyword", "graph"]


# Fusion, decay and reranking


def three() -> tuple[Memory, ...]:
    return (
        memory("core", "The ledger is blue.", tier=Tier.CORE),
        memory("working", "Invoices are blue."),
        memory("peripheral", "Receipts are green.", tier=Tier.PERIPHERAL),
    )


VECTORS = {
    QUERY: AXIS,
    "The ledger is blue.": near(0.5),
    "Invoices are blue.": near(0.9),
    "Receipts are green.": near(0.7),
}
# Vector ranks 3, 1, 2; the word ledger ranks the first. New, never recalled, importance 0.5, rated by nobody:
# 0.3 + 0.7 · (0.9 · 0.7, 0.4 + 0.15 · 0.7, the same).
DECAYED = {"core": (1 / 63 + 1 / 61) * 0.741, "working": 1 / 61 * 0.6535, "peripheral": 1 / 62 * 0.6535}
BLENDED = {id: score / DECAYED["core"] for id, score in DECAYED.items()}


def test_without_a_reranker_the_score_is_the_decayed_rank_fusion_over_the_best(store: Store) -> None:
    with opened(*three(), recipe="mnemo", vectors=VECTORS, store=store) as engine:
        found = engine.recall(QUERY)
    assert scores(found) == pytest.approx(BLENDED)
    assert skipped(found, "rerank") == "no reranker"
    core = next(item for item in found.items if item.memory.id == "core")
    assert {name: (one.rank, one.norm) for name, one in core.signals.items()} == {
        "vector": (3, 1 / 63),
        "keyword": (1, 1 / 61),
    }


def test_with_a_reranker_it_counts_six_tenths() -> None:
    reranker = ChosenReranker({"Receipts are green.": 2.0, "Invoices are blue.": -1.0})
    with opened(*three(), recipe="mnemo", vectors=VECTORS, reranker=reranker) as engine:
        found = engine.recall(QUERY)
    read = {"core": 0.5, "working": 1 / (1 + exp(1)), "peripheral": 1 / (1 + exp(-2))}
    assert scores(found) == pytest.approx({id: 0.6 * read[id] + 0.4 * BLENDED[id] for id in read})
    assert len(reranker.calls) == 1


class Unreachable:
    def score(self, query: str, texts: object) -> list[float]:
        raise ModelUnavailable("The reranker does not answer", remedy="Start it.")


class Short:
    def score(self, query: str, texts: object) -> list[float]:
        return [1.0]


class NotANumber:
    def score(self, query: str, texts: list[str]) -> list[float]:
        return [nan for _ in texts]


@pytest.mark.parametrize("reranker", [Unreachable(), Short(), NotANumber()])
def test_a_failing_reranker_leaves_the_order_and_the_trace_says_so(reranker: Unreachable | Short | NotANumber) -> None:
    with opened(*three(), recipe="mnemo", vectors=VECTORS, reranker=reranker) as engine:
        found = engine.recall(QUERY)
    assert scores(found) == pytest.approx(BLENDED)
    assert "The reranker" in (skipped(found, "rerank") or "")


def test_all_three_paths_are_fused() -> None:
    with opened(recipe="mnemo", embedder=FakeEmbedder()) as engine:
        engine.relate("Alice", "works_with", "Bob")
        assert engine.recall("Whom does Alice work with?").items[0].signals.keys() == {"vector", "keyword", "graph"}


def test_a_year_lowers_the_score_and_changes_the_order(store: Store) -> None:
    """Both recalled once: 0.3 + 0.7 · (0.4 + 0.3 · (1 − e^−0.2) + 0.105) when new, 0.3 + 0.7 · 0.49 after a year."""
    once, new, old = Usage(recalls=1), 0.3 + 0.7 * (0.505 + 0.3 * (1 - exp(-0.2))), 0.643
    year = timedelta(days=365)
    vectors = {QUERY: AXIS, "Blue invoices.": near(0.9), "Blue receipts.": near(0.8)}
    invoices = memory("invoices", "Blue invoices.", usage=once)
    receipts = memory("receipts", "Blue receipts.", usage=once)
    with opened(invoices, receipts, recipe="mnemo", vectors=vectors, store=store, clock=FakeClock(NOW)) as engine:
        assert ids(engine.recall(QUERY, track=False)) == ["invoices", "receipts"]
    later = replace(receipts, times=replace(receipts.times, ingested_at=NOW + year))
    clock = FakeClock(NOW + year)
    with opened(invoices, later, recipe="mnemo", vectors=vectors, clock=clock) as engine:
        found = engine.recall(QUERY)
    assert scores(found) == pytest.approx({"receipts": 1.0, "invoices": (old / 61) / (new / 62)})
    assert ids(found) == ["receipts", "invoices"]


# Preprocessing


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("What did we do yesterday?", "2024-06-30"),
        ("我们昨天做了什么？", "2024-06-30"),
        ("the meetings of 3 June 2024 and 5 May 2024", "2024-06-03, 2024-05-05"),
        ("2024年6月3日的会议", "2024-06-03"),
        ("June 2024", "2024-06-01/2024-07-01"),
    ],
)
def test_dates_of_the_query_are_normalised_beside_its_own_words(query: str, searched: str) -> None:
    embedder = ChosenEmbedder({})
    with opened(recipe="mnemo", embedder=embedder) as engine:
        found = engine.recall(query)
    assert embedder.calls == [(query,)]
    assert notes(found, "dates") == (f"dates: {searched}",)


DAYS = {
    "June 3rd, 2024": "May 5th, 2024",
    "3 June 2024": "5 May 2024",
    "2024-06-03": "2024-05-05",
    "2024年6月3日": "2024年5月5日",
    "二零二四年六月三日": "二零二四年五月五日",
}
"""One day in several forms, each with another day in the same form."""


@pytest.mark.parametrize(("day", "other"), [*DAYS.items(), ("today", "a month ago"), ("今天", "昨天")])
def test_a_date_finds_the_same_day_in_other_words(day: str, other: str) -> None:
    clock, asked = FakeClock(datetime(2024, 6, 3, 12, tzinfo=UTC)), (*DAYS, "yesterday", "昨天")
    with Engine(MemoryStore("test"), recipe="mnemo", clock=clock) as engine:
        engine.remember(f"The harbour froze, {other}. 冻")
        wanted = engine.remember(f"The harbour froze, {day}. 冻").id
        clock.advance(timedelta(days=1))
        first = {date: ids(engine.recall(f"When did the harbour freeze, {date}?", track=False))[0] for date in asked}
    assert first == dict.fromkeys(asked, wanted)


def test_a_date_is_worth_its_day_month_and_year(store: Store) -> None:
    """Of five dates one is on the day, two are in its month, three in its year; no word of the query is in a text."""
    texts = {"day": "2024-06-03", "month": "2024-06-20", "year": "2024-11-20", "before": "2023-06-03", "after": "2025"}
    with Engine(store, recipe="mnemo", clock=FakeClock(NOW)) as engine:
        named = {engine.remember(text).id: name for name, text in texts.items()}
        found = engine.recall("二零二四年六月三日")
        assert {named[id] for id in ids(engine.recall("二零二四年六月"))} == {"day", "month", "year"}
    bm25 = [item.signals["keyword"].score for item in found.items]
    norm = bm25[2] / log(1 + 2.5 / 3.5)  # length and frequency are alike, but for the rarity of each
    assert [named[id] for id in ids(found)] == ["day", "month", "year"]
    assert bm25[1] / norm == pytest.approx(log(1 + 2.5 / 3.5) + log(1 + 3.5 / 2.5))
    assert bm25[0] / norm == pytest.approx(log(1 + 2.5 / 3.5) + log(1 + 3.5 / 2.5) + log(1 + 4.5 / 1.5))


def test_the_query_is_expanded_for_the_word_search_only() -> None:
    embedder = ChosenEmbedder({"We saw the movie.": near(0.1)})
    with opened(memory("a", "We saw the movie."), recipe="mnemo", embedder=embedder) as engine:
        assert "keyword" in engine.recall("Any film?").items[0].signals
    assert embedder.calls == [("Any film?",)]


# Minimum score, pool and frequency


def faded() -> tuple[Memory, ...]:
    """Of the second nothing is left but the least: 1/62 · 0.3 against 2/61 · 0.741."""
    last_year = NOW - timedelta(days=365)
    lost = memory("lost", "Old receipts.", at=last_year, tier=Tier.PERIPHERAL, worth=Worth(confidence=0.0))
    return memory("kept", "The ledger.", tier=Tier.CORE), lost


FADED = {QUERY: AXIS, "The ledger.": near(0.9), "Old receipts.": near(0.8)}


def test_the_minimum_is_three_tenths_of_the_best() -> None:
    with opened(*faded(), recipe=CORE, vectors=FADED) as engine:
        found = engine.recall(QUERY)
        why = engine.why_not(QUERY, "lost")
    assert ids(found) == ["kept"]
    assert notes(found, "minimum_score") == ("1 below the minimum of 0.3",)
    # importance 0.5, so recency after a year of days^1.3 is not quite nothing
    fading = exp(-log(2) / (30 * exp(0.75)) * 365**1.3)
    lost = (1 / 62 * (0.3 + 0.7 * 0.4 * fading)) / (2 / 61 * 0.741)
    assert (why.stage, why.score, why.enough) == ("minimum_score", pytest.approx(lost), 0.3)
    lower = tuned("mnemo", minimum_score__score=0.1)
    with opened(*faded(), recipe=lower, vectors=FADED) as engine:
        assert ids(engine.recall(QUERY)) == ["kept", "lost"]


MINIMUM = next(stage for stage in CLOUD.stages if isinstance(stage, MinimumScore))


@pytest.mark.parametrize(
    ("size", "pool", "minimum"),
    [
        (0, 24, 0.3),
        (100, 24, 0.3),
        (200, 28, 0.285),  # 24 + 4, 0.3 · 0.95
        (400, 32, 0.27),
        (6_400, 48, 0.21),  # six doublings: 24 + 6 · 4, 0.3 · 0.7
        (100_000, 64, 0.1505),  # log2 1000 = 9.966: 24 + 39.9, 0.3 · 0.502
        (10_000_000, 64, 0.1505),
    ],
)
def test_pool_and_minimum_follow_the_size_of_the_store(size: int, pool: int, minimum: float) -> None:
    assert pool_for(30, 10, size, adaptive=True) == pool
    assert MINIMUM.minimum(size) == pytest.approx(minimum, abs=5e-5)


def test_the_pool_is_what_the_reranker_reads() -> None:
    """Two paths bring a pool each, from opposite ends of forty memories; one pool of both goes to the reranker."""
    many = [memory(f"{number:02}", f"Ledger{' of it' * number}.") for number in range(40)]
    vectors = {QUERY: AXIS, **{one.text: near(0.5 + number / 100) for number, one in enumerate(many)}}
    read: dict[str, tuple[int, ...]] = {}
    for name, recipe in (("mnemo", MNEMO), ("cloud", replace(CLOUD, name="cloud"))):
        reranker = ChosenReranker()
        with opened(*many, recipe=recipe, vectors=vectors, reranker=reranker) as engine:
            steps = {step.stage: step.after for step in engine.recall(QUERY).trace.steps}
        ((_query, texts),) = reranker.calls
        read[name] = steps["search.vector"], steps["search.keyword"], steps["search"], len(texts)
    assert read == {"mnemo": (30, 30, 40, 30), "cloud": (24, 24, 40, 24)}


sizes = st.integers(0, 10**7)


@given(sizes, sizes, st.integers(1, 100))
def test_the_pool_never_shrinks_and_the_minimum_never_rises_with_the_store(one: int, other: int, asked: int) -> None:
    smaller, larger = sorted((one, other))
    less, more = (pool_for(30, asked, size, adaptive=True) for size in (smaller, larger))
    assert asked <= less <= more <= max(asked, 64)
    assert 0.3 >= MINIMUM.minimum(smaller) >= MINIMUM.minimum(larger) >= 0.15


@given(sizes)
def test_the_free_edition_does_not_adapt(size: int) -> None:
    minimum = next(stage for stage in CORE.stages if isinstance(stage, MinimumScore))
    assert pool_for(30, 10, size, adaptive=False) == 30
    assert minimum.minimum(size) == 0.3


def test_sizes_are_fixed_and_one_setting_chooses_an_edition() -> None:
    def adaptive(recipe: Pipeline) -> dict[str, bool]:
        return {part.kind: part.adaptive for part in recipe.parts() if hasattr(part, "adaptive")}

    parts = ("search", "rrf", "weibull", "minimum_score", "drop_shown")
    assert [part for part, on in adaptive(MNEMO).items() if on] == ["weibull", "drop_shown"]
    for on in (False, True):
        edition = custom_recipes({"edition": {"base": "mnemo", "set": {"adaptive": on}}})["edition"]
        assert adaptive(edition) == dict.fromkeys(parts, on)
    with pytest.raises(InvalidInput, match="No part of recipe 'mnemo' has a parameter 'adaptiv'"):
        with_settings(MNEMO, {"adaptiv": False})


def weibull(found: Recall) -> float:
    step = next(step for step in found.trace.steps if step.stage == "weigh")
    return step.candidates[0].parts["weibull"]


def test_recalls_beyond_five_count_by_their_logarithm() -> None:
    """20 recalls count 11.93: composite 0.4 + 0.3 · (1 − e^(−11.93/5)) + 0.15 · 0.7."""
    often = memory("a", "The ledger.", usage=Usage(recalls=20, last_recall=NOW))
    factors = {}
    for name, recipe in (("soft", MNEMO), ("raw", CORE)):
        with opened(often, recipe=recipe, vectors={QUERY: AXIS, "The ledger.": near(0.9)}) as engine:
            factors[name] = weibull(engine.recall(QUERY))
    assert factors["soft"] == pytest.approx(0.3 + 0.7 * (0.505 + 0.3 * (1 - exp(-(1 + log(4))))))
    assert factors["raw"] == pytest.approx(0.3 + 0.7 * (0.505 + 0.3 * (1 - exp(-4))))


# Diversity, scope and noise


def test_mmr_puts_a_different_memory_before_a_repetition() -> None:
    """s = 1, 61/62, 61/63. After x: its twin 0.7 · 0.984 − 0.3 · 1.000, the other 0.7 · 0.968 − 0.3 · 0.191."""
    vectors = {QUERY: AXIS, "x": near(0.9), "twin": near(0.89), "y": (0.6, -0.8, 0, 0, 0, 0)}
    many = [memory(text, text) for text in ("x", "twin", "y")]
    with opened(*many, recipe="mnemo", vectors=vectors) as engine:
        found = engine.recall(QUERY)
    assert ids(found) == ["x", "y", "twin"]
    assert scores(found) == pytest.approx({"x": 1.0, "y": 61 / 63, "twin": 61 / 62})


def test_mmr_by_hand() -> None:
    """After a: b 0.7 · 0.9 − 0.3 · 1 = 0.33, c 0.7 · 0.5 − 0 = 0.35; λ 1 orders by score, λ 0 by likeness."""
    alike = {frozenset((0, 1)): 1.0}
    order = {
        balance: diverse_order([1.0, 0.9, 0.5], lambda a, b: alike.get(frozenset((a, b)), 0.0), balance)
        for balance in (0.7, 1.0, 0.0)
    }
    assert order == {0.7: [0, 2, 1], 1.0: [0, 1, 2], 0.0: [0, 2, 1]}


def test_the_scope_stage_guards_what_a_search_let_through() -> None:
    mine, other = (Candidate(memory(id, scope=id), 1.0) for id in ("user:me", "user:you"))
    with world() as env:
        after = Scope()(draft([mine, other], where=Filter(scopes=("user:me",))), env)
    assert after.candidates == (mine,)


def noisy(store: Store) -> tuple[list[str], str]:
    vectors = {
        QUERY: AXIS,
        "Hello!": near(1.0, axis=2),
        "The ledger is here.": near(0.9),
        "Hello, ledger!": near(0.83, axis=2),
        "Hello, which ledger?": near(0.81, axis=2),
    }
    many = [memory(text, text) for text in list(vectors)[2:]]
    with opened(*many, recipe="mnemo", vectors=vectors, store=store) as engine:
        found = engine.recall(QUERY, track=False)
        return ids(found), engine.why_not(QUERY, "Hello, ledger!").reason


def test_what_lies_within_082_of_the_noise_bank_is_dropped(store: Store) -> None:
    found, why = noisy(store)
    assert set(found) == {"The ledger is here.", "Hello, which ledger?"}
    assert "noise dropped it" in why and "1 dropped as noise" in why


def test_the_bank_learns_what_it_does_not_know_yet(store: Store) -> None:
    vectors = {"Hello!": near(1.0, axis=2), "Helloo!": near(0.96, axis=2), "Cheers.": near(0.94, axis=2)}
    embedder = ChosenEmbedder({**vectors, "Cheers!": near(0.94, axis=2), "Mhm.": near(1.0)})
    assert learn_noise(store, embedder, ["Helloo!", "Cheers.", "Cheers!", "Mhm."]) == ["Cheers.", "Mhm."]
    assert learn_noise(store, embedder, ["Mhm.", "Mhm."]) == []
    assert learn_noise(store, embedder, []) == []
    assert store.noise() == ["Cheers.", "Mhm."]


def test_the_bank_keeps_the_two_hundred_newest(store: Store) -> None:
    texts = [f"a{number} b{number} c{number}" for number in range(205)]
    assert learn_noise(store, FakeEmbedder(8192), texts) == texts
    assert store.noise() == texts[5:]


def test_what_was_learnt_is_dropped_too() -> None:
    store = MemoryStore("test")
    chatter = memory("chatter", "ledger ledger ledger")
    vectors = {QUERY: AXIS, chatter.text: near(0.9), "Mhm, ledger.": near(0.95)}
    with opened(chatter, recipe="mnemo", vectors=vectors, store=store) as engine:
        assert ids(engine.recall(QUERY)) == ["chatter"]
        learn_noise(store, ChosenEmbedder(vectors), ["Mhm, ledger."])
        assert engine.recall(QUERY).abstained


def test_texts_in_which_nothing_was_found_are_learnt(store: Store) -> None:
    """No fact, no name, no date and only stop words; a question, a name, or a fourth word may tell something."""
    empty = ["Same here!", "You too.", "We are."]
    telling = [
        "What about you?",
        "Will Smith",
        "It was me again.",
        "I did not tell them yet",
        "Tomorrow.",
        "Blue.",
        "?",
    ]
    with Engine(store, recipe="mnemo", embedder=FakeEmbedder(8192), clock=FakeClock(NOW)) as engine:
        for text in [*telling, *empty, *empty]:
            engine.remember(text)
        engine.remember("Here it is.", classification=2)
        engine.remember("There it is.", classification=0)
        engine.remember("So it is.", speaker="Bo")
        assert store.noise() == [*empty, "So it is."]
        assert ClassifiedStore(store, 0, 0).noise() == []
        engine.forget(engine.list(limit=100).items[len(telling)].id)
        assert store.noise() == [*empty[1:], "So it is."]


def test_a_learnt_text_hides_its_like_from_a_recall() -> None:
    same = {"Same here!": near(1.0, axis=2), "Same over here, ledger!": near(0.85, axis=2)}
    vectors = {QUERY: AXIS, **same, "The ledger.": near(0.9)}
    embedder = ChosenEmbedder(vectors)
    with Engine(MemoryStore("test"), recipe="mnemo", embedder=embedder, clock=FakeClock(NOW)) as engine:
        for text in list(vectors)[1:]:
            engine.remember(text)
        found = engine.recall(QUERY)
    assert [item.memory.text for item in found.items] == ["The ledger."]
    assert notes(found, "noise") == ("2 dropped as noise",)


def test_the_bank_begins_with_greetings_denials_and_questions_in_two_languages() -> None:
    assert {"Hello!", "I don't know.", "What is in your memory?", "你好！", "我不知道。", "你的记忆里有什么？"} <= set(
        PROTOTYPES
    )


def test_a_turn_is_compared_by_what_was_said_not_by_its_date_and_speaker() -> None:
    """As it is embedded, with both, it resembles nothing in the bank."""
    vectors = {QUERY: AXIS, "Hello!": near(1.0, axis=2), "Hello, ledger!": near(0.9, axis=2), "A blue ledger.": AXIS}
    with opened(recipe="mnemo", embedder=ChosenEmbedder(vectors)) as engine:
        engine.remember("Hello, ledger!", speaker="Ann")
        engine.remember("Bo: Hello, ledger!", speaker="Bo")
        engine.remember("A blue ledger.", speaker="Bo")
        found = engine.recall("ledger")
    assert [item.memory.text for item in found.items] == ["A blue ledger."]
    assert notes(found, "noise") == ("2 dropped as noise",)


def test_what_a_gate_marked_as_noise_is_dropped_without_an_embedder_too() -> None:
    with Engine(MemoryStore("test"), recipe="mnemo", clock=FakeClock(NOW)) as engine:
        assert engine.remember("Hello there!").worth.flags == ("noise",)
        engine.remember("Hello is a film.")
        found = engine.recall("hello")
        assert [item.memory.text for item in found.items] == ["Hello is a film."]
        assert engine.recall("hello there", recipe="memorist").items[0].memory.text == "Hello there!"


@pytest.mark.parametrize("speaker", [None, "Ann"])
@pytest.mark.parametrize("embedder", ["none", "local"])
def test_a_text_of_the_bank_is_dropped_in_any_script_and_without_an_embedder(
    embedder: str, speaker: str | None
) -> None:
    """The packaged embedder reads no Chinese, and the write gate knows neither of these two."""
    with memorist.open(
        ":memory:", recipe="mnemo", embedder=embedder, reranker="none", config={}, background=False
    ) as engine:
        for text in ("我没有相关记忆。", "Can you remember my preferences?", "我没有红色的账本。"):
            assert engine.remember(text, speaker=speaker).worth.flags == ()
        found = engine.recall("我没有 preferences", limit=9)
    assert [item.memory.text for item in found.items] == ["我没有红色的账本。"]


def test_a_long_text_is_never_noise_and_needs_no_comparison() -> None:
    long = "Hello, ledger! " + "It is blue. " * 6
    vectors = {QUERY: AXIS, "Hello!": near(1.0, axis=2), long: near(1.0, axis=2)}
    with opened(memory("long", long), recipe="mnemo", vectors=vectors) as engine:
        assert ids(engine.recall(QUERY)) == ["long"]


class Failing(ChosenEmbedder):
    """It embeds questions, and is gone when it is asked about texts."""

    gone = False

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: object = None) -> Any:
        if self.gone and purpose == "memory":
            raise ModelUnavailable("The embedder does not answer", remedy="Start it.")
        return super().embed(texts, purpose=purpose, progress=progress)


def test_if_the_embedder_fails_only_what_was_marked_is_dropped() -> None:
    embedder = Failing({QUERY: AXIS, "Ledger, hello!": near(0.8), "Ledger.": near(0.9)})
    marked = memory("marked", "Ledger, hello!", worth=Worth(flags=("noise",)))
    with opened(marked, memory("kept", "Ledger."), recipe="mnemo", embedder=embedder) as engine:
        embedder.gone = True
        found = engine.recall(QUERY)
    assert ids(found) == ["kept"]
    assert notes(found, "noise") == (
        "no vectors were compared: The embedder does not answer",
        "1 dropped as noise",
    )


CHATTER = (
    "do you remember the things I said?",
    "Can you recall my preferences?",
    "What did I tell you about that?",
    "I don't have any information about it",
    "I don't recall a previous conversation",
    "Hello, how are you doing today?",
    "Hi there, what's up",
)
"""Greetings, denials and questions about memory in words that are not those of the bank."""
CONTENT = (
    "Hello from Lisbon, I moved here!",
    "What did I tell you about Lisbon?",
    "我喜欢喝茶",
    "你还记得里斯本的酒店吗？",
)


@pytest.mark.parametrize("speaker", [None, "Ann"])
def test_the_packaged_embedder_tells_chatter_from_content(speaker: str | None) -> None:
    """It does not read Chinese: all of it looks alike to it, so it is no reason to drop any."""
    open_pool = {"mnemo": {"set": {"minScore": 0.0}}}
    with memorist.open(
        ":memory:", recipe="mnemo", reranker="none", config={"recipes": open_pool}, background=False
    ) as engine:
        for text in (*CHATTER, *CONTENT):
            engine.remember(text, speaker=speaker)
        found = engine.recall("What did I say?", limit=30)
    assert {item.memory.text for item in found.items} == set(CONTENT)
    assert notes(found, "noise") == (f"{len(CHATTER)} dropped as noise",)


# Sessions


def test_a_session_is_not_shown_the_same_twice(store: Store) -> None:
    clock = FakeClock(NOW)
    many = [memory(id, f"Ledger {id}.") for id in "abc"]
    vectors = {QUERY: AXIS, "Ledger a.": near(0.9), "Ledger b.": near(0.8), "Ledger c.": near(0.7)}
    with opened(*many, recipe="mnemo", vectors=vectors, store=store, clock=clock) as engine:
        first = engine.recall(QUERY, session="s", limit=2)
        assert set(ids(engine.recall(QUERY, session="s", limit=2))).isdisjoint(ids(first))
        nothing_new = engine.recall(QUERY, session="s")
        assert not nothing_new.items and not nothing_new.abstained
        assert set(nothing_new.shown_before) == {"a", "b", "c"}
        held = engine.why_not(QUERY, "a", session="s")
        assert set(ids(engine.recall(QUERY, session="s", fresh=False))) == {"a", "b", "c"}
        assert len(ids(engine.recall(QUERY, session="other", track=False))) == 3
        clock.advance(timedelta(hours=25))
        assert len(ids(engine.recall(QUERY, session="s"))) == 3
    assert held.stage == "drop_shown" and "3 held back" in held.reason
    assert held.score is not None and held.enough is None


def test_a_recall_without_a_trace_holds_back_but_is_not_remembered_as_shown() -> None:
    many = [memory(id, f"Ledger {id}.") for id in "ab"]
    vectors = {QUERY: AXIS, "Ledger a.": near(0.9), "Ledger b.": near(0.8)}
    with opened(*many, recipe="mnemo", vectors=vectors) as engine:
        assert ids(engine.recall(QUERY, session="s", limit=1)) == ["a"]
        assert ids(engine.recall(QUERY, session="s", track=False)) == ["b"]
        assert ids(engine.recall(QUERY, session="s", track=False)) == ["b"]
        assert ids(engine.recall(QUERY, session="s")) == ["b"]
        assert engine.recall(QUERY, session="s", track=False).shown_before == ("a", "b")


def test_the_free_edition_has_no_memory_of_the_session() -> None:
    one = memory("a", "The ledger.")
    with opened(one, recipe=replace(CORE, name="core"), vectors={QUERY: AXIS, one.text: near(0.9)}) as engine:
        assert ids(engine.recall(QUERY, session="s")) == ids(engine.recall(QUERY, session="s")) == ["a"]

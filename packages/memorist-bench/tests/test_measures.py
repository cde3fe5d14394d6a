from __future__ import annotations

from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import InvalidInput
from memorist_bench.measures import BUDGETS, KS, abstention_auroc, judge, percentiles, recall_at_tokens, summarise
from memorist_bench.model import Answer, BenchRun, Dataset, Document, Group, Question

IDS = [f"d{number}" for number in range(30)]
RANKINGS = st.permutations(IDS).flatmap(lambda ids: st.integers(0, len(ids)).map(lambda size: ids[:size]))
GOLD = st.dictionaries(st.sampled_from(IDS), st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=8)


def test_a_ranking_worked_by_hand() -> None:
    figures = judge(["d2", "z", "d3", "w", "d1", "v"], {"d1": 2, "d2": 1, "d3": 3})
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert figures["recall@1"] == pytest.approx(1 / 3)
    assert figures["recall@5"] == 1
    assert (figures["any@1"], figures["all@1"], figures["all@5"]) == (1, 0, 1)
    assert figures["ndcg@1"] == pytest.approx(1 / 3)
    assert figures["ndcg@5"] == pytest.approx((1 / log2(2) + 3 / log2(4) + 2 / log2(6)) / ideal)
    assert figures["mrr@1"] == 1


def test_ranx_gives_the_same_numbers() -> None:
    """Recorded from ranx 0.3.21 for the same rankings."""
    graded = judge(["d2", "z", "d3", "w", "d1", "v"], {"d1": 2, "d2": 1, "d3": 3})
    assert graded["ndcg@5"] == pytest.approx(0.68748471, abs=1e-8)
    late = judge([*(f"n{number}" for number in range(11)), "x", "y"], {"x": 1, "y": 1})
    assert (late["recall@10"], late["recall@20"], late["mrr@10"]) == (0, 1, 0)
    assert late["ndcg@50"] == pytest.approx(0.32673859, abs=1e-8)
    assert late["mrr@20"] == pytest.approx(0.08333333, abs=1e-8)


def test_nothing_found_is_nought_everywhere() -> None:
    assert set(judge(["a", "b"], {"c": 1}).values()) == {0}
    assert set(judge([], {"c": 1}).values()) == {0}


def test_an_id_that_comes_again_takes_no_place_and_counts_once() -> None:
    assert judge(["a", "a", "a", "a", "a", "b"], {"a": 1, "b": 1})["recall@5"] == 1
    assert judge(["a", "a"], {"a": 1, "b": 1})["recall@5"] == 0.5


def test_what_was_judged_irrelevant_is_no_gold() -> None:
    assert judge(["a", "b"], {"a": 0, "b": 1})["mrr@5"] == 0.5
    with pytest.raises(InvalidInput, match="without gold"):
        judge(["a"], {"a": 0})


@given(RANKINGS, GOLD)
def test_measures_keep_within_bounds_and_grow_with_k(ranked: list[str], gold: dict[str, float]) -> None:
    figures = judge(ranked, gold)
    assert all(0 <= figure <= 1 + 1e-12 for figure in figures.values())
    for measure in ("recall", "any", "all", "mrr"):
        values = [figures[f"{measure}@{k}"] for k in KS]
        assert values == sorted(values)
    for k in KS:
        assert figures[f"any@{k}"] >= figures[f"recall@{k}"] >= figures[f"all@{k}"]
        assert figures[f"mrr@{k}"] <= figures[f"any@{k}"]
        assert (figures[f"ndcg@{k}"] > 0) == (figures[f"any@{k}"] == 1)


@given(GOLD)
def test_the_ideal_order_has_an_ndcg_of_one(gold: dict[str, float]) -> None:
    figures = judge(sorted(gold, key=lambda id: -gold[id]), gold)
    assert [figures[f"ndcg@{k}"] for k in KS] == [pytest.approx(1)] * len(KS)


@given(RANKINGS, GOLD, st.data())
def test_moving_a_hit_up_never_lowers_ndcg(ranked: list[str], gold: dict[str, float], data: st.DataObject) -> None:
    hits = [place for place, id in enumerate(ranked) if place and id in gold and ranked[place - 1] not in gold]
    if not hits:
        return
    place = data.draw(st.sampled_from(hits))
    better = [*ranked[: place - 1], ranked[place], ranked[place - 1], *ranked[place + 1 :]]
    before, after = judge(ranked, gold), judge(better, gold)
    assert all(after[name] >= before[name] - 1e-12 for name in before)


def test_recall_against_tokens_counts_the_items_that_fit() -> None:
    answer = Answer("g", "q", ("a", "x", "b", "c"), 1.0, tokens_at=(100, 250, 251, 5_000))
    found = recall_at_tokens(answer, {"a": 1, "b": 1, "c": 2})
    assert found == {
        250: pytest.approx(1 / 3),
        500: pytest.approx(2 / 3),
        1_000: found[500],
        2_000: found[500],
        4_000: found[500],
    }


def test_auroc_is_the_chance_that_the_answerable_one_is_surer() -> None:
    assert abstention_auroc([0.9, 0.8], [0.1, 0.2]) == 1
    assert abstention_auroc([0.1], [0.9, 0.8]) == 0
    assert abstention_auroc([0.5, 0.5], [0.5]) == 0.5
    assert abstention_auroc([0.9, 0.4, 0.3], [0.4, 0.1]) == pytest.approx((2 + 1.5 + 1) / 6)
    with pytest.raises(InvalidInput, match="both kinds"):
        abstention_auroc([0.5], [])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_auroc_agrees_with_counting_pairs(sure: list[int], unsure: list[int]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a in sure for b in unsure]
    assert abstention_auroc(sure, unsure) == pytest.approx(sum(pairs) / len(pairs))
    assert abstention_auroc(sure, unsure) + abstention_auroc(unsure, sure) == pytest.approx(1)


def test_percentiles_lie_between_the_nearest_times() -> None:
    times = [float(number) for number in range(1, 102)]
    assert percentiles(times) == {"p50_ms": 51.0, "p95_ms": 96.0, "p99_ms": 100.0}
    assert percentiles([10.0, 20.0])["p50_ms"] == 15


def small() -> Dataset:
    documents = (
        Document("a1", "one", session="a"),
        Document("a2", "two", session="a"),
        Document("b1", "three", session="b"),
        Document("c1", "four", session="c"),
        Document("loose", "five"),
    )
    questions = (
        Question("q1", "first?", {"a2": 1, "b1": 1}, type="fact"),
        Question("q2", "second?", {"loose": 1}, type="fact"),
        Question("q3", "third?", {"c1": 1}, type="trick", answerable=False),
    )
    return Dataset("small", (Group("g", documents, questions),), "0")


def answers() -> tuple[Answer, ...]:
    return (
        Answer("g", "q1", ("a1", "a2", "c1"), 10.0, {"keyword": 4.0}, 30, (10, 300, 600), 0.9),
        Answer("g", "q2", (), 20.0, {"keyword": 6.0, "rerank": 8.0}, 0, (), 0.2, abstained=True),
        Answer("g", "q3", ("c1",), 30.0, {"keyword": 5.0}, 60, (20,), 0.2),
    )


def test_a_summary_worked_by_hand() -> None:
    summary = summarise(small(), BenchRun("plain", answers()))
    assert summary.recipe == "plain"
    assert summary.figures["queries"] == 3
    assert summary.figures["recall@5"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert summary.figures["any@1"] == pytest.approx((0 + 0 + 1) / 3)
    assert summary.figures["mrr@10"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert summary.figures["tokens"] == 30
    assert summary.figures["p50_ms"] == 20
    assert summary.stages == {
        "keyword": {"p50_ms": 5.0, "p95_ms": pytest.approx(5.9), "p99_ms": pytest.approx(5.98)},
        "rerank": {"p50_ms": 8.0, "p95_ms": 8.0, "p99_ms": 8.0},
    }


def test_sessions_count_at_their_first_turn_and_a_document_without_one_stands_alone() -> None:
    first, second, third = summarise(small(), BenchRun("plain", answers())).rows
    assert first.sessions is not None and second.sessions is not None and third.sessions is not None
    assert (first.turns["any@1"], first.sessions["any@1"]) == (0, 1)
    assert first.sessions["recall@5"] == 0.5
    assert second.sessions["recall@5"] == 0
    assert third.sessions["all@1"] == 1


def test_types_and_answerable_questions_are_counted_apart() -> None:
    summary = summarise(small(), BenchRun("plain", answers()))
    assert {name: part.queries for name, part in summary.types.items()} == {"fact": 2, "trick": 1}
    assert summary.types["fact"].turns["recall@5"] == 0.25
    assert summary.answerable is not None and summary.answerable.turns["recall@5"] == 0.25
    assert summary.overall.queries == 3


def test_abstention_compares_the_two_kinds_of_question() -> None:
    summary = summarise(small(), BenchRun("plain", answers()))
    assert summary.abstention is not None
    assert summary.abstention.auroc == pytest.approx((1 + 0.5) / 2)
    assert (summary.abstention.of_answerable, summary.abstention.of_unanswerable) == (0.5, 0)


def test_a_recipe_without_confidence_has_no_auroc() -> None:
    plain = tuple(Answer("g", f"q{number}", ("a1",), 1.0) for number in (1, 2, 3))
    abstention = summarise(small(), BenchRun("plain", plain)).abstention
    assert abstention is not None and abstention.auroc is None


def test_an_empty_answer_finds_nothing_at_any_budget_while_uncounted_tokens_give_no_curve() -> None:
    summary = summarise(small(), BenchRun("plain", answers()))
    assert summary.rows[1].at_tokens == dict.fromkeys(BUDGETS, 0)
    assert summary.overall.at_tokens[250] == pytest.approx((0 + 0 + 1) / 3)
    assert summary.overall.at_tokens[500] == pytest.approx((0.5 + 0 + 1) / 3)
    uncounted = summarise(small(), BenchRun("plain", (Answer("g", "q1", ("a1",), 1.0),)))
    assert uncounted.overall.at_tokens == {}


def test_a_set_without_sessions_or_unanswerable_questions_has_no_such_figures() -> None:
    group = Group("g", (Document("a", "one"),), (Question("q", "?", {"a": 1}),))
    summary = summarise(Dataset("bare", (group,), "0"), BenchRun("plain", (Answer("g", "q", ("a",), 1.0),)))
    assert summary.overall.sessions is None
    assert summary.answerable is None
    assert summary.abstention is None
    assert summary.types == {}


def test_a_run_of_another_dataset_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no question 'q9'"):
        summarise(small(), BenchRun("plain", (Answer("g", "q9", (), 1.0),)))
    with pytest.raises(InvalidInput, match="answered no question"):
        summarise(small(), BenchRun("plain", ()))


def test_a_perfect_recipe_on_locomo_has_perfect_figures(data: Path) -> None:
    from memorist_bench.datasets import load

    dataset = load(data / "eval" / "locomo")
    perfect = tuple(
        Answer(group.name, question.id, tuple(question.gold), 1.0, confidence=float(question.answerable))
        for group in dataset.groups
        for question in group.questions
    )
    summary = summarise(dataset, BenchRun("perfect", perfect))
    assert summary.figures["queries"] == 1_982
    assert summary.figures["recall@50"] == summary.figures["ndcg@10"] == summary.figures["mrr@1"] == 1
    assert summary.overall.sessions is not None and summary.overall.sessions["all@50"] == 1
    assert summary.abstention is not None and summary.abstention.auroc == 1
    assert {name: part.queries for name, part in summary.types.items()}["adversarial"] == 446

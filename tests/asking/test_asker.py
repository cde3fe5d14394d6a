"""One asker per operation: a second chance, a budget, another model for a step, patience with a silent one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from memorist.asking import Askers, Budget, BudgetSpent, Limits, LLMAsker, Models, query
from memorist.errors import InvalidInput, ModelUnavailable
from memorist.model import Spent
from memorist.ports import Completion
from memorist.text.tokens import count_tokens
from tests.asking.fakes import NAME, SILENT, FakeLLM, asker

EPISODIC = {"mode": "episodic"}


def test_an_answer_that_breaks_its_schema_is_asked_for_once_more_with_the_complaint() -> None:
    llm = FakeLLM(mode=['{"mode": "sematnic"}', EPISODIC])
    ask = asker(llm)
    assert query.mode(ask, "What happened?") == "episodic"
    first, second = llm.asked
    assert second.messages[:2] == first.messages
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2]["content"] == '{"mode": "sematnic"}'
    assert "mode is not one of semantic, procedural, episodic, mixed" in second.messages[3]["content"]
    assert ask.spent == Spent(calls=2, tokens_in=14, tokens_out=6)


@pytest.mark.parametrize("answer", ["", "no JSON", {"mood": "episodic"}, {"mode": "sad"}, "x" * 1_000_000])
def test_a_second_unusable_answer_is_none(answer: Any) -> None:
    llm = FakeLLM(mode=answer)
    with pytest.raises(ModelUnavailable, match=f"^{NAME} gave no usable answer to 'mode': ") as told:
        query.mode(asker(llm), "What happened?")
    assert len(llm.asked) == 2
    assert sum(len(message["content"]) for message in llm.asked[1].messages) < 10_000
    assert len(told.value.problem) < 200


@pytest.mark.parametrize("fault", [TypeError("bad"), KeyError("usage"), TimeoutError()])
def test_whatever_an_adapter_raises_means_that_there_is_no_answer(fault: Exception) -> None:
    with pytest.raises(ModelUnavailable, match=f"{NAME} failed with {type(fault).__name__}"):
        query.mode(asker(mode=fault), "What happened?")


def test_an_adapter_that_gives_something_else_fails_alike() -> None:
    class Odd:
        name = "odd:model"

        def complete(self, messages: object, *, schema: object = None) -> Any:
            return '{"mode": "episodic"}'

    with pytest.raises(ModelUnavailable, match="odd:model failed with AttributeError"):
        query.mode(LLMAsker(Models(Odd()), Budget(Limits(9, 9999))), "What happened?")


def test_the_same_question_is_asked_once_in_an_operation() -> None:
    llm = FakeLLM(mode=[EPISODIC, {"mode": "mixed"}])
    ask = asker(llm)
    assert [query.mode(ask, text) for text in ("a", "a", "b")] == ["episodic", "episodic", "mixed"]
    assert ask.spent.calls == 2


def test_a_model_that_stays_silent_is_not_waited_for_a_third_time() -> None:
    llm = FakeLLM(mode=SILENT, tags=SILENT)
    other = FakeLLM("fake:other", expand={"words": ["dog"]})
    ask = asker(llm, steps={"expand": other})
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="within 20 seconds"):
            query.mode(ask, "a")
    with pytest.raises(ModelUnavailable, match=f"{NAME} did not answer before and was not asked again"):
        query.tags(ask, "a")
    assert query.expansion(ask, "a") == ("dog",)
    assert llm.steps() == ["mode", "mode"]


# The budget


def test_calls_are_limited_and_a_failed_one_counts() -> None:
    ask = asker(FakeLLM(mode=[SILENT, EPISODIC]), calls=2)
    with pytest.raises(ModelUnavailable, match="within 20 seconds"):
        query.mode(ask, "a")
    assert query.mode(ask, "b") == "episodic"
    with pytest.raises(BudgetSpent, match="The budget of 2 calls is spent"):
        query.mode(ask, "c")


def test_tokens_are_limited_by_what_a_question_would_take() -> None:
    llm = FakeLLM(mode=EPISODIC, tokens=(5_000, 1_000))
    size = sum(count_tokens(message["content"]) for message in _asked(llm, "a").messages)
    ask = asker(llm, tokens=6_000 + size)
    query.mode(ask, "a")
    query.mode(ask, "b")
    with pytest.raises(BudgetSpent, match=r"The budget of 6,\d+ tokens is spent"):
        query.mode(ask, "c")
    assert ask.spent == Spent(2, 10_000, 2_000)


def test_tokens_are_estimated_where_the_vendor_does_not_tell() -> None:
    ask = asker(llm := FakeLLM(mode=EPISODIC, tokens=(0, 0)))
    query.mode(ask, "a")
    read = sum(count_tokens(message["content"]) for message in llm.asked[0].messages)
    assert ask.spent == Spent(1, read, count_tokens('{"mode": "episodic"}'))


def test_threads_cannot_overdraw_a_budget() -> None:
    inside = Barrier(3)
    llm = FakeLLM(mode=lambda _: (inside.wait(10), EPISODIC)[1])
    ask = asker(llm, calls=3)

    def mode(text: str) -> str:
        try:
            return query.mode(ask, text)
        except BudgetSpent:
            return "spent"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(mode, "abcdefgh"))
    assert sorted(answers) == ["episodic"] * 3 + ["spent"] * 5
    assert ask.spent.calls == 3


def _asked(llm: FakeLLM, text: str) -> Any:
    query.mode(asker(llm), text)
    return llm.asked[-1]


# Models per step, profiles


def test_a_step_may_have_a_model_of_its_own_or_none() -> None:
    small, large = FakeLLM("fake:small", mode=EPISODIC), FakeLLM("fake:large", tags={"tags": ["a", "b"]})
    ask = LLMAsker(Models(small, {"tags": large, "reason": None}), Budget(Limits(9, 99_999)))
    assert query.mode(ask, "q") == "episodic" and query.tags(ask, "q") == ("a", "b")
    assert (small.steps(), large.steps()) == (["mode"], ["tags"])
    assert [ask.model_for(step) for step in ("mode", "tags", "reason")] == ["fake:small", "fake:large", None]
    with pytest.raises(ModelUnavailable, match="No language model is set for the step 'reason'"):
        query.reason(ask, "q", "semantic", [])
    with pytest.raises(InvalidInput, match="unknown step: 'moed'. Known steps: mode, tags"):
        Models(small, {"moed": large})


def test_overlays_appear_in_their_step_only_and_the_domain_in_every() -> None:
    llm = FakeLLM(mode=EPISODIC, tags={"tags": ["a", "b"]})
    askers = Askers(Models(llm), context="A bakery.", overlays={"tags": "Name the bread."})
    ask = askers.for_recall()
    assert ask is not None
    query.mode(ask, "q")
    query.tags(ask, "q")
    mode, tags = (question.system for question in llm.asked)
    assert "A bakery." in mode and "A bakery." in tags
    assert "Name the bread." in tags and "Name the bread." not in mode
    with pytest.raises(InvalidInput, match="unknown step: 'bake'"):
        Askers(overlays={"bake": "…"})


def test_each_operation_has_an_asker_with_a_budget_of_its_own() -> None:
    askers = Askers(Models(FakeLLM(mode=EPISODIC)), recall=Limits(1, 9_999), extraction=Limits(2, 9_999))
    first, second, extraction = askers.for_recall(), askers.for_recall(), askers.for_extraction()
    assert first and second and extraction
    query.mode(first, "a")
    query.mode(second, "a")
    with pytest.raises(BudgetSpent):
        query.mode(first, "b")
    assert [query.mode(extraction, text) for text in "ab"] == ["episodic"] * 2
    assert Askers().for_recall() is None and Askers(Models(None, {"mode": None})).for_extraction() is None


def test_a_completion_counts_what_it_cost() -> None:
    budget = Budget(Limits(5, 100))
    budget.reserve(40)
    assert budget.spent == Spent(1, 40, 0)
    budget.settle(40, Completion("ok", 30, 20))
    assert budget.spent == Spent(1, 30, 20)
    with pytest.raises(BudgetSpent):
        budget.reserve(51)
    budget.reserve(50)
    assert budget.spent == Spent(2, 80, 20)

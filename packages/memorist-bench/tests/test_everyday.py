"""Everyday worlds: months of memories, asked at the world's own now, with updates and questions without an answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorist.config import Config
from memorist.errors import InvalidInput
from memorist_bench.datasets import load
from memorist_bench.measures import Summary, summarise
from memorist_bench.model import Answer, BenchRun, Dataset
from memorist_bench.report.page import page
from memorist_bench.report.table import abstention, by_type
from memorist_bench.results import results_to_data
from memorist_bench.runner import prepare, run
from memorist_bench.space import BM25, Setup, Space


def world() -> dict[str, Any]:
    def said(id: str, at: str, text: str, **more: str) -> dict[str, Any]:
        return {"id": id, "at": at, "text": text, "kind": "chat", "speaker": None, "session": None, **more}

    def asked(id: str, type: str, text: str, gold: list[str], **more: Any) -> dict[str, Any]:
        return {"id": id, "type": type, "text": text, "gold": gold, "also": [], "as_of": None, **more}

    return {
        "name": "Home",
        "now": "2025-03-01T09:00:00",
        "memories": [
            said("m1", "2024-01-05T10:00:00", "The babysitter charges nine pounds.", speaker="Ann", session="s1"),
            said("m2", "2024-06-05T10:00:00", "The babysitter charges ten pounds now.", speaker="Ann"),
            said("m3", "2024-02-01T10:00:00", "The boiler needs a reset."),
        ],
        "questions": [
            asked("q1", "direct", "What needs a boiler reset?", ["m3"]),
            asked("q2", "update", "How many pounds does the babysitter charge?", ["m2"], also=["m1"]),
            asked("q3", "history", "The babysitter charges", ["m1"], as_of="2024-05-01T12:00:00"),
            asked("q4", "unanswerable", "Which zeppelin?", []),
        ],
    }


@pytest.fixture
def worlds(tmp_path: Path) -> Dataset:
    for name in ("world-01", "world-02"):
        (tmp_path / f"{name}.json").write_text(json.dumps(world()), encoding="utf-8")
    (tmp_path / "README.md").write_text("Worlds.")
    return load(tmp_path)


def answered(worlds: Dataset, **ranked: tuple[str, ...]) -> Summary:
    answers = [Answer("world-01", id, documents, 1.0, context_tokens=40) for id, documents in ranked.items()]
    return summarise(worlds, BenchRun("plain", tuple(answers)))


def test_every_world_of_a_folder_is_a_group_with_its_own_now(worlds: Dataset) -> None:
    assert [group.name for group in worlds.groups] == ["world-01", "world-02"]
    first, second, third, last = worlds.groups[0].questions
    assert {question.at for question in worlds.groups[0].questions} == {datetime(2025, 3, 1, 9, tzinfo=UTC)}
    assert (first.type, dict(first.gold), first.answerable) == ("direct", {"m3": 1.0}, True)
    assert second.also == ("m1",)
    assert third.as_of == datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert (dict(last.gold), last.answerable) == ({}, False)
    spoken = worlds.groups[0].documents[0]
    assert (spoken.id, spoken.speaker, spoken.session, spoken.at) == (
        "m1",
        "Ann",
        "s1",
        datetime(2024, 1, 5, 10, tzinfo=UTC),
    )


def test_one_file_is_one_world(tmp_path: Path) -> None:
    file = tmp_path / "home.json"
    file.write_text(json.dumps(world()))
    assert [group.name for group in load(file).groups] == ["home"]


def test_memories_are_kept_as_they_are_given(worlds: Dataset) -> None:
    with Space(worlds.groups[0], [BM25], Setup()) as space:
        space.recall(worlds.groups[0].questions[0], "bm25")  # sets the clock
        kept = {memory.text: memory for memory in space.engine.list(limit=10).items if memory.fact is None}
    apart = kept["The babysitter charges ten pounds now."].origin
    assert (apart.speaker, apart.session, apart.position) == ("Ann", None, None)
    assert kept["The babysitter charges nine pounds."].origin.session == "s1"


def test_a_question_about_the_past_is_asked_with_it(worlds: Dataset) -> None:
    (answers,) = run(worlds, [BM25], Setup())
    ranked = {answer.question: answer.ranked for answer in answers.answers if answer.group == "world-01"}
    assert set(ranked["q2"]) == {"m1", "m2"}
    assert ranked["q3"] == ("m1",)


def test_figures_worked_by_hand(worlds: Dataset) -> None:
    # q1 is right at rank 1, q2 at rank 2 behind the outdated price, q3 not found; q4 has nothing to find.
    summary = answered(worlds, q1=("m3",), q2=("m1", "m2"), q3=("m2",), q4=("m1",))
    overall = summary.overall
    assert (overall.queries, overall.turns["any@1"], overall.turns["any@5"]) == (4, 1 / 3, 2 / 3)
    assert overall.turns["mrr@10"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert (summary.types["unanswerable"].turns, summary.types["unanswerable"].queries) == ({}, 1)
    assert summary.answerable is not None and summary.answerable.queries == 3
    assert (summary.outdated, overall.context_tokens) == (1.0, 40)


def test_an_update_is_outdated_only_if_the_old_answer_precedes_the_new(worlds: Dataset) -> None:
    assert answered(worlds, q2=("m3", "m2", "m1")).outdated == 0
    assert answered(worlds, q2=("m3", "m1")).outdated == 1
    assert answered(worlds, q1=("m3",)).outdated is None


def test_a_bench_of_worlds_is_reported_and_compared_like_any_other(worlds: Dataset, tmp_path: Path) -> None:
    session = prepare(Config(embedder="none", reranker="none"), tmp_path, recipes=["bm25", "memorist"])
    results = session.measure(worlds)
    (types,), (unknown,) = by_type(results), abstention(results)
    assert [row[0] for row in types.rows[::2]] == ["direct", "history", "unanswerable", "update", "answerable"]
    empty = types.rows[4]
    assert empty[:4] == ("unanswerable", "bm25", "2", "")
    assert unknown.columns[-1] == "outdated first"
    data = results_to_data(results)["recipes"]["bm25"]
    assert data["by_type"]["unanswerable"].keys() == {"queries", "abstained", "context_tokens", "sessions"}
    assert data["outdated"] is not None and data["abstention"]["auroc"] is None
    assert {comparison.questions for comparison in results.comparisons} == {6}  # those with gold
    assert "Abstention and outdated answers" in page(results)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"memories": [world()["memories"][0]] * 2}, r"memories\[1\]: duplicate memory 'm1'"),
        ({"questions": [{**world()["questions"][0], "gold": ["m9"]}]}, r"questions\[0\]: there is no memory 'm9'"),
        ({"questions": [world()["questions"][3]]}, "no question has a judged document"),
        ({"now": "soon"}, "'soon' is not a time"),
        ({"memories": None}, "memories: a list is missing"),
    ],
)
def test_a_broken_world_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    (tmp_path / "world-01.json").write_text(json.dumps({**world(), **change}))
    with pytest.raises(InvalidInput, match=told):
        load(tmp_path)

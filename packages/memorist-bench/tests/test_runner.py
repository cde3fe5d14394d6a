"""The runner: spaces of their own, a clock that stands, nothing written, and work that is gone on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bench_talks import START, TALKS, asked
from memorist.config import Config
from memorist.errors import InvalidInput, MissingService
from memorist.model import CITES, PROVENANCE, Kind, Link, Memory, Origin, Times
from memorist.ports import Batch
from memorist.recall.assemble import HEADER
from memorist.recall.recipes import RECIPES
from memorist.testing.fakes import FakeEmbedder
from memorist.text.tokens import count_tokens
from memorist_bench.cache import RunFiles
from memorist_bench.model import Answer, BenchRun, Question
from memorist_bench.results import results_to_data
from memorist_bench.runner import change_recipes, choose_recipes, narrow_dataset, parse_changes, prepare, run, work
from memorist_bench.space import BM25, COSINE, RRF, TIMELESS, Setup, Space

EVERYTHING = [*RECIPES.values(), BM25, COSINE, RRF]
HOME, WORK = TALKS.groups


def ranked(runs: Sequence[BenchRun]) -> list[list[tuple[str, ...]]]:
    return [[answer.ranked for answer in run.answers] for run in runs]


def test_each_recipe_answers_every_question_in_the_order_of_the_dataset() -> None:
    runs = run(TALKS, EVERYTHING, Setup(FakeEmbedder()))
    assert [result.recipe for result in runs] == [pipeline.name for pipeline in EVERYTHING]
    for result in runs:
        assert [(answer.group, answer.question) for answer in result.answers] == [
            ("home", "home/q0"),
            ("home", "home/q1"),
            ("home", "home/q2"),
            ("work", "work/q0"),
        ]


def test_a_question_is_answered_from_its_own_group_by_document_ids() -> None:
    (bm25,) = run(TALKS, [BM25], Setup())
    assert [answer.ranked[:1] for answer in bm25.answers] == [("home/0",), ("home/1",), (), ("work/0",)]
    for answer in bm25.answers:
        assert all(id.startswith(answer.group) for id in answer.ranked)


def test_two_runs_rank_alike() -> None:
    first, second = (ranked(run(TALKS, EVERYTHING, Setup(FakeEmbedder()))) for _ in range(2))
    assert first == second


def test_the_order_of_questions_does_not_matter() -> None:
    turned = replace(TALKS, groups=tuple(replace(group, questions=group.questions[::-1]) for group in TALKS.groups))
    there, back = (
        {(result.recipe, answer.question): answer.ranked for result in runs for answer in result.answers}
        for runs in (run(data, EVERYTHING, Setup(FakeEmbedder())) for data in (TALKS, turned))
    )
    assert there == back


def test_the_clock_is_the_questions_time_else_a_day_after_the_last_document() -> None:
    with Space(HOME, [BM25], Setup()) as space:
        assert space.recall(HOME.questions[0], "bm25").now == START + timedelta(days=4)
        early = replace(HOME.questions[0], text="cat bread cello", at=START + timedelta(days=1, hours=1))
        recall = space.recall(early, "bm25")
    assert recall.now == early.at
    assert {item.memory.origin.key for item in recall.items} == {"home/0", "home/1"}


def test_a_group_without_times_has_a_fixed_one() -> None:
    with Space(WORK, [BM25], Setup()) as space:
        recall = space.recall(WORK.questions[0], "bm25")
    assert recall.now == TIMELESS + timedelta(days=1)
    assert recall.items[0].memory.times == Times(valid_from=TIMELESS, ingested_at=TIMELESS)


def test_documents_become_memories_with_their_place_speaker_and_session() -> None:
    with Space(HOME, [BM25], Setup()) as space:
        kept = {memory.origin.key: memory for memory in space.engine.list().items}
    origin = kept["home/2"].origin
    assert kept["home/0"].times == Times(valid_from=START, ingested_at=START)
    assert (origin.position, origin.speaker, origin.session) == (2, "Ann", "home/1")


def test_recalls_leave_no_trace() -> None:
    with Space(HOME, EVERYTHING, Setup(FakeEmbedder())) as space:
        before = space.engine.stats().generation
        for pipeline in EVERYTHING:
            list(space.answers(pipeline.name, lambda _more: None))
        assert space.engine.stats().generation == before
        assert {memory.usage.recalls for memory in space.engine.list().items if memory.usage} == {0}


def test_tokens_grow_item_by_item_as_the_context_would() -> None:
    with Space(HOME, [BM25], Setup(limit=3)) as space:
        question = Question("q", "cat bread Lisbon", {"home/0": 1.0})
        answer, recall = space.answer(question, "bm25"), space.recall(question, "bm25")
    assert len(answer.ranked) == len(answer.tokens_at) == 3
    assert answer.tokens_at[-1] == answer.tokens == recall.tokens == count_tokens(recall.context)
    assert count_tokens(HEADER) < answer.tokens_at[0] < answer.tokens_at[1]


def test_times_are_those_of_the_recall_by_stage_and_signal() -> None:
    with Space(HOME, [RRF], Setup(FakeEmbedder())) as space:
        answer = space.answer(HOME.questions[0], "rrf")
    assert list(answer.stages) == ["embed", "search", "search.vector", "search.keyword", "rrf", "limit", "assemble"]
    assert answer.ms >= sum(ms for stage, ms in answer.stages.items() if "." not in stage) - 0.01


def derived(id: str, text: str, **fields: Any) -> Memory:
    return Memory(id, text, Times(START, START), **fields)


def test_what_was_derived_counts_as_the_documents_it_cites() -> None:
    with Space(HOME, [BM25], Setup()) as space:
        ids = {memory.origin.key: memory.id for memory in space.engine.list().items}
        summary = derived("summary", "A zeppelin museum on a red sofa.")
        links = [Link("summary", CITES, ids["home/0"]), Link("summary", PROVENANCE, ids["home/3"])]
        space.engine.store.put(Batch(memories=[summary], links=links))
        answer = space.answer(asked("home", 9, "zeppelin museum sofa", 0), "bm25")
        orphan = derived("orphan", "A zeppelin and another zeppelin in a museum of zeppelins.")
        space.engine.store.put(Batch(memories=[orphan]))
        after = space.answer(asked("home", 9, "zeppelin museum", 0), "bm25")
        stated = derived("fact", "Carla plays.")
        space.engine.store.put(Batch(memories=[stated], links=[Link(ids["home/3"], "states", "fact")]))
        assert space.documents(stated) == ["home/3"]
        assert space.documents(derived("quote", "Bread.", origin=Origin(source="home/1"))) == ["home/1"]
        assert space.documents(derived("copy", "Bread.", origin=Origin(source=ids["home/1"]))) == ["home/1"]
    assert answer.ranked == ("home/0", "home/3")
    assert answer.tokens_at[0] == answer.tokens_at[1]
    assert after.ranked == ("orphan", "home/0", "home/3")  # it takes a place, though it is no document


def test_plain_baselines_rank_what_was_said_and_no_facts() -> None:
    with Space(HOME, [BM25], Setup()) as space:
        space.engine.store.put(Batch(memories=[derived("fact", "A cat, a cat!", kind=Kind.SEMANTIC)]))
        assert space.answer(HOME.questions[0], "bm25").ranked == ("home/0",)


def test_documents_without_text_are_left_out_and_said_so() -> None:
    blank = replace(HOME, documents=(*HOME.documents, replace(HOME.documents[0], id="home/blank", text=" ")))
    with Space(blank, [BM25], Setup()) as space:
        assert space.engine.stats().kinds["episodic"] == 4
        assert "no text" in space.absence(HOME.questions[0], "bm25", "home/blank")


def test_progress_counts_documents_once_and_questions_once_a_recipe() -> None:
    told: list[int] = []
    run(TALKS, [BM25, RRF], Setup(), progress=told.append)
    assert sum(told) == work(TALKS, [BM25, RRF], Setup()) == 6 + 2 * 4
    told.clear()
    both = [BM25, RECIPES["mnemosyne-graph"]]
    run(TALKS, both, Setup(FakeEmbedder()), progress=told.append)
    assert sum(told) == work(TALKS, both, Setup()) == 2 * 6 + 2 * 4


def test_a_recipe_answers_the_same_whoever_is_measured_with_it() -> None:
    setup = Setup(FakeEmbedder())
    answers = {session.recipe: session.answers for session in run(TALKS, EVERYTHING, setup)}
    for pipeline in EVERYTHING:
        (alone,) = run(TALKS, [pipeline], setup)
        for one, other in zip(alone.answers, answers[pipeline.name], strict=True):
            assert (one.ranked, one.confidence) == (other.ranked, other.confidence), pipeline.name


def test_narrowing_takes_groups_and_spreads_questions() -> None:
    assert [group.name for group in narrow_dataset(TALKS, groups=["work"]).groups] == ["work"]
    half = narrow_dataset(TALKS, questions=2)
    assert [[question.id for question in group.questions] for group in half.groups] == [["home/q0", "home/q2"], []]
    assert narrow_dataset(TALKS, questions=99).groups == TALKS.groups
    with pytest.raises(InvalidInput, match="no group 'attic'.*home, work"):
        narrow_dataset(TALKS, groups=["attic"])
    with pytest.raises(InvalidInput, match="at least 1"):
        narrow_dataset(TALKS, questions=0)


def test_a_recipe_whose_every_signal_lacks_its_model_is_refused() -> None:
    for pipeline in (COSINE, RECIPES["mnemosyne-graph"]):
        with pytest.raises(MissingService, match=f"{pipeline.name!r} finds nothing.*embedder"):
            run(TALKS, [pipeline], Setup())
    assert Setup().lacks(RRF) == [("embed", "embedder"), ("vector", "embedder")]
    assert Setup(FakeEmbedder()).lacks(RRF) == []


class Interrupted(Exception):
    pass


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def stop(_more: int, told: list[int] = []) -> None:  # noqa: B006  # counts over calls
        told.append(_more)
        if len(told) == 6:  # after the documents and questions of the first group, within the second
            raise Interrupted

    whole = run(TALKS, [BM25], Setup())
    with pytest.raises(Interrupted):
        run(TALKS, [BM25], Setup(), unfinished=RunFiles(tmp_path, TALKS, [BM25]), progress=stop)
    again = RunFiles(tmp_path, TALKS, [BM25])
    kept = again.answers("bm25", "home")
    assert kept is not None and again.answers("bm25", "work") is None
    (resumed,) = run(TALKS, [BM25], Setup(), unfinished=again)
    assert resumed.answers[:3] == kept  # to the microsecond: they were not asked again
    assert ranked([resumed]) == ranked(whole)


def test_work_of_other_conditions_is_not_gone_on_with(tmp_path: Path) -> None:
    answers = (Answer("home", "home/q0", ("home/0",), 1.0),)
    RunFiles(tmp_path, TALKS, [BM25], "minilm").add("bm25", "home", answers)
    assert RunFiles(tmp_path, TALKS, [BM25], "minilm").answers("bm25", "home") == answers
    assert RunFiles(tmp_path, TALKS, [BM25], "another").answers("bm25", "home") is None
    assert RunFiles(tmp_path, narrow_dataset(TALKS, questions=2), [BM25], "minilm").answers("bm25", "home") is None
    (wider,) = change_recipes([BM25], {"search.limit": 7})
    assert RunFiles(tmp_path, TALKS, [wider], "minilm").answers("bm25", "home") is None


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, TALKS, [BM25])
    answers = (Answer("home", "home/q0", ("home/0",), 1.0, {"search": 0.5}, 7, (7,), 2.5, abstained=True),)
    files.add("bm25", "home", answers)
    (file,) = (tmp_path / "runs").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    files.add("bm25", "work", answers)
    again = RunFiles(tmp_path, TALKS, [BM25])
    assert again.answers("bm25", "home") == again.answers("bm25", "work") == answers
    again.discard()
    assert RunFiles(tmp_path, TALKS, [BM25]).answers("bm25", "home") is None


def test_a_finished_run_leaves_no_work_behind(tmp_path: Path) -> None:
    session = prepare(Config(embedder="none"), tmp_path, recipes=["bm25"])
    first = session.measure(TALKS).recipes[0].summary.latency
    assert session.measure(TALKS).recipes[0].summary.latency != first  # measured again, not read
    assert not list((tmp_path / "runs").iterdir())


def test_all_stands_for_the_recipes_that_ship_and_each_comes_once() -> None:
    known = dict(RECIPES)
    assert [recipe.name for recipe in choose_recipes(["bm25", "all", "memorist"], known)] == ["bm25", *RECIPES]
    with pytest.raises(InvalidInput, match="no recipe 'best'.*memorist.*bm25"):
        choose_recipes(["best"], known)


def test_settings_reach_the_recipes_that_have_the_part() -> None:
    settings = parse_changes(["rrf.k=20", "search.limit = 30", 'rrf.weights={"vector": 2}'])
    assert settings == {"rrf.k": 20, "search.limit": 30, "rrf.weights": {"vector": 2}}
    rrf, bm25 = change_recipes([RRF, BM25], settings)
    assert (rrf.stages[2].k, rrf.stages[2].weights) == (20, {"vector": 2.0})  # type: ignore[attr-defined]
    assert bm25.stages[0].limit == 30  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("rrf.k", "stage.parameter=value"),
        ("k=3", "stage.parameter=value"),
        ("blender.k=3", "No recipe of this run has a part 'blender'.*keyword"),
        ("search.colour=3", "'search' has no parameter 'colour'"),
        ("search.limit=many", "search.limit is 'many'"),
    ],
)
def test_a_setting_that_fits_nothing_is_refused_by_name(change: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        change_recipes([BM25], parse_changes([change]))


def test_the_setting_extract_decides_whether_facts_are_read(tmp_path: Path) -> None:
    told = replace(HOME, documents=(replace(HOME.documents[0], text="Cleo lives in Paris."),))
    for extract, facts in (("rules", True), ("off", False)):
        experiment = prepare(Config(embedder="none", extract=extract), tmp_path, recipes=["bm25"])
        with Space(told, experiment.pipelines, experiment.setup) as space:
            assert any(memory.fact for memory in space.engine.list().items) is facts
        assert results_to_data(experiment.measure(TALKS))["extract"] == extract
    with pytest.raises(InvalidInput, match="Choose rules, spacy or off"), Space(told, [BM25], Setup(extract="maybe")):
        pass

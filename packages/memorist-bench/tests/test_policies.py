"""Fair comparisons: who reranks, and when the texts are stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bench_talks import START, TALKS
from memorist.config import Config
from memorist.errors import InvalidInput
from memorist.model import Times
from memorist.models.folder import SETS
from memorist.recall.recipes import RECIPES
from memorist.testing.fakes import FakeEmbedder
from memorist_bench.model import Reranking
from memorist_bench.results import against, read_baseline, results_to_data
from memorist_bench.runner import Experiment, prepare, run, with_reranker, work
from memorist_bench.space import BASELINES, BM25, TIMELESS, Setup, Space, reranks

EVERYTHING = {**RECIPES, **BASELINES}
DOCUMENTED = {"memorist", "mnemo", "memoria"}
HOME, WORK = TALKS.groups


class ShortestFirst:
    """A reranker that likes short texts, whatever the question."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [-float(len(text)) for text in texts]


def experiment(folder: Path, reranking: Reranking = "documented", **more: object) -> Experiment:
    return prepare(Config(embedder="none"), folder, recipes=["bm25"], reranking=reranking, **more)  # type: ignore[arg-type]


# Reranking


def test_the_documents_of_three_recipes_rerank() -> None:
    assert {name for name, one in EVERYTHING.items() if reranks(one)} == DOCUMENTED


def test_all_recipes_rerank_thirty_candidates_before_their_limit() -> None:
    for name, one in EVERYTHING.items():
        changed = with_reranker(one)
        kinds = [stage.kind for stage in changed.stages]
        if name in DOCUMENTED:
            assert changed is one
        else:
            assert kinds[kinds.index("limit") - 1] == "rerank"
            assert changed.without("rerank") == one
            assert changed.stages[kinds.index("rerank")] == RECIPES["memoria"].stages[6]  # depth 30, blend 1.0


def test_a_recipe_without_a_limit_cannot_be_made_to_rerank() -> None:
    with pytest.raises(InvalidInput, match="'bm25' has no stage 'limit'"):
        with_reranker(BM25.without("limit"))


def test_the_policy_decides_which_order_is_measured(tmp_path: Path) -> None:
    asked = replace(HOME, questions=(replace(HOME.questions[0], text="Does the cat sleep in Lisbon?"),))
    plain, shortest_first = ("home/0", "home/2"), ("home/2", "home/0")
    orders: dict[Reranking, tuple[str, ...]] = {"none": plain, "documented": plain, "all": shortest_first}
    for reranking, order in orders.items():
        one = experiment(tmp_path, reranking)
        setup = one.setup if one.setup.reranker is None else replace(one.setup, reranker=ShortestFirst())
        (found,) = run(replace(TALKS, groups=(asked,)), one.pipelines, setup)
        assert found.answers[0].ranked == order, reranking


def test_runs_of_none_and_all_make_up_the_documented_ones() -> None:
    setup = Setup(FakeEmbedder(), ShortestFirst())
    documented = run(TALKS, list(EVERYTHING.values()), setup)
    everyone = run(TALKS, [with_reranker(recipe) for recipe in EVERYTHING.values()], setup)
    nobody = run(TALKS, list(EVERYTHING.values()), replace(setup, reranker=None))
    ranked = [
        {run.recipe: [answer.ranked for answer in run.answers] for run in runs}
        for runs in (documented, everyone, nobody)
    ]
    assert ranked[0] == {name: ranked[1 if name in DOCUMENTED else 2][name] for name in EVERYTHING}
    assert all(ranked[1][name] != ranked[2][name] for name in EVERYTHING)


def test_the_policy_is_recorded(tmp_path: Path) -> None:
    for reranking in ("documented", "all", "none"):
        data = results_to_data(experiment(tmp_path, reranking).measure(TALKS))
        assert data["reranking"] == reranking
        assert (data["models"]["reranker"] is None) == (reranking == "none")
        assert data["recipes"]["bm25"]["reranked"] == (reranking == "all")


def test_without_a_reranker_nobody_reranks(tmp_path: Path) -> None:
    settings = Config(embedder="none", reranker="none")
    assert results_to_data(prepare(settings, tmp_path, recipes=["bm25"]).measure(TALKS))["reranking"] == "none"
    with pytest.raises(InvalidInput, match="no reranker for all.*--reranker"):
        prepare(settings, tmp_path, recipes=["bm25"], reranking="all")


def test_a_reranker_that_does_not_read_a_question_is_said_so(tmp_path: Path) -> None:
    chinese = replace(HOME, questions=(replace(HOME.questions[0], text="猫睡在哪里？ sofa"),))
    for asked, reranked, told in (
        ((WORK, chinese), True, ("rerank (failed for 1 of 2 questions)",)),
        ((chinese,), False, ("rerank (failed for 1 of 1 questions)",)),
    ):
        result = experiment(tmp_path, "all").measure(replace(TALKS, groups=asked)).recipes[0]
        assert (result.reranked, result.skipped) == (reranked, told)


def test_scores_are_kept_when_questions_are(tmp_path: Path) -> None:
    experiment(tmp_path, "all").measure(TALKS)
    assert not (tmp_path / "rerankings").exists()
    live = experiment(tmp_path, "all").measure(TALKS)
    kept = [experiment(tmp_path, "all", cached_queries=True).measure(TALKS) for _ in range(2)]
    rankings = [[row.answer.ranked for row in results.recipes[0].summary.rows] for results in (live, *kept)]
    assert rankings[0] == rankings[1] == rankings[2]
    (file,) = (tmp_path / "rerankings").iterdir()
    assert file.name.startswith(f"{SETS['fast'].reranker}-")


# Ingestion


def test_bulk_texts_keep_their_time_and_are_stored_before_the_questions() -> None:
    with Space(HOME, [BM25], Setup(ingest="bulk")) as space:
        kept = {memory.origin.key: memory.times for memory in space.engine.list().items}
        asked_at = space.recall(HOME.questions[0], "bm25").now
    assert asked_at == START + timedelta(days=4)
    assert kept["home/0"] == Times(valid_from=START, ingested_at=asked_at)
    assert kept["home/3"] == Times(valid_from=START + timedelta(days=3), ingested_at=asked_at)


def test_bulk_texts_are_stored_before_the_earliest_question() -> None:
    early = replace(HOME.questions[0], at=START + timedelta(days=3, hours=1))
    with Space(replace(HOME, questions=(early, *HOME.questions)), [BM25], Setup(ingest="bulk")) as space:
        assert {memory.times.ingested_at for memory in space.engine.list().items} == {early.at}
        assert space.answer(early, "bm25").ranked == ("home/0",)


def test_what_the_first_speaker_says_is_recalled_before_it_is_stored() -> None:
    with Space(HOME, [RECIPES["mnemosyne-hybrid"]], Setup(FakeEmbedder(), ingest="used")) as space:
        uses = {space.ids[memory.id]: memory.usage for memory in space.engine.store.get(list(space.ids)).values()}
    assert {id: one.last_recall for id, one in uses.items() if one.recalls} == {
        "home/0": START + timedelta(days=2),  # when Ann speaks again
        "home/1": START + timedelta(days=2),
    }


def test_recipes_in_use_do_not_share_a_memory() -> None:
    companions = [BM25, RECIPES["mnemosyne-hybrid"]]
    setup = Setup(FakeEmbedder(), ingest="used")
    together = run(TALKS, companions, setup)
    alone = [run(TALKS, [companion], setup)[0] for companion in companions]
    assert [[answer.ranked for answer in runs.answers] for runs in together] == [
        [answer.ranked for answer in runs.answers] for runs in alone
    ]
    told: list[int] = []
    run(TALKS, companions, setup, progress=told.append)
    assert sum(told) == work(TALKS, companions, setup) == 2 * 6 + 2 * 4


def test_texts_without_times_are_the_same_either_way() -> None:
    for ingest in ("replayed", "used", "bulk"):
        with Space(WORK, [BM25], Setup(ingest=ingest)) as space:
            (kept,) = {memory.times for memory in space.engine.list().items}
        assert kept == Times(valid_from=TIMELESS, ingested_at=TIMELESS)


def test_the_way_of_storing_is_recorded_and_told_in_a_comparison(tmp_path: Path) -> None:
    before = experiment(tmp_path, "none", ingest="bulk").measure(TALKS)
    file = tmp_path / "before.json"
    file.write_text(json.dumps(results_to_data(before, answers=True)))
    now = experiment(tmp_path).measure(TALKS)
    assert (results_to_data(before)["ingest"], results_to_data(now)["ingest"]) == ("bulk", "replayed")
    compared = against(now, read_baseline(file, TALKS)).comparisons
    assert {difference.against for difference in compared} == {"bm25 of before.json (reranking none, ingest bulk)"}
    compared = against(before, read_baseline(file, TALKS)).comparisons
    assert {difference.against for difference in compared} == {"bm25 of before.json"}

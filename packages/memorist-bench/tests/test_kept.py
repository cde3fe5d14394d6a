"""Results on disk: compared without their dataset, and distrusted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bench_talks import TALKS
from memorist.errors import InvalidInput, NotFound
from memorist_bench.kept import BenchFolder, KeptRun, Unread, read_run
from memorist_bench.results import WITH_INTERVALS, against, read_baseline, results_to_data
from test_policies import experiment


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `--out` writes of a small set."""
    place = tmp_path_factory.mktemp("kept")
    return results_to_data(experiment(place).measure(TALKS), answers=True)


@pytest.fixture
def folder(tmp_path: Path, written: dict[str, Any]) -> Path:
    keep(tmp_path / "a.json", written)
    return tmp_path


def keep(file: Path, data: object) -> Path:
    file.write_text(json.dumps(data))
    return file


def worse(data: dict[str, Any]) -> dict[str, Any]:
    """The same run, had it found nothing for the first question."""
    changed = json.loads(json.dumps(data))
    recipe = changed["recipes"]["bm25"]
    for column in recipe["measures"].values():
        column[0] = 0.0
    recipe["answers"][0]["ranked"] = []
    return changed


def test_a_comparison_of_files_is_the_one_that_the_bench_makes(folder: Path, written: dict[str, Any]) -> None:
    file = keep(folder / "b.json", worse(written))
    ours = BenchFolder(folder).compare(("a.json", "bm25"), ("b.json", "bm25"))
    theirs = against(experiment(folder / "again").measure(TALKS), read_baseline(file, TALKS)).comparisons
    figures = [
        (difference.measure, difference.questions, difference.difference, difference.low, difference.high, difference.p)
        for difference in ours
    ]
    assert figures == [
        (difference.measure, difference.questions, difference.difference, difference.low, difference.high, difference.p)
        for difference in theirs
    ]
    # One of four questions went from 1 to 0: a quarter. Both signs of one difference are as far from 0, so p is 1.
    assert (ours[0].measure, ours[0].difference, ours[0].p) == ("any@1", 0.25, 1.0)


def test_a_run_is_read_with_its_figures_and_conditions(folder: Path) -> None:
    [run] = BenchFolder(folder).runs()
    assert isinstance(run, KeptRun) and (run.file, run.dataset) == ("a.json", "talks")
    [recipe] = run.recipes
    assert (
        recipe.queries == 4 and set(WITH_INTERVALS) <= recipe.figures.keys() and set(recipe.types) == {"place", "thing"}
    )
    assert run.conditions["ingest"] == "replayed" and not recipe.questions
    assert len(read_run(folder / "a.json").recipe("bm25").questions) == 4


def test_a_file_that_changes_is_read_again(folder: Path, written: dict[str, Any]) -> None:
    kept = BenchFolder(folder)
    kept.runs()
    keep(folder / "a.json", {**written, "dataset": "others"})
    os.utime(folder / "a.json", ns=(1, 1))
    [run] = kept.runs()
    assert isinstance(run, KeptRun) and run.dataset == "others"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"dataset": "x", "checksum": "y", "recipes": {"a": {}}}',
        "[" * 100_000,
        '{"dataset": 1, "checksum": "y", "recipes": {}}',
        '{"dataset": "x", "checksum": "y", "recipes": {"a": {"queries": NaN}}}',
        '{"dataset": "x", "checksum": "y", "recipes": {"a": {"queries": 1e999}}}',
        "\x00\ud800",
    ],
    ids=["empty", "a list", "no field", "no figures", "deep", "not a name", "NaN", "infinite", "not text"],
)
def test_other_files_are_named_and_not_shown(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    [one] = BenchFolder(tmp_path).runs()
    assert isinstance(one, Unread) and one.why.startswith("x.json is not what")


def test_measures_that_do_not_fit_the_answers_are_refused(tmp_path: Path, written: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(written))
    changed["recipes"]["bm25"]["measures"]["any@1"].pop()
    with pytest.raises(InvalidInput, match="is not what"):
        read_run(keep(tmp_path / "x.json", changed))


def test_nothing_outside_the_folder_is_read(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    secret = (outside / "secret.json").absolute()
    secret.write_text((folder / "a.json").read_text())
    (folder / "link.json").symlink_to(secret)
    (folder / "below.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    kept = BenchFolder(folder)
    assert [run.file for run in kept.runs()] == ["a.json"]
    for name in (str(secret), f"../{outside.name}/secret.json", "link.json", "below.json", "pipe.json", "", "."):
        with pytest.raises(NotFound, match="There is no run"):
            kept.compare((name, "bm25"), ("a.json", "bm25"))
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_run(folder / "link.json")


def test_what_cannot_be_compared_says_why(folder: Path, written: dict[str, Any]) -> None:
    old = json.loads(json.dumps(written))
    del old["recipes"]["bm25"]["measures"]
    keep(folder / "old.json", old)
    keep(folder / "other.json", {**written, "checksum": "another"})
    kept, mine = BenchFolder(folder), ("a.json", "bm25")
    for other, why in (("old.json", "no figures of single questions"), ("other.json", "on different datasets")):
        with pytest.raises(InvalidInput, match=why):
            kept.compare(mine, (other, "bm25"))
    with pytest.raises(NotFound, match="no recipe 'nothing'"):
        kept.compare(mine, ("a.json", "nothing"))
    with pytest.raises(InvalidInput, match="cannot be read"):
        BenchFolder(folder / "nowhere").runs()

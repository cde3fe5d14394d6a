"""The script of the published tables: what it measures, keeps, and puts together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.table import Row, main, markdown, source
from memorist.recall.recipes import RECIPES
from memorist_bench.space import BASELINES
from memorist_bench.statistics import Comparison, Interval

TINY = Path(__file__).parent / "data" / "tiny"


@pytest.fixture
def table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Table:
    shutil.copytree(TINY, tmp_path / "data" / "locomo")
    return Table(tmp_path, capsys)


class Table:
    """The script on one tiny dataset, with two recipes that need no vectors."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *more: str, recipes: Sequence[str] = ("memoria", "bm25")) -> tuple[list[str], str]:
        where = ["--data", str(self.folder / "data"), "--cache", str(self.folder / "cache"), "--sets", "locomo"]
        assert main([str(self.folder / "results"), *where, "--recipes", *recipes, *more]) == 0
        shown = self._capsys.readouterr()
        return [line for line in shown.out.splitlines() if line.startswith("| locomo")], shown.err

    def files(self) -> dict[str, list[str]]:
        files = sorted((self.folder / "results").iterdir())
        return {file.name: list(json.loads(file.read_text())["recipes"]) for file in files}


def test_a_documented_table_is_put_together_from_none_and_all(table: Table) -> None:
    (figures, differences), _ = table()
    assert table.files() == {"locomo.all.replayed.json": ["memoria"], "locomo.none.replayed.json": ["bm25"]}
    assert figures.startswith("| locomo, 7 | recall@10 | ")
    assert "78.6 (" in figures and ", p " in differences


def test_only_what_is_missing_is_measured(table: Table) -> None:
    whole, told = table()
    assert "reranking none, bm25" in told and "reranking all, memoria" in told
    assert table() == (whole, "")
    assert table("--show") == (whole, "")
    _, told = table("--reranking", "all")
    assert "bm25" in told and "memoria" not in told
    assert table.files()["locomo.all.replayed.json"] == ["memoria", "bm25"]


def test_each_way_of_storing_has_its_file(table: Table) -> None:
    table("--ingest", "bulk", recipes=["bm25"])
    (file,) = (table.folder / "results").iterdir()
    assert file.name == "locomo.none.bulk.json"
    assert json.loads(file.read_text())["ingest"] == "bulk"


def test_a_table_in_several_measures_has_a_row_per_recipe(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    table()
    where = ["--data", str(table.folder / "data"), "--sets", "locomo", "--recipes", "memoria", "bm25", "--show"]
    assert main([str(table.folder / "results"), *where, "--measures", "recall@10", "any@5"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "|  | recall@10 | any@5 |",
        "|---|---|---|",
        "| `memoria` | 100.0 | 100.0 |",
        "| `bm25` | 78.6 | 85.7 |",
    ]


def test_the_run_of_a_recipe_depends_on_its_document() -> None:
    everything = [*RECIPES, *BASELINES]
    assert {recipe for recipe in everything if source(recipe, "documented") == "all"} == {
        "memorist",
        "mnemo",
        "memoria",
    }
    assert {source(recipe, "none") for recipe in everything} == {"none"}


def test_the_best_is_bold_and_what_may_be_as_good_is_marked() -> None:
    row = Row(
        "locomo",
        "recall@10",
        1982,
        {"memorist": Interval(0.843, 0.83, 0.856), "mnemo": Interval(0.84, 0.8, 0.87), "bm25": Interval(0.6, 0.5, 0.7)},
        {
            "mnemo": Comparison(Interval(-0.003, -0.01, 0.004), 0.4),
            "bm25": Comparison(Interval(-0.243, -0.3, -0.2), 0.0001),
        },
    )
    lines = list(markdown([row], ["memorist", "mnemo", "bm25", "rrf"]))
    assert lines[:3] == [
        "| dataset, questions | measure | memorist | mnemo | bm25 | rrf |",
        "|---|---|---|---|---|---|",
        "| locomo, 1,982 | recall@10 | **84.3** (83.0–85.6) | 84.0 (80.0–87.0) ≈ | 60.0 (50.0–70.0) |  |",
    ]
    assert (
        lines[-1]
        == "| locomo, 1,982 | recall@10 | −0.3 (−1.0 to +0.4), p 0.400 | −24.3 (−30.0 to −20.0), p < 0.001 |  |"
    )

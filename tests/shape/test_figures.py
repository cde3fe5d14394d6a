"""Figures in pages are those of the results on disk, and sentences name the cell that a figure comes from."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from memorist.stages import RECIPES
from tests.shape.scripts import loaded

ROOT = Path(__file__).parents[2]
EXPLAINED = sorted((ROOT / "docs" / "explanation").rglob("*.md"))
RECIPE_OF = {"adaptive": "mnemo"}
"""The recipe that a page is about if the page does not have its name; otherwise it is `memorist`."""
TABLE = {
    "command": "memorist bench PATH",
    "commit": "0a4a749",
    "date": "2026-11-16",
    "columns": ["recipe", "recall@10", "share"],
    "rows": [["memorist", "85.6 (84.2–87.0)", ""], ["bm25", "63.2", "40 %"], ["oracle", ".92", ""]],
}


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return loaded("figures")


@pytest.fixture
def kept(figures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    (tmp_path / "talk.json").write_text(json.dumps({"all": TABLE}), encoding="utf-8")
    return figures


def test_every_page_shows_its_results(figures: ModuleType) -> None:
    for path in figures.PAGES:
        page = path.read_text(encoding="utf-8")
        assert figures.written(page) == page, f"run `python docs/figures.py` for {path.name}"
        assert list(figures.wrong_cells(page)) == [], path.name


def test_no_page_has_a_figure_that_comes_from_nowhere(figures: ModuleType) -> None:
    measured = [path for path in figures.PAGES if not {"reference", "decisions"} & set(path.parts)]
    for path in measured:
        found = figures.unnamed(path.read_text(encoding="utf-8"))
        assert found == [], f"{path.name}: name the cells of {found}, as docs/figures.py says"


def test_a_table_is_written_as_it_was_kept(kept: ModuleType) -> None:
    page = "Before.\n\n<!-- figures talk/all -->\nsomething old\n<!-- end -->\n\nAfter."
    written = kept.written(page)
    assert "| memorist | 85.6 (84.2–87.0) | |\n| bm25 | 63.2 | 40 % |\n| oracle | .92 | |\n\n*`memorist" in written
    assert kept.written(written) == written


def test_figures_in_sentences_are_those_of_their_cells(kept: ModuleType) -> None:
    named = "**85.6**<!-- = talk/all: memorist | recall@10 -->, 40 %<!-- = talk/all: bm25 | share --> and"
    assert list(kept.wrong_cells(f"It finds {named} .92<!-- = talk/all: oracle | recall@10 -->.")) == []
    assert list(kept.wrong_cells("41 %<!-- = talk/all: bm25 | share -->")) == ["41 % is 40 % in talk/all"]


def test_a_figure_that_the_results_do_not_have_is_named(kept: ModuleType) -> None:
    sentence = "It finds 86.5<!-- = talk/all: memorist | recall@10 --> of them."
    assert list(kept.wrong_cells(sentence)) == ["86.5 is 85.6 (84.2–87.0) in talk/all"]


def test_numbers_with_decimals_or_units_count_as_figures(kept: ModuleType) -> None:
    prose = "It takes 12 ms or 0.6 s, `0.5` in code, on 3 June; 40 % of it (95 % interval).\n"
    page = f"{prose}| 1.5 | a table |\n   ```\n   2.5\n   ```\n"
    assert kept.unnamed(page) == ["12 ms", "0.6", "40 %"]


def test_the_table_that_a_benchmark_prints_is_read(kept: ModuleType) -> None:
    printed = "Loading.\n\n| kind | found |\n|---|---|\n| orphan | 294 |\n| empty | |\n\n9,197 memories.\n| no |\n"
    assert kept.parsed(printed) == (["kind", "found"], [["orphan", "294"], ["empty", ""]])
    with pytest.raises(SystemExit, match="no Markdown table"):
        kept.parsed("Nothing was measured.\n")


def test_what_was_measured_is_kept_with_its_commit(kept: ModuleType) -> None:
    kept.keep("talk", "new", "python benchmarks/x.py", ["a"], [["1"]])
    made = kept.read("talk", "new")
    assert (made["command"], made["rows"], len(made["commit"])) == ("python benchmarks/x.py", [["1"]], 7)
    assert kept.read("talk", "all") == TABLE


def test_parameters_and_constants_in_the_explanations_are_those_of_the_code() -> None:
    """`part.parameter = value`, or `parameter = value` in the row of a part; `module.CONSTANT = value` for the rest."""
    shown = [(page, *figure) for page in EXPLAINED for figure in stated(page.read_text(encoding="utf-8"))]
    assert len(shown) > 30
    for page, owner, name, value in shown:
        recipe = RECIPE_OF.get(page.stem, page.stem if page.stem in RECIPES else "memorist")
        found = list(constants(owner, name) if name.isupper() else parameters(recipe, owner, name))
        assert value in found, f"{page.name}: {owner}.{name} is {found}, not {value}"


def stated(page: str) -> Iterator[tuple[str, str, object]]:
    for line in page.splitlines():
        [row] = re.findall(r"^\| `(\w+)` \|", line) or [""]
        for owner, name, value in re.findall(r"`(?:(\w+)\.)?(\w+) = ([^`]+)`", line):
            if owner or row:
                yield owner or row, name, tomllib.loads(f"it = {value}")["it"]


def parameters(recipe: str, part: str, name: str) -> Iterator[object]:
    return (getattr(piece, name) for piece in RECIPES[recipe].parts() if piece.kind == part)


def constants(module: str, name: str) -> Iterator[object]:
    """The values of a constant in the modules of this name; those that do not define it are not imported."""
    for path in (ROOT / "src").rglob(f"{module}.py"):
        if re.search(rf"^(?:\w+, )*{name}\b.* = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            full = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
            yield getattr(import_module(full), name)


def test_every_table_of_the_results_is_on_a_page(figures: ModuleType) -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in figures.PAGES)
    tables = [f"{file.stem}/{name}" for file in figures.RESULTS.glob("*.json") for name in json.loads(file.read_text())]
    assert [name for name in tables if name not in shown] == []

"""Reports of a bench in the inspector."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_talks import TALKS
from memorist.config import Config
from memorist_bench.results import results_to_data
from memorist_bench.runner import prepare
from server_tests.inspector.browser import Browser
from server_tests.inspector.conftest import HOME, Inspecting

BENCH = f"{HOME}/bench"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    data = results_to_data(prepare(Config(embedder="none"), tmp_path, recipes=["bm25"]).measure(TALKS), answers=True)
    (folder / "monday.json").write_text(json.dumps(data))
    data["recipes"]["<b>bm25</b>"] = data["recipes"].pop("bm25")
    data["recipes"]["<b>bm25</b>"]["measures"] = {
        name: [0.0, *column[1:]] for name, column in data["recipes"]["<b>bm25</b>"]["measures"].items()
    }
    (folder / "tuesday.json").write_text(json.dumps(data))
    return folder


def at(inspecting: Inspecting, results: Path | None) -> Browser:
    made = inspecting(bench=None if results is None else str(results))
    made.memory().remember("The kettle is blue.")
    return made.browser()


def test_runs_are_listed_with_their_figures_and_compared_by_question(inspecting: Inspecting, results: Path) -> None:
    agent = at(inspecting, results)
    page = agent.get(BENCH)
    assert page.status == 200 and "monday.json" in page.text and "tuesday.json" in page.text
    assert "75.0" in page.text and "By type of question" in page.text  # three of four questions find their turn
    compared = agent.get(f"{BENCH}?one=monday.json/bm25&other=tuesday.json/%3Cb%3Ebm25%3C/b%3E")
    assert "4 questions that both answered" in compared.text and "+25.0" in compared.text
    assert "not told apart" in compared.text and "<b>" not in compared.source


def test_a_run_that_is_not_in_the_folder_is_not_found(inspecting: Inspecting, results: Path) -> None:
    agent = at(inspecting, results)
    (results.parent / "secret.json").write_text((results / "monday.json").read_text())
    for name in ("..%2Fsecret.json/bm25", "/etc/passwd", "nothing.json/bm25"):
        assert agent.get(f"{BENCH}?one={name}&other=monday.json/bm25").status == 404
    assert agent.get(f"{BENCH}?one=monday.json&other=monday.json/bm25").status == 422


def test_empty_states_say_what_to_do(inspecting: Inspecting, tmp_path: Path) -> None:
    assert "memorist inspect --bench" in at(inspecting, None).get(BENCH).text
    empty = tmp_path / "empty"
    empty.mkdir()
    agent = at(inspecting, empty)
    assert "holds no results yet" in agent.get(BENCH).text
    (empty / "x.json").write_text("{}")
    assert "x.json is not what" in agent.get(BENCH).text

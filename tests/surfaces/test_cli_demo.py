"""The demo plays a real story, and its answers are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memorist.recall.recipes import RECIPES
from memorist.surfaces.cli.demo import QUESTIONS, TURNS
from tests.surfaces.conftest import Cli


@pytest.fixture(scope="module")
def scenes() -> dict[str, Any]:
    import memorist
    from memorist.surfaces.cli.demo import play_all

    with memorist.open(":memory:", embedder="local", config={}) as engine:
        return play_all(engine, quiet=True)


def kept(extract: str) -> int:
    """How many memories and earlier versions the story makes."""
    import memorist

    with memorist.open(":memory:", embedder="none", config={"extract": extract}) as engine:
        engine.remember_many(TURNS)
        stats = engine.stats()
        return stats.memories + stats.versions


def test_the_whole_story_is_remembered(scenes: dict[str, Any]) -> None:
    assert len(scenes["remember"]["moments"]) == len(TURNS)
    assert kept(extract="off") == len(TURNS)
    assert scenes["stats"]["memories"] + scenes["stats"]["versions"] == kept(extract="rules")  # with what they state
    assert scenes["stats"]["ms_per_recall"] > 0


def test_every_question_finds_its_answer(scenes: dict[str, Any]) -> None:
    answers = [asked["first"]["text"] for asked in scenes["recall"]]
    wanted = ["hazelnuts", "router", "INV-2024-0117", "tripod", "龙井茶"]
    assert len(answers) == len(QUESTIONS)
    for answer, word in zip(answers, wanted, strict=True):
        assert word in answer


def test_the_answer_depends_on_the_moment_it_is_asked_for(scenes: dict[str, Any]) -> None:
    before, now = scenes["time_travel"]
    assert before["first"]["text"] == "Alice lives in Oslo."
    assert now["first"]["text"] == "Alice lives in Stockholm."
    assert "Stockholm" in scenes["context"]["context"]


def test_every_recipe_has_its_turn(scenes: dict[str, Any]) -> None:
    assert [asked["recipe"] for asked in scenes["recipes"]] == list(RECIPES)


def test_the_explanation_is_of_the_first_answer(scenes: dict[str, Any]) -> None:
    assert "Alice lives in Stockholm." in scenes["explain"]["description"]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo leaves its file."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_demo_prints_what_it_computed_and_what_to_do_next(bare: Cli) -> None:
    ran = bare("demo")
    assert (ran.status, ran.err) == (0, "")
    for words in ("Alice lives in Oslo.", "Alice lives in Stockholm.", "龙井茶", "memorist remember"):
        assert words in ran.out
    assert all(name in ran.out for name in RECIPES)


def test_the_demo_is_data_too(process: Cli) -> None:
    data = process("demo", "--json").data
    assert data.keys() == {"remember", "recall", "context", "recipes", "time_travel", "explain", "stats"}


def test_the_demo_needs_no_model(bare: Cli) -> None:
    assert bare("--embedder", "none", "demo", "--json").data["stats"]["embedding"] is None


def test_the_demo_leads_to_the_inspector_with_a_file_that_stays(bare: Cli, temporary: Path) -> None:
    ran = bare("--embedder", "none", "demo")
    (file,) = temporary.glob("memorist-demo-*/demo.db")
    assert f"inspect {file}" in "".join(ran.out.split("\n   ")) and '--ask "Where does Alice live?"' in ran.out
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_the_demo_keeps_its_story_where_it_is_told_to(bare: Cli, tmp_path: Path) -> None:
    import memorist

    file = tmp_path / "story.db"
    bare("--embedder", "none", "demo", "--json", "--keep", str(file))
    with memorist.open(file, space="demo", embedder="none", config={}) as engine:
        assert engine.stats().memories > len(TURNS)
    assert "exists already" in bare("demo", "--keep", str(file)).problem

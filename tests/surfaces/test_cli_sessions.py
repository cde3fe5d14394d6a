"""The commands for sessions, and what a recall prints besides its items."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memorist
from memorist.model import Link
from memorist.ports import Batch
from memorist.recall.assemble import FACTS_HEADER
from memorist.recall.recipes import RECIPES
from memorist.surfaces.cli.app import Target
from memorist.testing import FakeEmbedder
from tests.secret_samples import token
from tests.surfaces.conftest import Cli


def test_a_session_is_started_stepped_committed_listed_and_asked_in(cli: Cli) -> None:
    assert cli("session", "start", "Bring the shop back.", "--id", "shop").out == "shop\n"
    first = cli("session", "step", "shop", "The disk is full.", "--action", "delete the old logs", "--json").data
    assert (first["text"], first["position"]) == ("The disk is full.\nAction: delete the old logs", 1)
    again = ("session", "step", "shop", "The shop answers with 200.", "--reward", "1", "--number", "2")
    assert [cli(*again).out.split("  ")[0] for _ in range(2)] == ["✓ Kept: step 2", "· Known already: step 2"]
    asked = ("session", "recall", "shop", "What was full?")
    found = cli(*asked, "--json").data
    assert (found["query"], found["items"]) == ("What was full?", []), "its own steps are no answers yet"
    assert cli("session", "list").out == "shop  open  2 steps  Bring the shop back.\n"
    assert cli("session", "commit", "shop").out.startswith("2 steps read by rules: subgoal 1 · ")
    assert "The disk is full." in cli(*asked, "--context").out
    (run,) = cli("session", "list", "--json").data
    assert (run["id"], run["state"], run["steps"], run["learnt"]) == ("shop", "closed", 2, 2)
    assert cli("session", "commit", "shop").out == "0 steps read by rules: nothing new (closed)\n"


def test_a_session_is_discarded_for_good(cli: Cli, db: Path) -> None:
    cli("session", "start", "Bring the shop back.", "--id", "shop")
    cli("session", "step", "shop", "The zebra is full.")
    assert cli("session", "discard", "shop").out == "Forgot 2 memories.\n"
    assert cli("session", "list").out == "shop  closed  1 step  Bring the shop back.\n"
    assert cli("session", "discard", "shop", "--json").data["forgotten"] == []
    assert cli("session", "commit", "shop").out == "0 steps read by rules: nothing new (closed)\n"
    assert b"zebra" not in db.read_bytes() and "no session 'shpo'" in cli("session", "discard", "shpo").problem


def test_a_misspelt_session_is_not_started_and_an_unknown_one_asks_plainly(empty: Cli, cli: Cli) -> None:
    for words in (("step", "shpo", "The disk is full."), ("commit", "shpo")):
        ran = empty("session", *words)
        assert (ran.status, ran.problem) == (
            1,
            "There is no session 'shpo'. Start one with `memorist session start`.",
        )
    assert cli("session", "list").out == "No sessions here.\n"
    assert cli("session", "recall", "shpo", "What now?", "--json").data["query"] == "What now?"
    assert cli("session", "step", "shpo", "It works.", "--reward", "2").status == 2


def test_a_step_passes_the_gates(cli: Cli, db: Path) -> None:
    secret = "sk-proj-" + token(40)
    cli("session", "start", "--id", "shop")
    cli("session", "step", "shop", f"The key is {secret}.", "--action", f"use {secret}")
    assert secret not in cli("list", "--json").out and secret.encode() not in db.read_bytes()


# What a recall prints

QUESTION = "Where does Alice live?"


@pytest.fixture
def alice(bare: Cli, db: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A fact with the episode that says it, and commands that embed without a model."""
    monkeypatch.setattr(Target, "open", lambda _, **_how: memorist.open(db, embedder=FakeEmbedder(), config={}))
    with memorist.open(db, embedder=FakeEmbedder(), config={}) as engine:
        said = engine.remember("Alice moved to Oslo.", at="2024-06-03")
        fact = engine.relate("Alice", "lives_in", "Oslo", valid_from="2024-06-03", source=said.id)
        engine.store.put(Batch(links=[Link(fact.id, "source", said.id)]))
    return bare


def test_a_recall_prints_the_cited_context_of_memoria(alice: Cli) -> None:
    shown = alice("recall", QUESTION, "--recipe", "memoria").out
    assert f"\n{FACTS_HEADER}\n" in shown and "\n- Alice lives in Oslo. (lives_in; 2024-06-03 to now; [1]" in shown
    assert re.search(r"^\[1\] .*Alice moved to Oslo\.", shown, re.MULTILINE)
    assert FACTS_HEADER not in alice("recall", QUESTION).out


def test_a_recall_prints_what_was_reasoned_for_each_type(alice: Cli) -> None:
    shown = alice("recall", QUESTION, "--recipe", "mnemosyne-graph").out
    assert "#None" not in shown  # the relevance is computed for every node: it has no rank
    assert "\nsemantic: Alice lives in Oslo.\n" in shown


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_explains_a_place_and_an_absence(alice: Cli, recipe: str) -> None:
    how = ("--recipe", recipe, "--limit", "1")
    (item,) = alice("recall", QUESTION, *how, "--explain", "--json").data["items"]
    assert item["explanation"]["details"][0]["description"] == "found by"
    assert "found by\n" in alice("recall", QUESTION, *how, "--explain").out
    others = [listed["id"] for listed in alice("list", "--json").data["items"] if listed["id"] != item["id"]]
    assert alice("why-not", QUESTION, others[0], *how, "--json").data["stage"] is not None
    assert len(alice("why-not", QUESTION, others[0], *how).out) > 10

"""`memorist tune`, as a user meets it: remember, recall, rate, tune, read, apply, recall again, undo."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memorist
from tests.surfaces.conftest import Cli

THINGS = [
    *("kettle", "ladder", "passport", "umbrella", "drill", "tent", "scanner", "cello", "helmet", "racket"),
    *("toolbox", "torch", "camera", "blanket", "printer", "bicycle", "suitcase", "guitar", "compass", "whistle"),
    *("hammer", "mirror", "basket", "candle", "teapot", "saddle", "anchor", "trumpet", "lantern", "vase"),
]
RECIPE = """# how we search
[recipes.plain]
stages = [
  { stage = "search", signals = [{ signal = "keyword" }] },
  { stage = "weighted_sum", weights = { keyword = 1.0 }, importance = 0.0 },
  { stage = "weigh", factors = [{ factor = "bounded_recency", share = 0.7, half_life_days = 30 }] },
  { stage = "limit" },
  { stage = "assemble" },
]
"""
TOLD = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def home(bare: Cli, db: Path) -> Cli:
    """A recipe that prefers the new far too much, and thirty things that are told of twice.

    The first time says where a thing is; the second, a year later, only names it.
    """
    Path("memorist.toml").write_text(RECIPE, encoding="utf-8")
    with memorist.open(db, embedder="none", config={"extract": "off"}) as memory:
        for thing in THINGS:
            memory.remember(f"The {thing} is kept in the cellar.", key=thing, at=TOLD)
            new = f"Somebody asked about a {thing} and then talked about other matters for long."
            memory.remember(new, at=datetime.now(UTC) - timedelta(days=1))
    return lambda *arguments: bare("--db", str(db), "--embedder", "none", *arguments)


def question(thing: str) -> str:
    return f"Where is the {thing} kept?"


def rate(db: Path, words: str, things: list[str]) -> None:
    """Ask about things, and call the item about the thing that contains these words useful."""
    with memorist.open(db, embedder="none", config="memorist.toml", recipe="plain") as memory:
        for thing in things:
            found = memory.recall(question(thing))
            [useful] = [
                item.memory.id for item in found.items if thing in item.memory.text and words in item.memory.text
            ]
            memory.feedback(useful, "useful", found)


OLD, NEW = "in the cellar", "other matters"


def first(home: Cli, thing: str) -> str:
    return home("recall", question(thing), "--recipe", "plain", "--json").data["items"][0]["text"]


def test_feedback_is_learned_from_shown_applied_and_undone(home: Cli, db: Path) -> None:
    assert NEW in first(home, "kettle")
    rate(db, OLD, THINGS[:-1])
    found = home("recall", question(THINGS[-1]), "--recipe", "plain", "--json").data
    Path("recall.json").write_text(json.dumps(found), encoding="utf-8")
    [useful] = [item["id"] for item in found["items"] if OLD in item["text"] and THINGS[-1] in item["text"]]
    home("feedback", useful, "useful", "--recall", "recall.json")
    shown = home("tune", "--recipe", "plain")
    assert (shown.status, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0] == "30 judged questions: 30 from feedback."
    assert lines[2].startswith("Gain on questions that the fit has not seen: +0.") and "30 better, 0 worse" in lines[2]
    assert lines[3].split() == ["bounded_recency.share", "0.7", "→", "0.35"]
    assert lines[-2:] == ['+"bounded_recency.share" = 0.35', "--apply writes this."]
    assert Path("memorist.toml").read_text(encoding="utf-8") == RECIPE
    assert all(thing not in shown.out for thing in THINGS), "no text of a memory or a question is printed"

    applied = home("tune", "--recipe", "plain", "--apply")
    assert applied.out.splitlines()[:-1] == lines[:-1]
    assert applied.out.splitlines()[-1] == "✓ Written. To undo: memorist tune --undo"
    assert Path("memorist.toml").read_text(encoding="utf-8").startswith(RECIPE)
    assert OLD in first(home, "kettle")

    assert home("tune", "--recipe", "plain", "--undo").out.endswith("memorist.toml is as it was before.\n")
    assert Path("memorist.toml").read_text(encoding="utf-8") == RECIPE
    assert NEW in first(home, "kettle")
    assert home("tune", "--recipe", "plain", "--undo").problem.endswith("Nothing is left to undo.")


def test_contradicting_feedback_changes_nothing_and_that_is_a_success(home: Cli, db: Path) -> None:
    rate(db, OLD, THINGS[::2])
    rate(db, NEW, THINGS[1::2])
    before = db.read_bytes()
    done = home("tune", "--recipe", "plain", "--apply", "--json").data
    assert (done["questions"], done["changes"], done["file"], done["applied"]) == (30, [], None, False)
    assert done["gain"]["low"] <= 0
    assert home("tune", "--recipe", "plain").out.endswith("No change: the gain is within chance.\n")
    assert Path("memorist.toml").read_text(encoding="utf-8") == RECIPE
    assert db.read_bytes() == before, "the memory is only read"


def test_judged_questions_are_asked_of_the_memory_that_has_their_ids_or_keys(home: Cli, db: Path) -> None:
    asked = [{"text": question(thing), "gold": [thing]} for thing in THINGS]
    with memorist.open(db, embedder="none", config={}) as memory:
        kettle = next(row for row in memory.list(100).items if row.origin.key == "kettle")
    asked[0]["gold"] = [kettle.id]
    asked.append({"text": "Where is the zeppelin kept?", "gold": ["zeppelin"]})
    Path("asked.json").write_text(json.dumps({"questions": asked}), encoding="utf-8")
    done = home("tune", "--recipe", "plain", "--questions", "asked.json", "--json").data
    assert done["sources"] == {"asked.json": 30, "feedback": 0}
    assert done["changes"] == [{"number": "bounded_recency.share", "from": 0.7, "to": 0.35}]
    assert done["measure"] == "ndcg@10" and done["now"] < 0.7 and done["better"] == 30
    other = home("tune", "--recipe", "plain", "--questions", "asked.json", "--seed", "7", "--json").data
    assert other["changes"] == done["changes"]


def test_a_world_that_is_not_in_the_memory_brings_its_own(home: Cli) -> None:
    now = datetime.now(UTC).isoformat()
    world = {
        "now": now,
        "memories": [
            {"id": f"{thing}-{age}", "text": text.format(thing), "at": at}
            for thing in THINGS
            for age, text, at in (
                ("old", "The {} is kept in a loft.", TOLD.isoformat()),
                ("new", "Somebody asked about a {} and went on about this and that for very long.", now),
            )
        ],
        "questions": [{"id": thing, "text": question(thing), "gold": [f"{thing}-old"], "also": []} for thing in THINGS],
    }
    Path("world.json").write_text(json.dumps(world), encoding="utf-8")
    done = home("tune", "--recipe", "plain", "--questions", "world.json", "--json").data
    assert done["sources"] == {"world.json": 30, "feedback": 0}
    assert [change["number"] for change in done["changes"]] == ["bounded_recency.share"]
    text = json.dumps(world).replace("-old", "").replace("a loft", "the cellar").replace("very long", "ages")
    Path("ours.json").write_text(text, encoding="utf-8")
    done = home("tune", "--recipe", "plain", "--questions", "ours.json", "--questions", "world.json", "--json").data
    assert done["sources"] == {"ours.json": 30, "world.json": 30, "feedback": 0}
    assert done["now"] < 0.7, "the memory that has the keys and texts of a world is asked, with all its memories"


def test_too_little_evidence_is_a_problem_with_a_remedy(home: Cli, db: Path) -> None:
    rate(db, OLD, THINGS[:2])
    problem = home("tune", "--recipe", "plain").problem
    assert problem.startswith(
        "There are 2 judged questions, and tuning needs at least 30. Give feedback on more recalls:"
    )
    assert "memorist feedback" in problem
    Path("empty.json").write_text('{"questions": [{"text": "Where?"}]}', encoding="utf-8")
    assert "gold" in home("tune", "--recipe", "plain", "--questions", "empty.json").problem
    assert home("tune", "--questions", "nowhere").problem.startswith("There is no file nowhere.")
    assert "There is no recipe 'other'" in home("tune", "--recipe", "other").problem


def test_a_broken_settings_file_is_a_problem_and_stays_as_it_is(home: Cli) -> None:
    Path("memorist.toml").write_text(RECIPE + "[", encoding="utf-8")
    for option in ("--apply", "--undo"):
        assert "is not TOML" in home("tune", "--recipe", "plain", option).problem
    assert Path("memorist.toml").read_text(encoding="utf-8") == RECIPE + "["

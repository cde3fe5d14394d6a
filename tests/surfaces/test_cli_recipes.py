"""`memorist recipes` prints recipes, and a recall prints its stages."""

from __future__ import annotations

import re
from pathlib import Path

from tests.surfaces.conftest import Cli


def test_recipes_are_listed_and_taken_apart(cli: Cli) -> None:
    listed = cli("recipes", "--json").data
    assert all(recipe.keys() - {"names"} == {"name", "stages"} for recipe in listed)
    assert cli("recipes", "memorist", "--json").data == next(
        recipe for recipe in listed if recipe["name"] == "memorist"
    )
    assert re.search(r"^memorist +Our own recipe", cli("recipes").out, re.MULTILINE)
    shown = cli("recipes", "memorist").out
    stages = cli("recipes", "memorist", "--json").data["stages"]
    assert re.findall(r"^  (\w+)", shown, re.MULTILINE) == [stage["stage"] for stage in stages]
    [reread] = [stage for stage in stages if stage["stage"] == "rerank_blend"]
    assert re.search(rf"^  rerank_blend +depth {reread['depth']} · weight {reread['weight']:g}", shown, re.MULTILINE)
    assert re.search(r"^    keyword\b", shown, re.MULTILINE)


def test_recipes_of_the_settings_file_are_recipes_too(bare: Cli) -> None:
    Path("memorist.toml").write_text(
        '[recipes.mine]\nbase = "memorist"\nset = { "rerank_blend.depth" = 7 }\n', encoding="utf-8"
    )
    assert "mine" in [recipe["name"] for recipe in bare("recipes", "--json").data]
    assert re.search(r"^mine +content → dates → embed", bare("recipes").out, re.MULTILINE)
    assert "depth 7" in bare("recipes", "mine").out


def test_a_recall_by_abmind_prints_a_line_per_stage(cli: Cli) -> None:
    cli("remember", "The project keeps everything in a database.")
    cli("relate", "alice", "works_with", "bob")
    asked = ("recall", "what database does the project use? alice?", "--recipe", "abmind", "--limit", "1")
    shown = re.sub(r"\d+ ms", "1 ms", cli(*asked, "--stages").out).splitlines()
    assert shown[shown.index('Stage Sf: 1 hit (1 ms) — matches on "database", "project"') :] == [
        'Stage Sf: 1 hit (1 ms) — matches on "database", "project"',
        "Stage Se: skipped (1 found already)",
        "Stage Ss: skipped (1 found already)",
        "Stage S6: 0 hits (1 ms) — no match",
        "Stage S8: 1 hit (1 ms) — best 0.60",
        "→ 2 candidates → MMR rerank → 1 returned",
    ]
    assert "Stage Sf" not in cli(*asked).out
    assert re.search("^Stage keyword: 1 hit", cli("recall", "project", "--stages").out, re.MULTILINE)
    assert "--stages" in cli("recall", "project", "--stages", "--context").problem

"""A recall imports only the modules of its recipe and of the configured models."""

from __future__ import annotations

import subprocess
import sys

import pytest

OTHER_STAGES = {"hops", "nodes", "graph", "reason", "llm_or_rules", "understand", "noise", "explain"}
VENDORS = {"embedders.vendors", "embedders.remote", "http", "llms.openai", "llms.anthropic", "llms.remote"}


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import memorist.stages", {f"recall.{name}" for name in (*OTHER_STAGES, "select", "signals", "recipes")}),
        ("from memorist.stages import Limit", {f"recall.{name}" for name in (*OTHER_STAGES, "signals", "recipes")}),
        ("from memorist.stages import RECIPES; RECIPES['memorist']", {f"recall.{name}" for name in OTHER_STAGES}),
        ("from memorist.asking import Askers; Askers().for_recall()", {"asking.asker", "asking.wording"}),
        ("from memorist.models import llms; llms.build(None)", {f"models.{name}" for name in VENDORS}),
        ("from memorist.models import rerankers; rerankers.build('auto')", {"models.rerankers.http"}),
        ("from memorist.models import embedders; embedders.build('none')", {f"models.{name}" for name in VENDORS}),
        (
            "from memorist.models.embedders import build; build('local').generation",
            {f"models.{name}" for name in VENDORS},
        ),
    ],
)
def test_nothing_is_imported_that_is_not_used(code: str, unwanted: set[str]) -> None:
    report = f"{code}\nimport sys\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    assert {f"memorist.{name}" for name in unwanted} & set(ran.stdout.split()) == set()


def test_the_default_recipe_is_built_without_numpy() -> None:
    code = "from memorist.stages import RECIPES; RECIPES['memorist']; import sys; print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False"]

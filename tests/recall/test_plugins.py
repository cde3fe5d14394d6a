"""Parts and value functions of other packages, through their entry points: a real one, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = '''
from dataclasses import dataclass, replace
from memorist.stages import Factor, Hit, Signal, Stage

@dataclass(frozen=True, slots=True)
class Starred(Factor):
    """`boost` for memories flagged as starred."""
    kind = "starred"
    boost: float = 100.0
    def __call__(self, candidate, draft, env):
        return self.boost if "starred" in candidate.memory.worth.flags else 1.0

@dataclass(frozen=True, slots=True)
class Everything(Signal):
    """All memories, as good as each other."""
    kind = "everything"
    def search(self, draft, env, limit):
        page = env.store.scan(draft.request.where, limit)
        return sorted([Hit(memory.id, 1.0) for memory in page.items], key=lambda hit: hit.id)

@dataclass(frozen=True, slots=True)
class Reverse(Stage):
    """The candidates, last first."""
    kind = "reverse"
    def __call__(self, draft, env):
        return replace(draft, candidates=draft.candidates[::-1])

def constant(relevance, memory, usage, params):
    return 0.25
'''
ENTRY_POINTS = """
[memorist.factors]
starred = plug:Starred
[memorist.signals]
everything = plug:Everything
[memorist.stages]
reverse = plug:Reverse
[memorist.value_functions]
constant = plug:constant
"""
SCRIPT = """
import memorist
from memorist.testing.fakes import FakeEmbedder
stages = [
    {"stage": "search", "signals": [{"signal": "everything"}]},
    {"stage": "rrf"},
    {"stage": "weigh", "factors": [{"factor": "starred", "boost": 7}]},
    {"stage": "reverse"},
    {"stage": "limit"},
]
recipes = {"mine": {"stages": stages}, "flat": {"base": "mnemosyne-graph", "set": {"nodes.function": "constant"}}}
with memorist.open(":memory:", embedder=FakeEmbedder(), config={"recipes": recipes}) as memory:
    memory.remember("plain")
    memory.remember("bright", flags=["starred"])
    print(*[item.memory.text for item in memory.recall("?", recipe="mine").items])
    print(*{item.score for item in memory.recall("plain bright", recipe="flat").items})
"""


def test_a_package_adds_factors_signals_stages_and_value_functions(tmp_path: Path) -> None:
    (tmp_path / "plug.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "plug-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["plain", "bright", "0.25"]

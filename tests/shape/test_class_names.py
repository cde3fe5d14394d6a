"""One name per concept: no public class of any distribution has the name of another."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.shape.test_imports import tree

ROOT = Path(__file__).parents[2]
OF_FRAMEWORKS = {"MemoristMemoryStore"}
"""Names that two agent frameworks ask for."""


def test_no_two_classes_have_the_same_name() -> None:
    homes = defaultdict[str, list[str]](list)
    for path in (*ROOT.glob("src/**/*.py"), *ROOT.glob("packages/*/src/**/*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert len(homes) > 500
    assert {name: at for name, at in homes.items() if len(at) > 1 and name not in OF_FRAMEWORKS} == {}

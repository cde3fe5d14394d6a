"""No two siblings import each other in a circle, at any level of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.shape.test_imports import tree

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "src", *ROOT.glob("packages/*/src")]


def module_name(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path, source): path for source in SOURCES for path in source.rglob("*.py")}
PACKAGES = sorted({name.rpartition(".")[0] for name in MODULES if "." in name})


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Everything that runs, functions included; blocks for the type checker do not run."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from statements(child)


@cache
def imports(path: Path) -> set[str]:
    found = [
        (node.module, alias.name)
        for node in statements(tree(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES
        for alias in node.names
    ]
    return {f"{module}.{name}" if f"{module}.{name}" in MODULES else str(module) for module, name in found}


def siblings(package: str) -> dict[str, set[str]]:
    """The children of a package, each with the other children it imports from."""
    level = package.count(".") + 1
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        if name.startswith(f"{package}."):
            here = name.split(".")[level]
            others = {found.split(".")[level] for found in imports(path) if found.startswith(f"{package}.")}
            graph.setdefault(here, set()).update(others - {here})
    return graph


@pytest.mark.parametrize("package", PACKAGES)
def test_siblings_do_not_import_each_other_in_a_circle(package: str) -> None:
    try:
        TopologicalSorter(siblings(package)).prepare()
    except CycleError as error:
        pytest.fail(f"{package}: {' ← '.join(error.args[1])}")

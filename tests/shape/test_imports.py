"""The architecture, as import rules: who may know whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import memorist

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src"
SATELLITES = sorted(
    path.parent for path in ROOT.glob("packages/*/src/*/__init__.py") if "models" not in path.parent.name
)
SOURCES = {"memorist": CORE, **{folder.name: folder.parent for folder in SATELLITES}}
"""The folder that holds each distribution's package. A room of the core is a folder of it; a satellite is one room."""
PURE = {"errors", "model", "ports", "results", "text", "validate"}
MAY_IMPORT = {
    "errors": set[str](),
    "validate": {"errors"},
    "http": {"errors"},
    "files": {"errors"},
    "trust": {"errors", "files"},
    "config": {"errors", "trust", "validate"},
    "text": {"errors"},
    "model": {"errors"},
    "results": {"errors", "model", "validate"},
    "ports": {"errors", "model", "results"},
    "verbs": {"model", "ports", "results"},
    "aio": {"errors", "model", "results", "verbs"},
    "stores": {*PURE, "files"},
    "models": {*PURE, "http"},
    "asking": PURE,
    "recall": {*PURE, "asking", "models"},
    "remember": {*PURE, "asking", "models"},
    "upkeep": {*PURE, "asking", "files", "models", "recall", "remember"},
    "profiles": {"errors", "asking", "recall", "validate"},
    "stages": {"model", "recall"},
    "engine": {*PURE, "aio", "asking", "config", "models", "profiles", "recall", "remember", "stores", "upkeep"},
    "client": {"aio", "errors", "files", "http", "model", "ports", "results", "verbs"},
    "testing": {*PURE, "recall"},
    "surfaces": {"config", "engine", "errors", "files", "model", "results", "text", "trust"},
    "integrations": {"errors", "memorist_agents", "verbs"},  # thin re-exports
    "__main__": {"surfaces"},
    "project": {"model"},
    "memorist_agents": {
        *PURE,
        *("config", "engine", "files", "integrations", "project", "recall", "remember", "surfaces", "trust", "verbs"),
        "memorist_server",  # refuses to write an entry for an MCP server that cannot start
    },
    "memorist_server": {
        *PURE,
        *("asking", "config", "engine", "files", "project", "stores", "surfaces", "trust", "verbs"),
        "memorist_bench",  # the inspector shows what a bench wrote, with its own statistics
    },
    "memorist_import": {*PURE, "engine", "files", "models", "remember", "surfaces", "upkeep"},
    "memorist_bench": {
        "memorist_import",  # reads datasets
        *PURE,
        *(
            "config",
            "engine",
            "files",
            "models",
            "profiles",
            "recall",
            "remember",
            "stores",
            "surfaces",
            "trust",
            "upkeep",
        ),
    },
}
EXCEPTIONS = {
    "surfaces/cli/recipes.py": {"recall"},  # prints recipes as data without opening a memory
    "surfaces/cli/move.py": {"upkeep"},  # copies one store to another, without an engine
    "engine/syncing.py": {"memorist_import"},  # `memorist.sync` where that is installed
    "stores/__init__.py": {"memorist_server"},  # exports PostgresStore where that is installed
    "model/marks.py": {"text"},  # quotes what memories say in its notes
    "memorist_server/inspector": {"recall", "remember", "upkeep"},  # shows how answers and changes came about
    "model/filter.py": {"text"},  # a condition on the text reads its words as the index does
    "model/spellings.py": {"text"},  # reads camelCase as the sentences of relations do
}
"""What a file or folder may import beyond its room's rule, and why."""
LAZY = {
    "numpy",
    "onnxruntime",
    "tokenizers",
    "apsw",
    "httpx",
    "typer",
    "rich",
    "Stemmer",
    "spacy",
    "platformdirs",
    "memorist_models",
    "memorist_import",
    "pypdf",
    "psycopg",
    "psycopg_pool",
    "pgvector",
    "mcp",
    "pydantic",
    "starlette",
    "uvicorn",
    "opentelemetry",
}


def modules() -> list[Path]:
    return sorted(path for name, source in SOURCES.items() for path in (source / name).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path: Path) -> Path:
    """Where a module lies: in the core below its package, in a satellite with the satellite's name."""
    (source,) = (source for name, source in SOURCES.items() if path.is_relative_to(source / name))
    return path.relative_to(source / "memorist" if source == CORE else source)


def room(path: Path) -> str:
    return place(path).with_suffix("").parts[0]


def exceptions(path: Path) -> set[str]:
    here = place(path)
    return {room for where, rooms in EXCEPTIONS.items() if here.is_relative_to(where) for room in rooms}


@cache
def imported_modules(path: Path) -> set[str]:
    """Modules of ours that a file imports, and names that it imports from the package itself."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {
                f"{node.module}.{alias.name}" if node.module in SOURCES else str(node.module) for alias in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if "." in alias.name}
    return {name for name in found if name.partition(".")[0] in SOURCES}


def imported_rooms(path: Path) -> set[str]:
    """The rooms of the core, and the satellites, that a file imports from."""
    names = [name.split(".") for name in imported_modules(path)]
    return {inner if package == "memorist" else package for package, inner, *_ in names}


def forbidden(path: Path) -> set[str]:
    """The rooms that a module imports from against its room's rule."""
    here = room(path)
    return (
        set()
        if here == "__init__"
        else imported_rooms(path) - MAY_IMPORT[here] - exceptions(path) - {here, "__version__"}
    )


def test_a_module_imports_only_what_its_room_may_know() -> None:
    assert {str(place(path)): rooms for path in modules() if (rooms := forbidden(path))} == {}


def test_every_room_has_a_rule() -> None:
    assert {room(path) for path in modules()} - {"__init__"} <= MAY_IMPORT.keys()


@pytest.mark.parametrize("where", EXCEPTIONS)
def test_every_exception_is_needed(where: str) -> None:
    files = [path for path in modules() if place(path).is_relative_to(where)]
    used = {room for path in files for room in imported_rooms(path)}
    assert EXCEPTIONS[where] <= used


def test_every_module_that_a_script_imports_exists() -> None:
    """The type checker lets them import what it does not find, because it has not every package that they need."""
    scripts = [
        path for name in ("benchmarks", "docs", "examples", "tools", "training") for path in (ROOT / name).rglob("*.py")
    ]
    files = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for name, source in SOURCES.items()
        for path in (source / name).rglob("*.py")
    }
    known = (
        files | {name.removesuffix(".__init__") for name in files} | {f"memorist.{name}" for name in memorist.__all__}
    )
    gone = {path.relative_to(ROOT): lost for path in scripts if (lost := imported_modules(path) - known)}
    assert gone == {}


def test_importing_memorist_loads_no_vendor() -> None:
    code = "import sys, memorist; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not LAZY & set(loaded)


def test_functions_stay_small() -> None:
    long = [
        f"{place(path)}: {node.name}"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= 50
    ]
    assert long == []

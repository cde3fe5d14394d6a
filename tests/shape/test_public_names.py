"""The public names: all are documented, and the examples of the docs use no others."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import memorist
from memorist import stages
from memorist.recall.catalogue import BUILT_IN, ROLES, part_named, parts
from memorist.verbs import Verbs

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PUBLIC = ("memorist.integrations", "memorist.stages", "memorist.stores", "memorist.testing")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_all_names_exactly_what_type_checkers_see() -> None:
    tree = ast.parse(Path(str(memorist.__file__)).read_text(encoding="utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(memorist.__all__)
    assert memorist.__all__ == sorted(memorist.__all__)


def test_the_page_on_versions_names_every_public_module_and_no_other() -> None:
    page = (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8")
    promised = page.partition("| Python | ")[2].partition(" | ")[0]
    assert set(re.findall(r"`(memorist[\w.]*)`", promised)) == {"memorist", *PUBLIC}


def test_every_public_name_resolves_and_has_a_docstring() -> None:
    for name in memorist.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(memorist, name)), name


def test_the_async_engine_has_the_same_verbs() -> None:
    def verbs(engine: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(engine, inspect.isfunction) if not name.startswith("_")}

    assert verbs(memorist.AsyncEngine) == verbs(memorist.Engine)


def test_engine_and_client_have_the_verbs_of_the_protocol() -> None:
    """The type checker compares the signatures: `AsyncEngine` takes `Verbs`, and both are given to it."""

    def verbs(engine: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(engine, inspect.isfunction) if not name.startswith("_")}

    assert verbs(memorist.Engine) == verbs(Verbs)
    assert verbs(memorist.Client) == verbs(Verbs) | {"recipes"}


def test_parts_state_their_role_kind_and_purpose() -> None:
    for role in ROLES:
        for kind, part in parts(role).items():
            assert (part.role, part.kind) == (role, kind)
            assert part.__doc__ and not part.__doc__.startswith(f"{part.__name__}("), part


def test_every_name_of_the_stages_module_resolves_and_has_a_docstring() -> None:
    assert len(set(stages.__all__)) == len(stages.__all__)
    for name in stages.__all__:
        assert inspect.getdoc(getattr(stages, name)), name
    with pytest.raises(AttributeError, match="no attribute 'Sorcery'"):
        _ = stages.Sorcery  # pyright: ignore[reportAttributeAccessIssue]


def test_the_stages_module_exports_every_part() -> None:
    names = {part_named(role, kind).__name__ for role in ROLES for kind in BUILT_IN[role]}
    assert names <= set(stages.__all__)


def test_the_example_of_the_stages_module_runs() -> None:
    lines = re.findall(r"^(?:>>>|\.\.\.)(?: (.*))?$", stages.__doc__ or "", re.MULTILINE)
    assert any("Factor" in line for line in lines)
    code = "\n".join([*lines, "assert any(part.kind == 'starred' for part in recipe.parts())"])
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_import_only_public_names(page: Path) -> None:
    for code in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module == "memorist":
                names = [alias.name for alias in node.names]
                assert [
                    name for name in names if name not in memorist.__all__ and f"memorist.{name}" not in PUBLIC
                ] == []
            elif isinstance(node, ast.ImportFrom | ast.Import):
                modules = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                assert [module for module in modules if _is_private(module)] == []


def _is_private(module: str | None) -> bool:
    inside = module is not None and module.startswith("memorist.")
    return inside and not any(module == name or str(module).startswith(f"{name}.") for name in PUBLIC)

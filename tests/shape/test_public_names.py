"""What users may import, and that all of it is described."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import memorist
from memorist.engine.verbs import Verbs
from memorist.recall.catalogue import BUILT_IN


def test_all_names_exactly_what_type_checkers_see() -> None:
    tree = ast.parse(Path(str(memorist.__file__)).read_text(encoding="utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(memorist.__all__)
    assert memorist.__all__ == sorted(memorist.__all__)


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
    kinds = [(part.role, part.kind) for part in BUILT_IN]
    assert len(set(kinds)) == len(kinds)
    for part in BUILT_IN:
        assert part.__doc__ and not part.__doc__.startswith(f"{part.__name__}("), part

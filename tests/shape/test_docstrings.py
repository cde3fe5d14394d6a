"""Every public method has a docstring, its own or that of the port or base class that it implements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.shape.test_imports import modules, place, tree

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Class(NamedTuple):
    where: str
    bases: tuple[str, ...]
    methods: dict[str, bool]
    """Its methods, and whether each has a docstring."""


def name_of(base: ast.expr) -> str:
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


def classes() -> Iterator[tuple[str, Class]]:
    for path in modules():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef):
                methods: dict[str, bool] = {}
                for part in node.body:  # overloads and setters share a docstring
                    if isinstance(part, Function) and not part.name.startswith("_"):
                        methods[part.name] = methods.get(part.name, False) or bool(ast.get_docstring(part))
                yield node.name, Class(str(place(path)), tuple(map(name_of, node.bases)), methods)


@pytest.fixture(scope="module")
def known() -> dict[str, list[Class]]:
    found: dict[str, list[Class]] = {}
    for name, one in classes():
        found.setdefault(name, []).append(one)
    return found


def ports(known: dict[str, list[Class]]) -> Iterator[Class]:
    """The ports that a class may implement without naming them; one method alone, such as `get`, says too little."""
    for alike in known.values():
        yield from (class_ for class_ in alike if "Protocol" in class_.bases and len(class_.methods) > 1)


def above(one: Class, known: dict[str, list[Class]]) -> Iterator[Class]:
    """The classes that it names as its bases, theirs, and so on."""
    for base in one.bases:
        for found in known.get(base, ()):
            yield found
            yield from above(found, known)


def bare(one: Class, known: dict[str, list[Class]]) -> list[str]:
    """Its public methods without a docstring of any kind."""
    line = [one, *above(one, known)]
    there = {name for each in line for name in each.methods}
    line += [port for port in ports(known) if port.methods.keys() <= there]
    return [name for name in one.methods if not any(each.methods.get(name) for each in line)]


def test_every_public_method_has_a_docstring_of_its_own_or_implements_one(known: dict[str, list[Class]]) -> None:
    public = [(name, class_) for name, alike in known.items() if not name.startswith("_") for class_ in alike]
    assert len(public) > 500
    assert {f"{one.where}: {name}": missing for name, one in public if (missing := bare(one, known))} == {}


def test_a_method_of_no_port_needs_its_own(known: dict[str, list[Class]]) -> None:
    assert bare(Class("", (), {"scan": False, "neighbours": False}), known) == []
    assert bare(Class("", (), {"scan": False, "neighbours": False, "extra": False}), known) == ["extra"]
    assert bare(Class("", (), {"scan": False, "neighbour": False}), known) == ["scan", "neighbour"]
    assert bare(Class("", ("Verbs",), {"remember": False, "forgive": False}), known) == ["forgive"]

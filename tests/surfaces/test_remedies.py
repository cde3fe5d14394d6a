"""Remedies: written once, as calls of verbs, and told in the words of each surface."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import memorist
import memorist_bench
import memorist_server
from memorist.errors import Remedy, VerbCall
from memorist.surfaces.cli.app import all_commands
from memorist.surfaces.remedies import ROUTES, TOOLS, Given, as_command, as_route, as_tool, in_words
from memorist.verbs import Verbs
from memorist_server.mcp.server import TOOLS as MCP_TOOLS
from memorist_server.rest.app import create_app
from memorist_server.rest.server import Settings

SOURCE = Path(memorist.__file__).parent
SOURCES = (SOURCE, *(Path(str(module.__file__)).parent for module in (memorist_bench, memorist_server)))
OWN_WORDS = ("surfaces", "bench", "client")
"""Packages whose errors reach one surface alone."""
FOR_THE_OWNER = {"trust", "recipes", "db", "doctor", "keys", "move"}
"""Commands for the person at the machine; no other surface has them."""


def texts(node: ast.AST) -> Iterator[str]:
    """The texts of a remedy: of a literal, of the fixed parts of an f-string, of both sides of a choice."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


@cache
def remedies() -> list[tuple[str, str]]:
    """Every text that is passed as `remedy=`, or stands in a table of remedies, and its module."""
    return list(read_remedies())


def read_remedies() -> Iterator[tuple[str, str]]:
    for file in sorted(SOURCE.rglob("*.py")):
        module, source = file.relative_to(SOURCE).as_posix(), file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "remed" in source.lower() else ():
            keyword = isinstance(node, ast.keyword) and node.arg == "remedy"
            table = isinstance(node, ast.Assign) and "REMEDIES" in ast.unparse(node.targets[0])
            if keyword or table:
                yield from ((module, text) for text in texts(node))


@cache
def calls() -> list[VerbCall]:
    """Every call of a verb that a remedy names, with its keywords, in every distribution."""
    files = (file for source in SOURCES for file in sorted(source.rglob("*.py")))
    named = (text for text in (file.read_text(encoding="utf-8") for file in files) if "VerbCall(" in text)
    return [
        VerbCall(*map(ast.literal_eval, node.args))
        for text in named
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "VerbCall"
    ]


def test_no_remedy_of_the_engine_speaks_the_words_of_one_surface() -> None:
    assert len(remedies()) > 250
    for module, text in remedies():
        if not module.startswith(OWN_WORDS):
            commands = {match[1] for match in re.finditer(r"memorist ([a-z-]+)", text)}
            assert commands <= FOR_THE_OWNER, (module, text)
            assert not re.search(r"(?<!\w)--[a-z]|\b(GET|POST|DELETE) /", text), (module, text)
            assert not re.search(r"\b\w+\([^()]*\)`|\b\w+\(\)", text), (module, text)


def test_every_call_in_a_remedy_exists_on_every_surface() -> None:
    assert len(calls()) > 10
    for verb, given in {(call.verb, tuple(call.given.items())) for call in calls()}:
        exists_on_every_surface(verb, dict(given))


def exists_on_every_surface(verb: str, given: Given) -> None:
    python = memorist.open if verb == "open" else getattr(Verbs, verb)
    assert given.keys() <= inspect.signature(python).parameters.keys(), (verb, given)
    root, commands = all_commands()
    words = as_command(verb, given).split()
    if verb == "open":
        known = {option for param in root.params for option in param.opts}
        assert words[0] in known or words[1] == "=", words
        assert as_route(verb, given) == as_tool(verb, given) and " = " in as_tool(verb, given)
        return
    name = " ".join(word for word in words[1:] if not word.startswith("-") and word != "all")
    options = {option for param in commands[name].params for option in param.opts}
    assert words[0] == "memorist" and {word for word in words if word.startswith("--")} <= options, words


def test_routes_and_tools_are_those_of_the_servers(tmp_path: Path) -> None:
    paths = create_app(Settings(db=f"{tmp_path}/", embedder="none")).openapi()["paths"]
    offered = {f"{method.upper()} {path.split('{space}')[-1]}" for path, of in paths.items() for method in of}
    assert set(ROUTES.values()) <= offered
    assert set(TOOLS.values()) <= set(MCP_TOOLS)


def test_a_remedy_is_told_in_the_words_of_its_surface() -> None:
    remedy = Remedy(
        *("Look it up with ", VerbCall("list"), ", embed with ", VerbCall("import_", {"without_vectors": True})),
        *(" or use ", VerbCall("open", {"llm": "x"}), "."),
    )
    assert remedy == "Look it up with `list()`, embed with `import_(without_vectors=True)` or use `open(llm='x')`."
    assert in_words(remedy, as_command) == (
        'Look it up with `memorist list`, embed with `memorist import --without-vectors` or use `llm = "x"`.'
    )
    assert in_words(remedy, as_route) == (
        'Look it up with `GET /memories`, embed with `POST /import without_vectors=true` or use `llm = "x"`.'
    )
    assert in_words(remedy, as_tool) == (
        'Look it up with `recall`, embed with `memorist import --without-vectors` or use `llm = "x"`.'
    )


def test_a_name_that_a_caller_gave_is_left_as_it_is_even_if_it_reads_like_a_call() -> None:
    name = "`list()`"
    assert in_words(Remedy(f"Did you mean {name}? ", VerbCall("remember"), " begins a new one."), as_command) == (
        "Did you mean `list()`? `memorist remember` begins a new one."
    )
    assert in_words(f"Choose {name} or `rrf`.", as_tool) == "Choose `list()` or `rrf`."


def test_an_error_keeps_its_calls_when_it_is_copied_or_passed_to_another_process() -> None:
    remedy = Remedy("Look it up with ", VerbCall("list"), ".")
    for same in (copy.copy(remedy), pickle.loads(pickle.dumps(remedy))):
        assert in_words(same, as_command) == "Look it up with `memorist list`."

"""Options: one for each keyword of a verb, each described, each completed; and where settings come from."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pytest
import typer
import typer.main

from memorist.model import Doc, Fields, Filters, Kind, Range, RecallOptions, Tier, When
from memorist.model.fields import Default
from memorist.recall.recipes import RECIPES
from memorist.remember.ingest import format_names
from memorist.surfaces.cli.app import COMMANDS as SUMMARIES
from memorist.surfaces.cli.app import all_commands
from memorist.surfaces.cli.options import command as add_command
from memorist.surfaces.cli.options import memory_options, recipe_names
from memorist.verbs import Verbs
from tests.surfaces.conftest import Cli

ROOT = Path(__file__).parents[2]


COMMANDS = all_commands()[1]
OWN = {"as_json"}


def flags(command: str) -> dict[str, list[str]]:
    """Each option of a command by its keyword."""
    return {
        param.name: [*param.opts, *param.secondary_opts]
        for param in COMMANDS[command].params
        if param.param_type_name == "option"
    }


@pytest.mark.parametrize(
    ("command", "keywords", "own"),
    [
        ("remember", Fields, set[str]()),
        ("recall", RecallOptions, {"explain", "only_context", "stages"}),
        ("session recall", RecallOptions, {"explain", "only_context"}),
        ("why-not", RecallOptions, set[str]()),
        ("list", Filters, {"limit", "cursor"}),
        ("forget", Filters, {"yes", "soft"}),
    ],
)
def test_a_command_has_one_option_for_each_keyword_of_its_verb(command: str, keywords: type, own: set[str]) -> None:
    options = flags(command)
    assert options.keys() == get_type_hints(keywords).keys() | OWN | own
    for name in get_type_hints(keywords):
        assert options[name][0] == f"--{name.replace('_', '-')}"


class Colour(StrEnum):
    """An enumeration that the model does not know."""

    RED = "red"
    BLUE = "blue"


class MoreFields(Fields, total=False):
    """The keywords of a `remember` that takes more."""

    warmth: Annotated[float, Range(0, 9), Doc("How warm it is."), Default(4.5)]
    colours: Annotated[tuple[Colour, ...], Doc("What it looks like.")]
    seen_at: Annotated[When | None, Doc("When it was seen.")]
    loud: Annotated[bool, Doc("Say it loudly."), Default(False)]


def test_a_new_keyword_of_a_verb_is_a_new_option() -> None:
    """An option needs no line in the command line's code: type, limits, choices, help and default are the model's."""

    given: dict[str, object] = {}
    app = typer.Typer()

    @add_command(app, options=lambda: memory_options(MoreFields))
    def remember(**fields: object) -> None:
        given.update(fields)

    command: Any = typer.main.get_command(app)
    shown = {param.name: param for param in command.params}
    assert shown["warmth"].help == "How warm it is. Default: 4.5."
    assert (shown["warmth"].metavar, shown["warmth"].type.min, shown["warmth"].type.max) == ("NUMBER", 0, 9)
    assert shown["colours"].help == "What it looks like: red, blue; may be repeated."
    assert (shown["seen_at"].metavar, shown["seen_at"].rich_help_panel) == ("WHEN", "When")
    command(["--warmth", "7", "--colours", "red", "--colours", "blue", "--loud"], standalone_mode=False)
    assert given == {"warmth": 7.0, "colours": [Colour.RED, Colour.BLUE], "loud": True}


def test_names_that_are_written_out_for_speed_are_complete() -> None:
    assert set(recipe_names()) == set(RECIPES)


def test_the_help_of_ingest_names_every_format() -> None:
    [format] = [param for param in COMMANDS["ingest"].params if param.name == "format"]
    assert format.help.endswith(f": {', '.join(format_names())}.")


def test_every_command_has_a_summary_and_a_help_of_its_own() -> None:
    table = [name for commands in SUMMARIES.values() for name in commands]
    assert list(dict.fromkeys(name.partition(" ")[0] for name in COMMANDS)) == table
    for commands in SUMMARIES.values():
        assert all(summary[0].isupper() and summary.endswith(".") for _, summary in commands.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_their_options_are_described_by_sentences(command: str) -> None:
    assert COMMANDS[command].help.endswith(".")
    for param in COMMANDS[command].params:
        assert param.help and param.help[0].isupper() and param.help.endswith("."), param.name


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_json(command: str) -> None:
    assert flags(command)["as_json"] == ["--json"]


@pytest.fixture
def complete(bare: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """What bash is offered after a line."""

    def offers(line: str) -> list[str]:
        monkeypatch.setenv("_MEMORIST_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        with pytest.raises(SystemExit):
            bare()
        return capfd.readouterr().out.split()

    return offers


def test_shells_complete_commands_recipes_kinds_and_tiers(complete: Callable[..., list[str]]) -> None:
    assert {"remember", "recall", "recipes"} <= set(complete("memorist re"))
    assert set(RECIPES) <= set(complete("memorist recall x --recipe "))
    assert complete("memorist recipes memoris") == ["memorist"]
    assert complete("memorist remember x --kind ") == list(Kind)
    assert complete("memorist list --kinds s") == ["semantic", "subgoal", "source"]
    assert complete("memorist list --tier ") == list(Tier)


def test_completion_loads_no_engine() -> None:
    code = """if True:
        import atexit, sys
        from memorist.surfaces.cli import main
        atexit.register(lambda: print(*sys.modules))
        main()
    """
    line = {"_MEMORIST_COMPLETE": "complete_bash", "COMP_WORDS": "memorist recall --recipe ", "COMP_CWORD": "3"}
    ran = subprocess.run([sys.executable, "-c", code], env={**os.environ, **line}, capture_output=True, text=True)
    assert "memorist" in ran.stdout.split()
    assert "numpy" not in ran.stdout.split()


def space(cli: Cli, *arguments: str) -> str:
    cli(*arguments, "--embedder", "none", "remember", "Tea at five.", "--json")
    return str(cli(*arguments, "--embedder", "none", "stats", "--json").data["space"])


def test_flags_win_over_the_environment_and_that_over_the_file(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("memorist.toml").write_text('db = "files/"\nspace = "from-file"\n', encoding="utf-8")
    assert space(bare) == "from-file"
    assert Path("files/from-file.db").exists()
    monkeypatch.setenv("MEMORIST_DB", "environment/")
    monkeypatch.setenv("MEMORIST_SPACE", "from-environment")
    assert space(bare) == "from-environment"
    assert Path("environment/from-environment.db").exists()
    assert space(bare, "--db", "flags/", "--space", "from-flag") == "from-flag"
    assert Path("flags/from-flag.db").exists()


def test_a_settings_file_may_be_named(bare: Cli) -> None:
    Path("memorist.toml").write_text('db = "here.db"\n', encoding="utf-8")
    Path("other.toml").write_text('db = "there.db"\nspace = "there"\n', encoding="utf-8")
    assert space(bare, "--config", "other.toml") == "there"
    missing = bare("--config", "nowhere.toml", "stats")
    assert missing.status == 1
    assert "nowhere.toml cannot be read" in missing.problem


ALIKE = {
    **{name: name for name in ("remember", "relate", "forget", "feedback", "invalidate", "undo", "recall", "list")},
    **{name: name for name in ("history", "journal", "stats", "audit", "consolidate", "reembed", "backup", "export")},
    **{"why-not": "why_not", "import": "import_", "session start": "session", "session recall": "recall_in_context"},
}
"""The verb of each command whose arguments are those of a verb."""


@pytest.mark.parametrize("command", ALIKE)
def test_the_arguments_of_a_command_come_in_the_order_and_under_the_names_of_its_verb(command: str) -> None:
    parameters = inspect.signature(getattr(Verbs, ALIKE[command])).parameters.values()
    named = [
        parameter.name
        for parameter in parameters
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in ("self", "progress")
    ]
    asked = ["id" if (command, name) == ("session recall", "session") else name for name in named]
    taken = [param.name for param in COMMANDS[command].params if param.param_type_name == "argument"]
    assert taken == [name for name in asked if name in taken]
    assert {*asked} <= {*taken, *flags(command)}


def test_a_command_of_another_distribution_names_its_extra_where_that_is_missing(
    bare: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.search(r"^.*\bbench\b +Measure recipes", bare("--help").out, re.MULTILINE)
    monkeypatch.setattr("memorist.surfaces.cli.app._offered", lambda name: ())
    assert bare("bench", "locomo").problem.endswith("Install it with: pip install 'memorist[bench]'")
    assert not re.search(r"\bbench\b", bare("--help").out)

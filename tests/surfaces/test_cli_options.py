"""Options: one for each keyword of a verb, each described, each completed; and where settings come from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer.main

from memorist.model import Kind, Tier
from memorist.recall.recipes import RECIPES
from memorist.recall.request import Filters, RecallOptions
from memorist.remember.record import Fields
from memorist.surfaces.cli.app import app
from tests.surfaces.conftest import Cli

ROOT = Path(__file__).parents[2]


def commands(group: Any, before: str = "") -> dict[str, Any]:
    """Every command by its words, those of groups such as `keys` too."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        words, inner = f"{before}{name}", hasattr(command, "commands")
        found |= {words: command} if not inner or command.invoke_without_command else {}
        found |= commands(command, f"{words} ") if inner else {}
    return found


COMMANDS = commands(typer.main.get_command(app))
OWN = {"as_json"}


def flags(command: str) -> dict[str, list[str]]:
    """Each option of a command by its keyword."""
    return {
        one.name: [*one.opts, *one.secondary_opts]
        for one in COMMANDS[command].params
        if one.param_type_name == "option"
    }


@pytest.mark.parametrize(
    ("command", "keywords", "own"),
    [
        ("remember", Fields, set[str]()),
        ("recall", RecallOptions, {"explain", "only_context"}),
        ("list", Filters, {"limit", "cursor"}),
        ("forget", Filters, {"yes"}),
    ],
)
def test_a_command_has_one_option_for_each_keyword_of_its_verb(command: str, keywords: type, own: set[str]) -> None:
    options = flags(command)
    assert options.keys() == get_type_hints(keywords).keys() | OWN | own
    for name in get_type_hints(keywords):
        assert options[name][0] == f"--{name.replace('_', '-')}"


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_their_options_are_described_by_sentences(command: str) -> None:
    assert COMMANDS[command].help.endswith(".")
    for one in COMMANDS[command].params:
        assert one.help and one.help[0].isupper() and one.help.endswith("."), one.name


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_json(command: str) -> None:
    assert flags(command)["as_json"] == ["--json"]


def test_the_reference_page_is_current() -> None:
    check = [sys.executable, ROOT / "docs" / "generate_cli.py", "--check"]
    ran = subprocess.run(check, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


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

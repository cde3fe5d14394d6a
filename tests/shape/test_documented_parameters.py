"""A page per published recipe names every parameter of its document, and sets it as the code does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorist.config import Config
from memorist.model import RecallOptions
from memorist.model.request import recall_request
from memorist.recall.data import toml_value, with_settings
from memorist.recall.nodes import PARAMS, Nodes
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES

PAGES = Path(__file__).parents[2] / "docs" / "explanation" / "recipes"
PUBLISHED = [name for name in RECIPES if name not in ("memorist", "nearest")]
HEAD = "| the document | its default | set it as | our default |"
OPTION = re.compile(r"(recall|memorist\.open)\((\w+)=…\)")
NONE = "–"
NOW = datetime(2024, 6, 3, tzinfo=UTC)


def rows(recipe: str) -> list[tuple[str, list[str], str]]:
    """The documented name, the names that set it and our default, of each row of the table."""
    page = (PAGES / f"{recipe}.md").read_text(encoding="utf-8")
    _, _, table = page.partition(f"{HEAD}\n|---|---|---|---|\n")
    lines = table.partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [(name, re.findall(r"`([^`]+)`", setting), ours.strip("`")) for name, _, setting, ours in cells]


def values(recipe: Pipeline, path: str) -> list[object]:
    """The values of a parameter in every part that has it, such as `rrf.k` or `nodes.params.tag.threshold`."""
    kind, parameter, *keys = path.split(".")
    parts = [part for part in recipe.parts() if part.kind == kind]
    if path.startswith("nodes.params."):
        node, name = keys
        kinds = PARAMS if node == "KIND" else [node]
        return [part.params_of(kind)[name] for part in parts if isinstance(part, Nodes) for kind in kinds]
    found: list[Any] = [getattr(part, parameter) for part in parts]
    for key in keys:
        found = [value[key] for value in found]
    return found


def option_default(verb: str, name: str) -> object:
    """What a verb does if an option is left out: the request that `recall` then makes, or the default of a setting."""
    if verb == "recall":
        assert name in RecallOptions.__annotations__ or name == "query"
        request = recall_request("", {}, NOW)
        return getattr(request if hasattr(request, name) else request.where, name, None)
    known = {field.name: field.default for field in fields(Config)}
    assert name in known | {"url": None}
    return known.get(name)


def shown(value: object) -> str:
    """A value as the tables write it."""
    if value is None or value == "":
        return NONE
    if value == NOW:
        return "now"
    if isinstance(value, tuple):
        return str([*value])
    if isinstance(value, Mapping):
        return toml_value(value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def test_every_published_recipe_has_such_a_table() -> None:
    assert [name for name in PUBLISHED if not rows(name)] == []


@pytest.mark.parametrize("name", PUBLISHED)
def test_documented_parameters_are_set_as_the_page_says(name: str) -> None:
    recipe = RECIPES[name]
    for documented, settings, ours in rows(name):
        for path in settings:
            if option := OPTION.fullmatch(path):
                defaults = [option_default(*option.groups())]
            else:
                defaults = values(recipe, path)
                assert defaults, f"{documented}: {name} has no {path}"
            wanted = ours if not re.fullmatch(r"-?[\d.]+", ours) else f"{float(ours):g}"
            assert {shown(default) for default in defaults} == {wanted}, f"{documented}: {path}"


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_name_of_the_document_sets_what_its_row_says(name: str) -> None:
    recipe = RECIPES[name]
    told = {word: settings for documented, settings, _ in rows(name) for word in re.findall(r"`([^`]+)`", documented)}
    for documented, parameters in recipe.names.items():
        assert set(parameters) == set(told[documented])
        (value,) = {json.loads(shown(given_value)) for path in parameters for given_value in values(recipe, path)}
        assert with_settings(recipe, {documented: 2 * value}) == with_settings(
            recipe, dict.fromkeys(parameters, 2 * value)
        )


def another(value: Any) -> Any:
    """Half of a number, the other truth, and anything else as it is."""
    if isinstance(value, bool):
        return not value
    return value // 2 if isinstance(value, int) else value / 2 if isinstance(value, float) else value


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_setting_is_written_as_in_the_table(name: str) -> None:
    recipe, paths = RECIPES[name], [path for _, settings, _ in rows(name) for path in settings]
    for path in (file.replace("KIND", "semantic") for file in paths if not OPTION.fullmatch(file)):
        wanted = [another(value) for value in values(recipe, path)]
        assert values(with_settings(recipe, {path: wanted[0]}), path) == wanted, path

"""Profiles in files: those that ship beside this one, and a user's own in `memorist.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.profiles.model import PLAIN, Profile

SHIPPED = ("coding", "research", "customer-support")
FIELDS = ("context", "overlays", "values", "function")


def find_profile(name: str | None, written: Mapping[str, Mapping[str, Any]] | None = None) -> Profile:
    """The profile of that name, a user's own before ours; the plain one for None. All that is written is checked."""
    own = {each: profile_from_data(each, data) for each, data in (written or {}).items()}
    if name is None:
        return PLAIN
    if name in own:
        return own[name]
    if name in SHIPPED:
        return _shipped(name)
    choices = ", ".join(dict.fromkeys([*own, *SHIPPED]))
    raise InvalidInput(f"There is no profile {name!r}", remedy=f"Choose one of {choices}, or write [profiles.{name}].")


def profile_from_data(name: str, data: Mapping[str, Any]) -> Profile:
    """The profile that a table describes: `context`, `overlays` by step, `values` by kind, `function`."""
    where = f"profiles.{name}"
    for key in _table(data, where):
        if key not in FIELDS:
            raise InvalidInput(f"{where} sets {key!r}, which is unknown", remedy=f"Known: {', '.join(FIELDS)}.")
    return Profile(
        name,
        context=_text(data.get("context", ""), f"{where}.context"),
        overlays=_texts(data.get("overlays", {}), f"{where}.overlays"),
        values=_numbers(data.get("values", {}), f"{where}.values"),
        function=_text(data["function"], f"{where}.function") if "function" in data else None,
    )


@cache
def _shipped(name: str) -> Profile:
    text = (files("memorist.profiles") / f"{name}.toml").read_text(encoding="utf-8")
    return profile_from_data(name, tomllib.loads(text))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is {value!r}", remedy="Make it a string.")
    return value


def _number(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInput(f"{where} is {value!r}", remedy="Make it a number.")
    return value


def _texts(value: object, where: str) -> dict[str, str]:
    return {key: _text(one, f"{where}.{key}") for key, one in _table(value, where).items()}


def _numbers(value: object, where: str) -> dict[str, dict[str, float]]:
    tables = {kind: _table(one, f"{where}.{kind}") for kind, one in _table(value, where).items()}
    return {
        kind: {key: _number(one, f"{where}.{kind}.{key}") for key, one in table.items()}
        for kind, table in tables.items()
    }


def _table(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where} is {value!r}", remedy="Make it a table.")
    return cast("Mapping[str, Any]", value)

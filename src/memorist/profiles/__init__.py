"""Extraction profiles: instructions and values for a domain, as shipped or written by users."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from memorist.asking import require_steps
from memorist.errors import InvalidInput
from memorist.recall.pipeline import Pipeline
from memorist.recall.stage import Part
from memorist.validate import validate

Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Profile:
    """A domain: context for every step, overlays for single steps, value parameters per kind, and a value function."""

    name: str
    context: str = ""
    overlays: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Values = field(default_factory=dict[str, Mapping[str, float]])
    function: str | Callable[..., float] | None = None

    def __post_init__(self) -> None:
        require_steps(self.overlays, f"Profile {self.name!r}")
        if self.values or self.function is not None:
            self._check_values()

    def _check_values(self) -> None:
        from memorist.recall.nodes import check_params, value_function

        check_params(self.values, f"Profile {self.name!r}")
        if self.function is not None:
            value_function(self.function)


PLAIN = Profile("plain")
"""The profile that adds nothing."""


def with_profile(pipeline: Pipeline, profile: Profile) -> Pipeline:
    """A pipeline with a profile's value parameters for nodes. Precedence: built-in < recipe < profile."""
    if not profile.values and profile.function is None:
        return pipeline
    from memorist.recall.nodes import Nodes

    def changed(part: Part) -> Part:
        if not isinstance(part, Nodes):
            return part
        return replace(part, params=_merged(part.params, profile.values), function=profile.function or part.function)

    return pipeline.mapped(changed)


def _merged(under: Values, over: Values) -> Values:
    return {kind: {**under.get(kind, {}), **over.get(kind, {})} for kind in dict.fromkeys((*under, *over))}


SHIPPED = ("coding", "research", "customer-support")
FIELDS = ("context", "overlays", "values", "function")


def find_profile(name: str | None, written: Mapping[str, Mapping[str, Any]] | None = None) -> Profile:
    """The profile of that name: a user's own, else a shipped one; plain for None. All of the user's are checked."""
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
    where, hints = f"profiles.{name}", get_type_hints(Profile)
    table = validate(data, Mapping[str, Any], where)
    for key in table:
        if key not in FIELDS:
            raise InvalidInput(f"Unknown key in {where}: {key!r}", remedy=f"Known keys: {', '.join(FIELDS)}.")
    return Profile(name, **{key: validate(value, hints[key], f"{where}.{key}") for key, value in table.items()})


@cache
def _shipped(name: str) -> Profile:
    text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
    return profile_from_data(name, tomllib.loads(text))

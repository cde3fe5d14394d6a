"""A profile, and a recipe seen through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, cast

from memorist.asking.wording import require_steps
from memorist.errors import InvalidInput
from memorist.recall.nodes import Nodes
from memorist.recall.pipeline import Pipeline
from memorist.recall.stage import Part
from memorist.recall.value import PARAMS, value_function

P = TypeVar("P", bound=Part)
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Profile:
    """A domain: context for every step, overlays for single ones, value parameters per kind, a value function."""

    name: str
    context: str = ""
    overlays: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Values = field(default_factory=dict[str, Mapping[str, float]])
    function: str | None = None

    def __post_init__(self) -> None:
        require_steps(self.overlays, f"Profile {self.name!r}")
        for kind, params in self.values.items():
            self._known(kind, PARAMS, "kind")
            for param in params:
                self._known(param, PARAMS[kind], f"parameter of {kind}")
        if self.function is not None:
            value_function(self.function)

    def _known(self, name: str, known: Mapping[str, Any], what: str) -> None:
        if name not in known:
            raise InvalidInput(
                f"Profile {self.name!r} sets {name!r}, which is no {what}", remedy=f"Choose from {', '.join(known)}."
            )


PLAIN = Profile("plain")
"""Adds nothing."""


def profiled(pipeline: Pipeline, profile: Profile) -> Pipeline:
    """A pipeline whose nodes are valued as a profile wants: built-in < recipe < profile."""
    return replace(pipeline, stages=tuple(_changed(stage, profile) for stage in pipeline.stages))


def _changed(part: P, profile: Profile) -> P:
    """A part and the parts inside it, with the profile's values on every Nodes among them."""
    if isinstance(part, Nodes):
        return replace(part, params=_merged(part.params, profile.values), function=profile.function or part.function)
    changed = {name: new for name, old in _values(part).items() if (new := _inner(old, profile)) is not old}
    return cast("P", replace(cast("Any", part), **changed)) if changed else part


def _inner(value: object, profile: Profile) -> object:
    if isinstance(value, Part):
        return _changed(value, profile)
    if not isinstance(value, tuple):
        return value
    items = cast("tuple[object, ...]", value)
    changed = tuple(_inner(one, profile) for one in items)
    return items if all(new is old for new, old in zip(changed, items, strict=True)) else changed


def _values(part: Part) -> dict[str, object]:
    return {one.name: getattr(part, one.name) for one in fields(cast("Any", part))}


def _merged(under: Values, over: Values) -> Values:
    return {kind: {**under.get(kind, {}), **over.get(kind, {})} for kind in dict.fromkeys((*under, *over))}

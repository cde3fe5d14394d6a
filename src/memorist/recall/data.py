"""Recipes as data: a mapping, as read from JSON or TOML, to a pipeline and back without loss."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace
from functools import partial
from typing import Any, cast, get_type_hints

from memorist.errors import InvalidInput
from memorist.recall.catalogue import ROLES, current_kind, part_named
from memorist.recall.pipeline import Pipeline
from memorist.recall.stage import Part, Stage
from memorist.validate import validate


def to_data(pipeline: Pipeline) -> dict[str, Any]:
    """A pipeline as plain lists, mappings, numbers and strings; a function is its name."""
    names = {name: list(parameters) for name, parameters in pipeline.names.items()}
    data = {"name": pipeline.name, "stages": [_without_functions(_part_to_data(stage)) for stage in pipeline.stages]}
    return {**data, "names": names} if names else data


def from_data(data: Mapping[str, Any]) -> Pipeline:
    """The pipeline that a mapping describes. Anything invalid is refused with its name."""
    stages = [_part_from_data(stage, f"stage {number}") for number, stage in enumerate(data.get("stages", ()), 1)]
    if not stages or not all(isinstance(stage, Stage) for stage in stages):
        raise InvalidInput(
            "A recipe needs a list of stages",
            remedy="Write stages = [{ stage = 'embed' }, …]; each entry names its stage.",
        )
    names = {name: tuple(parameters) for name, parameters in data.get("names", {}).items()}
    return Pipeline(str(data.get("name", "custom")), tuple(cast("list[Stage]", stages)), names=names)


def with_settings(pipeline: Pipeline, settings: Mapping[str, Any]) -> Pipeline:
    """A pipeline with single parameters changed, such as `{"rrf.k": 20, "nodes.params.semantic.lambda": 0.005}`.

    A parameter without a part, such as `{"adaptive": False}`, is changed in every part that has it. A name of the
    recipe's document, such as `{"candidatePoolSize": 50}`, changes all the parameters that it stands for.
    """
    named = [(path, value) for name, value in settings.items() for path in pipeline.names.get(name, (name,))]
    given = [(_with_current_kind(path), value) for path, value in named]
    for path, value in given:
        pipeline = _with_setting(pipeline, path, value)
    return replace(pipeline, fixed=(*pipeline.fixed, *(".".join(path.split(".")[:2]) for path, _ in given)))


def _with_current_kind(path: str) -> str:
    kind, dot, parameter = path.partition(".")
    return f"{current_kind(kind)}{dot}{parameter}"


def _with_setting(pipeline: Pipeline, path: str, value: object) -> Pipeline:
    kind, _, parameter = path.partition(".")
    if not parameter:
        return _with_parameter_everywhere(pipeline, path, value)
    kinds = dict.fromkeys(part.kind for part in pipeline.parts())
    if kind not in kinds:
        raise InvalidInput(f"Recipe {pipeline.name!r} has no part {kind!r}", remedy=f"It has {', '.join(kinds)}.")
    return pipeline.mapped(partial(_with_parameter, kind, parameter, value))


def settings_to_toml(recipe: str, settings: Mapping[str, Any]) -> str:
    """The lines of a settings file that change single parameters of a recipe."""
    lines = (f"{toml_key(name)} = {toml_value(value)}" for name, value in settings.items())
    return "\n".join([f"[recipes.{toml_key(recipe)}.set]", *lines])


def toml_key(name: str) -> str:
    """A key as TOML, quoted if it must be."""
    return name if is_bare(name) else json.dumps(name, ensure_ascii=False)


def is_bare(name: str) -> bool:
    """Whether TOML takes a key without quotes."""
    return re.fullmatch(r"[A-Za-z0-9_-]+", name) is not None


def toml_value(value: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return "{ " + ", ".join(f"{toml_key(name)} = {toml_value(one)}" for name, one in table.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, cast('list[Any]', value)))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else repr(value)


def _with_parameter_everywhere(pipeline: Pipeline, name: str, value: object) -> Pipeline:
    """The pipeline with a parameter changed in every part that has it."""
    having = dict.fromkeys(part.kind for part in pipeline.parts() if name in {field.name for field in _fields(part)})
    if not having:
        raise InvalidInput(
            f"No part of recipe {pipeline.name!r} has a parameter {name!r}",
            remedy="Write PART.PARAMETER, such as rrf.k; `memorist recipes NAME` lists them.",
        )
    for kind in having:
        pipeline = pipeline.mapped(partial(_with_parameter, kind, name, value))
    return pipeline


def _with_parameter(kind: str, name: str, value: object, part: Part) -> Part:
    """The part with one parameter changed, or one entry of a table such as `weights.keyword`, if it is of this kind."""
    if part.kind != kind:
        return part
    name, *keys = name.split(".")
    value = _placed(getattr(part, name, None), keys, value, f"{kind}.{name}")
    return _part_from_data({**_part_to_data(part), name: value}, kind)


def _placed(old: object, keys: Sequence[str], value: object, where: str) -> object:
    """The value itself or, with keys, the old table with the value at their place."""
    if not keys:
        return value
    if old is not None and not isinstance(old, Mapping):
        raise InvalidInput(f"{where} is no table", remedy=f"Set {where} itself.")
    table, (key, *rest) = cast("Mapping[str, object]", old or {}), keys
    return {**table, key: _placed(table.get(key), rest, value, f"{where}.{key}")}


def _part_to_data(part: Part) -> dict[str, Any]:
    parameters = {field.name: _value_to_data(getattr(part, field.name)) for field in _fields(part)}
    return {part.role: part.kind} | {name: value for name, value in parameters.items() if value is not None}


def _value_to_data(value: object) -> object:
    if isinstance(value, Part):
        return _part_to_data(value)
    if isinstance(value, tuple):
        return [_value_to_data(member) for member in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        return {key: _value_to_data(one) for key, one in cast("Mapping[str, object]", value).items()}
    return value


def _without_functions(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_functions(one) for key, one in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_without_functions(member) for member in cast("list[Any]", value)]
    if not callable(value):
        return value
    named: Any = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}:{named.__qualname__}"


def _part_from_data(data: object, where: str) -> Part:
    mapping: Mapping[str, Any] = cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}
    role = next((role for role in ROLES if role in mapping), None)
    if role is None:
        raise InvalidInput(
            f"{where} is not a stage, signal or factor: {data!r}", remedy="Name it, as in { stage = 'rrf' }."
        )
    part = part_named(role, str(mapping[role]))
    known = {field.name: field for field in _fields(part)}
    given = {name: value for name, value in mapping.items() if name != role}
    for name in given:
        if name not in known:
            choices = ", ".join(known) or "none"
            raise InvalidInput(f"{part.kind!r} has no parameter {name!r}", remedy=f"Its parameters are: {choices}.")
    for name, field in known.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput(f"{part.kind!r} requires the parameter {name!r}", remedy=f"Add {name}.")
    hints = get_type_hints(part) if given else {}
    return part(
        **{name: validate(value, hints[name], f"{part.kind}.{name}", _part_from_data) for name, value in given.items()}
    )


def _fields(part: Part | type[Part]) -> tuple[Field[Any], ...]:
    return fields(part)  # pyright: ignore[reportArgumentType]  # every concrete part is a dataclass

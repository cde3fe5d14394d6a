"""Schemas without what costs a model tokens and tells it nothing."""

from __future__ import annotations

from typing import Any, cast

NULL = {"type": "null"}


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles, without null where an argument may be left out, and without null defaults."""
    return cast("dict[str, Any]", _slim(schema))


def _slim(node: object, *, names: bool = False) -> object:
    if isinstance(node, list):
        return [_slim(one) for one in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    given = cast("dict[str, object]", node)
    if names:  # a mapping from the names of properties: one may be called title
        return {name: _slim(one) for name, one in given.items()}
    kept = {
        word: _slim(value, names=word in ("properties", "$defs"))
        for word, value in given.items()
        if word != "title" and not (word == "default" and value is None)
    }
    return _without_null(kept)


def _without_null(schema: dict[str, object]) -> dict[str, object]:
    options = cast("list[object]", schema.get("anyOf", []))
    real = [one for one in options if one != NULL]
    if len(real) == 1 and len(options) == 2 and isinstance(real[0], dict):
        rest = {word: value for word, value in schema.items() if word != "anyOf"}
        return {**cast("dict[str, object]", real[0]), **rest}
    return schema

"""Build the JSON schemas of answers: every property required, every text and list bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]


def record(**properties: Schema) -> Schema:
    """An object of exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text(longest: int) -> Schema:
    """A string of bounded length."""
    return {"type": "string", "maxLength": longest}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def one_of(choices: Sequence[str]) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(choices)}


def number(low: float, high: float) -> Schema:
    """A number from low to high."""
    return {"type": "number", "minimum": low, "maximum": high}


def whole(low: int, high: int) -> Schema:
    """A whole number from low to high."""
    return {"type": "integer", "minimum": low, "maximum": high}


TRUTH: Schema = {"type": "boolean"}


def several(items: Schema, least: int, most: int) -> Schema:
    """A list of bounded length."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}

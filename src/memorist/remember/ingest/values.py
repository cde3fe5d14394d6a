"""JSON values of unknown shape, taken as what they turn out to be."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

from memorist.errors import InvalidInput

Object = Mapping[str, Any]
_SURROGATES = range(0xD800, 0xE000)


def as_object(value: object) -> Object:
    """A mapping as it is, and an empty one for anything else."""
    return cast("Object", value) if isinstance(value, dict | Mapping) else {}


def as_list(value: object) -> list[Any]:
    """A list as it is, and an empty one for anything else."""
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []


def as_text(value: object) -> str:
    """A string as it is, and an empty one for anything else."""
    return value if isinstance(value, str) else ""


def as_name(value: object) -> str | None:
    """A string or whole number as a name; None for anything else, or nothing visible."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return str(value)
    return as_text(value).strip() or None


def first_name(object: Object, *keys: str) -> str | None:
    """The first of these keys that holds a name."""
    return next((name for key in keys if (name := as_name(object.get(key)))), None)


def parsed(text: str) -> Any:
    """A JSON document; what no parser can make sense of is refused."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}", remedy="Check the file in an editor, or export it again.") from None


def storable(value: Any) -> Any:
    """A value as every store can keep it: no NUL, no half surrogate pair, no number without a value."""
    if isinstance(value, str):
        return "".join("\ufffd" if ord(sign) in _SURROGATES else sign for sign in value if sign != "\0")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(storable(str(key))): storable(one) for key, one in cast("Object", value).items()}
    if isinstance(value, list | tuple):
        return [storable(one) for one in cast("list[Any]", value)]
    return value


def numbered(values: list[Any], where: str, what: str) -> Iterator[tuple[str, Any]]:
    """Each value with the place it stands at, such as `chat.json, message 3`."""
    for number, value in enumerate(values, 1):
        yield f"{where}, {what} {number}", value

"""The parts that all prompts share: fenced data, instructions, answer schemas, and reading and checking answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from memorist.text.labels import LINE_ENDS, UNSEEN
from memorist.text.patterns import lazy

OPEN, CLOSE = "<data>\n", "\n</data>"
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_UNSEEN = lazy(f"[{UNSEEN}{LINE_ENDS}]")


def fence(data: Mapping[str, Any]) -> str:
    """One JSON document between the tags, on one line.

    `<`, `>` and `&` are escaped, so the data cannot contain a tag; so are characters that do not show.
    """
    text = json.dumps(data, ensure_ascii=False).translate(_ESCAPED)
    return OPEN + _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text) + CLOSE


def clip(text: str, longest: int) -> str:
    """The first `longest` characters of a text, with an ellipsis if it is longer."""
    return text if len(text) <= longest else f"{text[:longest]} …"


Schema = dict[str, Any]


def record(**properties: Schema) -> Schema:
    """An object with exactly these properties."""
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
    """The same schema, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def one_of(choices: Sequence[str]) -> Schema:
    """One of these strings."""
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


def system_message(step: str, context: str = "", overlays: Mapping[str, str] | None = None) -> str:
    """The instructions of a step, the additions of a profile, and the rules for every step."""
    overlay = (overlays or {}).get(step, "")
    added = [f"# {title}\n\n{text.strip()}" for title, text in (("Domain", context), ("In addition", overlay)) if text]
    return "\n\n".join([prompt(step), *added, prompt("fence")])


@cache
def prompt(name: str) -> str:
    """The text of a prompt file."""
    from importlib.resources import files

    return (files("memorist.asking") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


LONGEST_ANSWER = 100_000
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_THOUGHT = lazy(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE_OPENS = lazy(r"```(?:json)?[^\S\n]*+\n", re.IGNORECASE)
_FENCE_CLOSES = lazy(r"\n[^\S\n]*+```")


class Broken(Exception):
    """An answer cannot be used. The message is sent to the model, so it never quotes the answer."""


def read(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON value of an answer, checked against the schema. A code fence or a leading thought is removed."""
    if len(text) > LONGEST_ANSWER:
        raise Broken(f"it is longer than {LONGEST_ANSWER:,} characters")
    if not text.strip():
        raise Broken("it is empty")
    try:
        value = json.loads(_without_fence(_THOUGHT.sub("", text)), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Broken("it is not one JSON object and nothing else") from None
    check(value, schema)
    return value


def _without_fence(text: str) -> str:
    """What the first code fence holds, or the whole text if there is none."""
    opens = _FENCE_OPENS.search(text)
    closes = _FENCE_CLOSES.search(text, opens.end() - 1) if opens else None
    return text[opens.end() : closes.start()] if opens and closes else text


def check(value: Any, schema: Mapping[str, Any], where: str = "the answer") -> None:
    """Raise Broken if a value does not match the schema; supports the part of JSON Schema that our steps use."""
    _check_type(value, schema, where)
    if "enum" in schema and value not in schema["enum"]:
        raise Broken(f"{where} is not one of {', '.join(schema['enum'])}")
    if isinstance(value, dict):
        _check_properties(cast("dict[str, Any]", value), schema, where)
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        _within(len(items), schema.get("minItems"), schema.get("maxItems"), f"the length of {where}")
        for place, one in enumerate(items):
            check(one, schema.get("items", {}), f"{where}[{place}]")
    elif isinstance(value, str):
        _within(len(value), None, schema.get("maxLength"), f"the length of {where}")
    elif isinstance(value, int | float):
        _within(value, schema.get("minimum"), schema.get("maximum"), where)


def _check_type(value: Any, schema: Mapping[str, Any], where: str) -> None:
    wanted = schema.get("type")
    if wanted is None:
        return
    names = cast("Sequence[str]", [wanted] if isinstance(wanted, str) else wanted)
    if not any(_is(value, name) for name in names):
        raise Broken(f"{where} is not of type {' or '.join(names)}")


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _check_properties(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> None:
    for name in schema.get("required", ()):
        if name not in value:
            raise Broken(f"{where} lacks {name!r}")
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            check(value[name], inner, name if where == "the answer" else f"{where}.{name}")


def _within(number: float, low: float | None, high: float | None, what: str) -> None:
    if low is not None and number < low:
        raise Broken(f"{what} is less than {low}")
    if high is not None and number > high:
        raise Broken(f"{what} is more than {high}")


def _no_constant(name: str) -> float:
    raise ValueError(name)  # JSON has no NaN and no infinity

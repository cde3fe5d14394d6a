"""JSON schemas as models are told them, and the JSON in what they answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from memorist.errors import InvalidInput

Messages = Sequence[Mapping[str, str]]
Schema = Mapping[str, Any]

_BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")
_ROLES = ("system", "user", "assistant")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


def check(messages: Messages, schema: Schema | None) -> None:
    """Refuse what no vendor takes: an unknown role, nothing to answer, a schema of anything but an object."""
    if any(message.get("role") not in _ROLES or "content" not in message for message in messages):
        raise InvalidInput(
            "A message to a language model needs a role and a content", remedy=f"Use the roles {', '.join(_ROLES)}."
        )
    if all(message["role"] == "system" for message in messages):
        raise InvalidInput("There is no message for the language model to answer", remedy="Add one of the role user.")
    if schema is not None and schema.get("type") != "object":
        raise InvalidInput("A schema must describe an object", remedy='Wrap it: {"type": "object", "properties": …}.')


def is_closed(schema: object) -> bool:
    """Whether every object in it names all its members as required and admits no others.

    OpenAI's strict mode refuses other schemas ("Structured model outputs", section "Supported schemas").
    """
    if isinstance(schema, Mapping):
        parts = cast("Mapping[str, object]", schema)
        if parts.get("type") == "object" and not _all_required(parts):
            return False
        return all(is_closed(part) for part in parts.values())
    return not isinstance(schema, list) or all(is_closed(part) for part in cast("list[object]", schema))


def unbounded(schema: Any) -> Any:
    """The schema without lengths, counts and ranges; whoever asked checks those.

    A server that makes a grammar of it, such as llama.cpp, unrolls `maxLength: 600` and takes minutes a token; others
    refuse such words.
    """
    if isinstance(schema, list):
        return [unbounded(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    parts = cast("Mapping[str, Any]", schema)
    return {name: unbounded(part) for name, part in parts.items() if name not in _BOUNDS or isinstance(part, Mapping)}


def told(messages: Messages, schema: Schema) -> list[Mapping[str, str]]:
    """The messages with the schema in words: at the end of the first system message, or before the others."""
    words = (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It must be valid under this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )
    place = next((i for i, message in enumerate(messages) if message["role"] == "system"), None)
    if place is None:
        return [{"role": "system", "content": words}, *messages]
    joined = {"role": "system", "content": f"{messages[place]['content']}\n\n{words}"}
    return [*messages[:place], joined, *messages[place + 1 :]]


def bare_json(text: str) -> str:
    """From the first opening brace to the last closing one, past a thought; the text itself without any.

    Servers that do not hold a model to a schema let through its code fences, thoughts and courtesies.
    """
    after = _THOUGHT.sub("", text).strip()
    start, end = after.find("{"), after.rfind("}")
    return after[start : end + 1] if 0 <= start < end else after


def _all_required(schema: Mapping[str, object]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return False
    names = set(cast("Mapping[str, object]", properties))
    return schema.get("additionalProperties") is False and set(cast("list[str]", required)) == names

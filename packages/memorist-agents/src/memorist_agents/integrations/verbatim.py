"""What a framework gave, kept exactly: any text, any JSON value, every repeat, in the order it came."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from memorist.errors import InvalidInput
from memorist.model import INSTRUCTIONS, Filters, Memory, Outcome, Remembered
from memorist.model.arguments import MOST_NESTED, check_text, nests_deeper
from memorist.verbs import Verbs

PAGE = 1000
WARNING = "(untrusted: reads like instructions) "
_SUFFIX = "_json"


def every(memory: Verbs, **filters: Unpack[Filters]) -> Iterator[Memory]:
    """Every memory that the filters admit, in the order written."""
    cursor = None
    while True:
        page = memory.list(PAGE, cursor, **filters)
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def keep(memory: Verbs, given: Sequence[Mapping[str, Any]]) -> list[Remembered]:
    """Keep memories under exactly the labels given: a scope, session or key that would be masked is refused."""
    kept = memory.remember_many(given)
    for one, fields in zip(kept, given, strict=True):
        there = {"scope": one.scope, "session": one.origin.session, "key": one.origin.key}
        for name, label in there.items():
            if fields.get(name) not in (None, label):
                memory.forget([each.id for each in kept if each.outcome is Outcome.KEPT])
                raise InvalidInput(f"The {name} of a memory would be masked as a secret", remedy="Choose another name.")
    return kept


def as_data(memory: Memory) -> str:
    """The text of a memory for a prompt that a framework writes, with a warning if it reads like instructions."""
    return f"{WARNING}{memory.text}" if INSTRUCTIONS in memory.worth.flags else memory.text


def is_text(text: str) -> bool:
    """Whether a memory may have this text: it has a visible character, no NUL, and no half of a surrogate pair."""
    return bool(text.strip()) and _is_storable(text)


def box(name: str, value: Any) -> dict[str, Any]:
    """A JSON value as an entry of metadata; as JSON text if metadata cannot hold it, for a NUL, a NaN or its depth."""
    return {name: value} if _fits_metadata(value) else {f"{name}{_SUFFIX}": json.dumps(value)}


def unbox(name: str, metadata: Mapping[str, Any]) -> Any:
    """The value that `box` made an entry of; None if there is none."""
    text = metadata.get(f"{name}{_SUFFIX}")
    return metadata.get(name) if text is None else json.loads(text)


def _is_storable(text: str) -> bool:
    try:
        check_text("text", text)
    except InvalidInput:
        return False
    return "\0" not in text


def _fits_metadata(value: Any) -> bool:
    if nests_deeper(value, MOST_NESTED - 1):  # metadata itself is one level
        return False
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return False
    return _is_storable(text) and "\\u0000" not in text

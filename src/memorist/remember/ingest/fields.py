"""The keywords of `remember` found in an object; what is not one of them is kept as metadata."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from memorist.model import Kind, Tier
from memorist.model.memory import RANGES
from memorist.remember.ingest.moments import moment
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text
from memorist.remember.record import Fields

AT = ("at", "timestamp", "created_at", "create_time", "date", "datetime", "time", "ts")
"""Keys that say when something was said, the surest first."""
SPEAKER = ("speaker", "name")
SESSION = ("session", "session_id", "sessionId", "conversation_id", "thread_id")
LONGEST_EXTRA = 2_000
"""Characters of JSON above which an unknown value is left out rather than kept as metadata."""

_KINDS, _TIERS = frozenset(Kind), frozenset(Tier)
_WHOLE = ("trust", "credibility", "classification")


def fields_of(given: Object, *used: str) -> tuple[Fields, list[str]]:
    """Keywords and metadata of an object but for the keys already used, and what could not be taken as given."""
    rest = {key: value for key, value in given.items() if key not in used and value not in (None, "")}
    fields: dict[str, Any] = {}
    notes: list[str] = []
    for key in AT:
        if key in rest and (at := moment(rest[key])):
            fields["at"] = at
            del rest[key]
            break
    for name, usable in _USABLE.items():
        if name in rest and (value := usable(rest[name])) is not None:
            fields[name] = value
            del rest[name]
        elif name in rest:
            notes.append(f"{name} cannot be used as given; kept as metadata")
    metadata = dict(as_object(rest.pop("metadata", None)))
    for key, value in rest.items():
        if _is_short(value):
            metadata.setdefault(str(key), value)
        else:
            notes.append("a value that metadata cannot hold left out")
    if metadata:
        fields["metadata"] = metadata
    return cast("Fields", fields), notes


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_EXTRA
    if not isinstance(value, Mapping | list | tuple):
        return isinstance(value, int | float)
    try:
        return len(json.dumps(value)) <= LONGEST_EXTRA
    except (TypeError, ValueError, RecursionError):
        return False


def _number(name: str) -> Callable[[object], float | None]:
    low, high = RANGES[name]
    kinds = int if name in _WHOLE else int | float

    def usable(value: object) -> float | None:
        if isinstance(value, bool) or not isinstance(value, kinds):
            return None
        return value if low <= value <= high else None

    return usable


def _labels(value: object) -> list[str] | None:
    values = [value] if isinstance(value, str) else as_list(value)
    labels = [label for one in values if (label := as_name(one))]
    return labels if len(labels) == len(values) else None


def _position(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


_USABLE: Mapping[str, Callable[[object], object]] = {
    "ingested_at": moment,
    "expires_at": moment,
    "kind": lambda value: value if as_text(value) in _KINDS else None,
    "tier": lambda value: value if as_text(value) in _TIERS else None,
    "scope": as_name,
    "topic": as_name,
    "source": as_name,
    "speaker": as_name,
    "key": as_name,
    "original": lambda value: as_text(value) if as_text(value).strip() else None,
    "position": _position,
    "emotion_tags": _labels,
    "flags": _labels,
    "keywords": _labels,
    **{name: _number(name) for name in RANGES if name in Fields.__annotations__},
}

"""Values as exports write them: moments, texts, the fields of a memory."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.model import Kind, Tier, instant
from memorist.model.memory import RANGES
from memorist.remember.record import Fields
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

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


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""An epoch below each bound counts seconds, milliseconds, microseconds or nanoseconds."""
_SMALLEST = 1e8  # March 1973: a smaller number is a count or an index
_NUMBER = lazy(r"\d{9,20}(?:\.\d+)?")
# A date that reads alike from two moments far apart is absolute; "yesterday" and "3/6/24" are not.
_SEEN_FROM = (datetime(2001, 2, 3, tzinfo=UTC), datetime(2017, 9, 14, tzinfo=UTC))


def moment(value: object) -> datetime | None:
    """The UTC moment a value means, or None where it does not mean one for certain."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_epoch(value)
    if isinstance(value, datetime | date):
        return _instant(value)
    if isinstance(value, str) and (text := value.strip()) and len(text) <= 100:
        return _from_text(text)
    return None


def _from_text(text: str) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return _from_epoch(float(text))
    return _instant(re.sub(r"\s*(?:UTC|GMT)$", "+00:00", text)) or _from_mail(text) or _from_words(text)


def _instant(value: str | date) -> datetime | None:
    with contextlib.suppress(InvalidInput):
        return instant(value)
    return None


def _from_epoch(number: float) -> datetime | None:
    for bound, unit in _UNITS:
        if _SMALLEST <= number < bound:
            with contextlib.suppress(OverflowError):
                return EPOCH + timedelta(seconds=number / unit)
    return None


def _from_mail(text: str) -> datetime | None:
    with contextlib.suppress(ValueError, TypeError, IndexError, OverflowError):
        return _instant(parsedate_to_datetime(text))
    return None


def _from_words(text: str) -> datetime | None:
    first, second = (find_dates(text, reference) for reference in _SEEN_FROM)
    if len(first) == 1 and [span.start for span in first] == [span.start for span in second]:
        return first[0].start
    return None


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

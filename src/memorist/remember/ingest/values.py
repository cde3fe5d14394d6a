"""Values in exports: names, times, and the fields of a memory."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.model import Kind, Tier, instant
from memorist.model.identity import fingerprint
from memorist.model.memory import RANGES
from memorist.remember.record import Fields
from memorist.text.dates import find_dates
from memorist.text.patterns import lazy

Object = Mapping[str, Any]
_SURROGATES = range(0xD800, 0xE000)


def as_object(value: object) -> Object:
    """The value if it is a mapping, else an empty one."""
    return cast("Object", value) if isinstance(value, dict | Mapping) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else []


def as_text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


LONGEST_TITLE = 500
"""Characters of a title, heading or name, which many memories of a file repeat."""


def as_name(value: object) -> str | None:
    """A non-blank string or an integer as a name; None for anything else. Of a long one the rest is a fingerprint."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return str(value)
    name = as_text(value).strip()
    return (name if len(name) <= LONGEST_TITLE else f"{name[:LONGEST_TITLE]}…{fingerprint(name)}") or None


def first_name(object: Object, *keys: str) -> str | None:
    """The name under the first of these keys that has one."""
    return next((name for key in keys if (name := as_name(object.get(key)))), None)


class NotJson(InvalidInput):
    """A text is not JSON; `detail` says where."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(f"not JSON: {detail}", remedy="Check the file in an editor, or export it again.")


def parse_json(text: str) -> Any:
    """Parse a JSON document."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def storable(value: Any) -> Any:
    """A value that every store accepts: no NUL, no lone surrogate, no non-finite number."""
    if isinstance(value, str):
        return "".join("\ufffd" if ord(sign) in _SURROGATES else sign for sign in value if sign != "\0")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(storable(str(key))): storable(part) for key, part in cast("Object", value).items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in cast("list[Any]", value)]
    return value


def with_places(values: Iterable[Any], where: str, what: str) -> Iterator[tuple[str, Any]]:
    """Each value with its place, such as `chat.json, message 3`."""
    for number, value in enumerate(values, 1):
        yield f"{where}, {what} {number}", value


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
"""A timestamp below each bound is in seconds, milliseconds, microseconds or nanoseconds."""
_SMALLEST = 1e8  # March 1973: a smaller number is a count or an index
_UTC = lazy(r"\s*(?:UTC|GMT)$")
_NUMBER = lazy(r"\d{9,20}(?:\.\d+)?")
# A date is absolute if it has the same meaning at two distant moments; "yesterday" and "3/6/24" are not.
_REFERENCES = (datetime(2001, 2, 3, tzinfo=UTC), datetime(2017, 9, 14, tzinfo=UTC))


def moment(value: object) -> datetime | None:
    """The UTC time that a value denotes; None if it is ambiguous or not a time."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_epoch(value)
    if isinstance(value, datetime | date):
        return _instant(value)
    if isinstance(value, str) and (text := value.strip()) and len(text) <= 100:
        return _from_text(text)
    return None


def first_time(given: Object, *keys: str) -> datetime | None:
    """The time under the first of these keys that has one."""
    return next((at for key in keys if (at := moment(given.get(key)))), None)


def _from_text(text: str) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return _from_epoch(float(text))
    return _instant(_UTC.sub("+00:00", text)) or _from_mail(text) or _from_words(text)


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
    first, second = (find_dates(text, reference) for reference in _REFERENCES)
    if len(first) == 1 and [span.start for span in first] == [span.start for span in second]:
        return first[0].start
    return None


AT = ("at", "timestamp", "created_at", "create_time", "date", "datetime", "time", "ts")
"""Keys for the time of a message, most reliable first."""
SPEAKER = ("speaker", "name")
SESSION = ("session", "session_id", "sessionId", "conversation_id", "thread_id")
LONGEST_EXTRA = 2_000
"""Unknown values with more characters of JSON are dropped instead of kept as metadata."""

_KINDS, _TIERS = frozenset(Kind), frozenset(Tier) - {Tier.PINNED}  # a file cannot pin what it says
_WHOLE = ("trust", "credibility", "classification")


def fields_of(given: Object, *used: str) -> tuple[Fields, list[str]]:
    """The keyword arguments and metadata in an object, apart from the keys in `used`, and notes on unusable values."""
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
            notes.append(f"{name} is invalid; kept as metadata")
    metadata = dict(as_object(rest.pop("metadata", None)))
    for key, value in rest.items():
        if fits_metadata(value):
            metadata.setdefault(str(key), value)
        else:
            notes.append("value too large or unsuitable for metadata dropped")
    if metadata:
        fields["metadata"] = metadata
    return cast("Fields", fields), notes


def fits_metadata(value: object) -> bool:
    """Whether an unknown value is small and plain enough to be kept as metadata."""
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
    labels = [label for item in values if (label := as_name(item))]
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

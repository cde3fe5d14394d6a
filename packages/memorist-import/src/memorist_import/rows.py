"""JSON objects of known datasets, read strictly: every error names its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from memorist.errors import InvalidInput

REPAIR = "Correct the file, or fetch the set again; docs/how-to/datasets.md describes the layouts."


def invalid_data(place: str | Path, problem: str) -> InvalidInput:
    """The error for invalid data, with its place."""
    return InvalidInput(f"{place}: {problem}", remedy=REPAIR)


@dataclass(frozen=True, slots=True)
class RowFields:
    """A JSON object and its place, for error messages."""

    values: Mapping[str, object]
    place: str

    def text(self, name: str) -> str:
        """A required, non-blank text."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value.strip():
            raise invalid_data(self.place, f"{name!r} is missing or is not a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """An optional text; None if it is absent, null or empty."""
        return self.text(name) if self.values.get(name) not in (None, "") else None

    def moment(self, name: str, read: Callable[[str], datetime]) -> datetime | None:
        """An optional time, parsed by `read`."""
        written = self.optional_text(name)
        return None if written is None else self.read_moment(written, read)

    def read_moment(self, written: str, read: Callable[[str], datetime]) -> datetime:
        """A time, parsed by `read`."""
        try:
            return read(written)
        except ValueError:  # InvalidInput is one
            raise invalid_data(self.place, f"{written!r} is not a time") from None

    def object(self, name: str) -> RowFields:
        """An optional object; empty if it is absent or null."""
        return fields(self.values.get(name) or {}, f"{self.place}, {name}")

    def items(self, name: str) -> list[object]:
        """A required list."""
        return items(self.values.get(name), f"{self.place}, {name}")

    def objects(self, name: str) -> list[RowFields]:
        """A required list of objects."""
        return objects(self.values.get(name), f"{self.place}, {name}")


def fields(value: object, place: str) -> RowFields:
    """Check that a value is a JSON object."""
    if not isinstance(value, dict):
        raise invalid_data(place, "this is not a JSON object")
    return RowFields(cast("dict[str, object]", value), place)


def items(value: object, place: str) -> list[object]:
    """Check that a value is a JSON list."""
    if not isinstance(value, list):
        raise invalid_data(place, "a list is missing")
    return cast("list[object]", value)


def objects(value: object, place: str) -> list[RowFields]:
    """Check that a value is a JSON list of objects."""
    return [fields(item, f"{place}[{number}]") for number, item in enumerate(items(value, place))]

"""Parsing of model settings such as `openai:text-embedding-3-small`, and validation of their options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from memorist.errors import InvalidInput

Options = Mapping[str, object]


def split(setting: str) -> tuple[str, str]:
    """The name before the first colon, and the rest, which may be empty."""
    name, _, rest = setting.partition(":")
    return name.strip().lower(), rest.strip()


_AT_LEAST_1 = "a whole number of at least 1"
_KINDS: Mapping[str, tuple[Any, Callable[[Any], bool], str]] = {
    "url": (str, bool, "a non-empty string"),
    "key_env": (str, bool, "the name of an environment variable"),
    "dim": (int, lambda value: value >= 1, _AT_LEAST_1),
    "batch": (int, lambda value: value >= 1, _AT_LEAST_1),
    "timeout": (int | float, lambda value: value > 0, "a number of seconds above 0"),
    "retries": (int, lambda value: value >= 0, "a whole number of at least 0"),
    "max_tokens": (int, lambda value: value >= 1, _AT_LEAST_1),
    "temperature": (int | float, lambda value: 0 <= value <= 2, "a number from 0 to 2"),
    "concurrency": (int, lambda value: value >= 1, _AT_LEAST_1),
}
"""The type, the condition and the description of each option."""


def check_options(options: Options | None, allowed: Iterable[str], what: str) -> dict[str, object]:
    """The options, after checking that `what` accepts each one and that its value is valid."""
    allowed = tuple(allowed)
    given = dict(options or {})
    for name, value in given.items():
        if name not in allowed:
            takes = f"Its options are {', '.join(allowed)}." if allowed else "It has no options."
            raise InvalidInput(f"{what} has no option {name!r}", remedy=takes)
        type_, fits, kind = _KINDS[name]
        if isinstance(value, bool) or not isinstance(value, type_) or not fits(value):
            raise InvalidInput(
                f"Invalid value of the option {name!r} of {what[0].lower()}{what[1:]}", remedy=f"It must be {kind}."
            )
    return given

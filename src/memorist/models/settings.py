"""Parsing of model settings such as `openai:text-embedding-3-small`, and validation of their options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from memorist.errors import InvalidInput

Options = Mapping[str, object]


def split(setting: str) -> tuple[str, str]:
    """The name before the first colon, and the rest, which may be empty."""
    name, _, rest = setting.partition(":")
    return name.strip().lower(), rest.strip()


def _text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _count(value: object) -> bool:
    return isinstance(value, int) and value >= 1 and not isinstance(value, bool)


def _whole(value: object) -> bool:
    return isinstance(value, int) and value >= 0 and not isinstance(value, bool)


def _temperature(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 2 and not isinstance(value, bool)


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and value > 0 and not isinstance(value, bool)


_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "url": (_text, "a non-empty string"),
    "key_env": (_text, "the name of an environment variable"),
    "dim": (_count, "a whole number of at least 1"),
    "batch": (_count, "a whole number of at least 1"),
    "timeout": (_seconds, "a number of seconds above 0"),
    "retries": (_whole, "a whole number of at least 0"),
    "max_tokens": (_count, "a whole number of at least 1"),
    "temperature": (_temperature, "a number from 0 to 2"),
    "concurrency": (_count, "a whole number of at least 1"),
}


def checked(options: Options | None, allowed: Iterable[str], what: str) -> dict[str, object]:
    """The options, after checking that `what` accepts each one and that its value is valid."""
    allowed = tuple(allowed)
    given = dict(options or {})
    for name, value in given.items():
        if name not in allowed:
            takes = f"Its options are {', '.join(allowed)}." if allowed else "It has no options."
            raise InvalidInput(f"{what} has no option {name!r}", remedy=takes)
        accept, kind = _KINDS[name]
        if not accept(value):
            raise InvalidInput(
                f"Invalid value of the option {name!r} of {what[0].lower()}{what[1:]}", remedy=f"It must be {kind}."
            )
    return given

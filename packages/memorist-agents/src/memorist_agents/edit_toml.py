"""Edit TOML without touching its comments and order.

Every edit is parsed again: if it does not say exactly what it should, it is refused and nothing is written.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from os.path import commonprefix
from typing import Any

BOM = "\ufeff"


def parsed(text: str) -> dict[str, Any]:
    """The settings that a text holds. Raises ValueError if it is not TOML."""
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def added(text: str, group: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with a table `[group.name]` at its end."""
    import tomlkit

    wanted = parsed(text)
    listed: Any = wanted.setdefault(group, {})
    if not isinstance(listed, dict):
        raise ValueError(f"{group} is not a table")
    listed[name] = dict(entry)
    newline = "\r\n" if "\r\n" in text else "\n"
    end = "" if not text or text.endswith("\n") else newline
    table = tomlkit.dumps({group: {name: entry}}).replace("\n", newline)
    return _agreed(f"{text}{end}{newline if text.strip() else ''}{table}", wanted)


def removed(text: str, group: str, name: str) -> str:
    """The text without the table `[group.name]` and the tables in it."""
    import tomlkit

    wanted = parsed(text)
    listed: Any = wanted.get(group)
    if not isinstance(listed, dict) or name not in listed:
        return text
    whole: Any = tomlkit.parse(text.removeprefix(BOM))
    for tables in (wanted, whole):
        del tables[group][name]
        if not tables[group]:
            del tables[group]
    after = tomlkit.dumps(whole)
    newline = "\r\n" if "\r\n" in text else "\n"
    start = commonprefix([text.removeprefix(BOM), after]).rfind("\n") + 1  # noqa: RUF071 (characters are meant)
    if after[:start].endswith(2 * newline):
        after = after[: start - len(newline)] + after[start:]  # without the empty line before the table
    return _agreed(BOM * text.startswith(BOM) + after, wanted)


def _agreed(text: str, wanted: Mapping[str, Any]) -> str:
    """The text, if it says what is wanted."""
    if parsed(text) != wanted:
        raise ValueError("the change would alter other settings")
    return text

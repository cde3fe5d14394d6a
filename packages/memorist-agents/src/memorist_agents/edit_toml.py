"""Editing TOML as text: a table is added at the end of the file, and removed up to the next heading.

Every edit is parsed again: if it does not say exactly what it should, it is refused and nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, cast

Table = Mapping[str, Any]


def parsed(text: str) -> dict[str, Any]:
    """The settings that a text holds. Raises ValueError if it is not TOML."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def added(text: str, group: str, name: str, entry: Table) -> str:
    """The text with a table `[group.name]` at its end."""
    end = "" if not text or text.endswith("\n") else "\n"
    after = f"{text}{end}{chr(10) if text.strip() else ''}{_table(group, name, entry)}"
    after = after.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else after
    wanted = parsed(text)
    listed: object = wanted.setdefault(group, {})
    if not isinstance(listed, dict):
        raise ValueError(f"{group} is not a table")
    cast("dict[str, object]", listed)[name] = dict(entry)
    return _agreed(after, wanted)


def removed(text: str, group: str, name: str) -> str:
    """The text without the table `[group.name]` and the tables in it."""
    wanted = parsed(text)
    listed = wanted.get(group)
    if not isinstance(listed, dict) or name not in listed:
        return text
    del cast("dict[str, object]", listed)[name]
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        opens = _opens(line, group, name)
        if line.lstrip().startswith("[") and opens != inside and _is_complete("".join(lines[:number])):
            inside = opens
            if inside and kept and not kept[-1].strip():
                kept.pop()  # the empty line before the table
        if not inside:
            kept.append(line)
    after = "".join(kept)
    if not listed and group not in parsed(after):
        del wanted[group]
    return _agreed(after, wanted)


def _table(group: str, name: str, entry: Table) -> str:
    """A table as text. A JSON text is a basic string of TOML, but for one character."""
    heading = f"{group}.{name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else _text(name)}"
    plain = {key: value for key, value in entry.items() if not isinstance(value, Mapping)}
    inner = {key: cast("Table", value) for key, value in entry.items() if isinstance(value, Mapping)}
    lines = [f"[{heading}]", *_lines(plain)]
    for key, value in inner.items():
        lines += [f"[{heading}.{key}]", *_lines(value)]
    return "\n".join(lines) + "\n"


def _lines(values: Table) -> list[str]:
    return [f"{key} = {_text(value)}" for key, value in values.items()]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _opens(line: str, group: str, name: str) -> bool:
    """Whether a line is the heading of our table, or of one in it."""
    try:
        inner: object = tomllib.loads(line).get(group)
    except ValueError:
        return False
    return isinstance(inner, dict) and list(cast("dict[str, object]", inner)) == [name]


def _is_complete(text: str) -> bool:
    """Whether a text ends between two settings, and not within a list or a text of several lines."""
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError:
        return False
    return True


def _agreed(text: str, wanted: Table) -> str:
    """The text, if it says what is wanted."""
    if parsed(text) != wanted:
        raise ValueError("the change would alter other settings")
    return text

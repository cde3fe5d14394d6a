"""The settings file: write a recipe's numbers into it without touching anything else, show the difference, undo.

The text is edited, not rewritten, so comments and order stay. Every edit is parsed again: if it does not say exactly
what it should, nothing is written.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, cast

from memorist import trust
from memorist.config import content_of, covered, is_trusted, own_file, project_file
from memorist.errors import InvalidInput, NotFound, without_passwords
from memorist.files import refusing, write_text
from memorist.recall.data import is_bare, settings_to_toml, toml_key, toml_value

RECORD = "tuned.json"
"""The name of the record, in the user's settings folder: for each file, what it held before each change."""
MOST_KEPT = 10
"""Changes of a file that can be undone."""
COMMENT = "# Fitted by `memorist tune`; `memorist tune --undo` takes it back."


def file_for(recipe: str, given: str | None) -> Path:
    """The file to change: the one given, else the one that has this recipe, else the project's, else the user's own.

    A project's file that sets nothing, because other users may have written it, is not changed.
    """
    if given is not None:
        return Path(given).expanduser().resolve()
    near, own = project_file(), own_file()
    if near is not None and trust.foreign(near) is not None and not is_trusted(near, content_of(near)):
        near = None
    for file in filter(None, (near, own)):
        if recipe in _parsed(content(file) or b"", file).get("recipes", {}):
            return file.resolve()
    return (near or own).resolve()


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file, as bytes before and after; None if there was no file."""

    file: Path
    before: bytes | None
    after: bytes

    def diff(self) -> str:
        """The change as a unified diff, without passwords."""
        old, new = ((one or b"").decode().splitlines() for one in (self.before, self.after))
        lines = unified_diff(old, new, str(self.file), str(self.file), lineterm="")
        return without_passwords("\n".join(lines))

    def apply(self) -> None:
        """Write the file, unless it has changed meanwhile, and keep what it held."""
        _check_unchanged(self.file, self.before)
        record = _record()
        kept = {"before": None if self.before is None else self.before.decode(), "after": _digest(self.after)}
        record[str(self.file)] = [*record.get(str(self.file), []), kept][-MOST_KEPT:]
        _write_record(record)
        _replace(self.file, self.before, self.after)


def edit(file: Path, before: bytes | None, recipe: str, settings: Mapping[str, Any]) -> Edit:
    """The change of a file with this content that sets these parameters of a recipe."""
    wanted = _parsed(before or b"", file)
    text = (before or b"").decode()
    changed = wanted.setdefault("recipes", {}).setdefault(recipe, {}).setdefault("set", {})
    changed.update(settings)
    for new in (_in_table(text, recipe, settings), _inline(text, recipe, changed), _appended(text, recipe, settings)):
        if new is not None and _means(new, wanted):
            return Edit(file, before, new.encode())
    lines = "; ".join(f"{toml_key(name)} = {toml_value(value)}" for name, value in settings.items())
    raise InvalidInput(
        f"The recipe {recipe!r} in {file} is written in a form that cannot be edited; nothing was written",
        remedy=f"Write below its `set`: {lines}",
    )


def undo(file: Path) -> Path:
    """Restore what a file held before the last change, byte for byte."""
    record, now = _record(), content(file)
    kept = record.get(str(file), [])
    while kept and _bytes(kept[-1]["before"]) == now:
        kept.pop()  # it was restored by hand, or never changed
    if not kept:
        raise NotFound(f"{file} holds no change of `memorist tune`", remedy="Nothing is left to undo.")
    if now is None or _digest(now) != kept[-1]["after"]:
        raise InvalidInput(
            f"{file} was edited after it was tuned; nothing was written",
            remedy=f"Undo it by hand: what it held before is in {trust.user_folder() / RECORD}.",
        )
    before = _bytes(kept.pop()["before"])
    _replace(file, now, before)
    _write_record({**record, str(file): kept})
    return file


def _check_unchanged(file: Path, before: bytes | None) -> None:
    if content(file) != before:
        raise InvalidInput(f"{file} was edited while it was tuned; nothing was written", remedy="Tune again.")


def _replace(file: Path, before: bytes | None, after: bytes | None) -> None:
    """Write a file, or remove it; a trusted one stays trusted, because the user asked for this change."""
    trusted = before is not None and is_trusted(file, before)
    if after is None:
        with refusing(file, "Give this user permission to write its folder."):
            file.unlink()
        return
    write_text(file, after.decode(), remedy="Give this user permission to write its folder, or free some space.")
    if trusted:
        trust.trust(file, covered(file, after))


def content(file: Path) -> bytes | None:
    """The bytes of a settings file; None if there is none."""
    return content_of(file) if file.exists() else None


def _parsed(content: bytes, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise InvalidInput(f"{file} is not TOML: {error}", remedy="Correct that line.") from None


def _means(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


# Three ways to write it


def _in_table(text: str, recipe: str, settings: Mapping[str, Any]) -> str | None:
    """Lines of `[recipes.NAME.set]` replaced, or added as its first ones."""
    found = _table(text, "recipes", recipe, "set")
    if found is None:
        return None
    start, end = found
    body, newline = text[start:end], _newline(text)
    for name, value in settings.items():
        line = re.search(rf"^[ \t]*{_spelled(name)}[ \t]*=([^#\r\n]*)", body, re.MULTILINE)
        if line is None:
            body = f"{toml_key(name)} = {toml_value(value)}{newline}{body}"
        else:
            rest = body[line.start(1) + len(line[1].rstrip()) :]
            body = f"{body[: line.start(1)]} {toml_value(value)}{rest}"
    before = text[:start] if text[:start].endswith("\n") else text[:start] + newline
    return before + body + text[end:]


def _inline(text: str, recipe: str, whole: Mapping[str, Any]) -> str | None:
    """The line `set = { … }` of `[recipes.NAME]` replaced."""
    found = _table(text, "recipes", recipe)
    if found is None:
        return None
    start, end = found
    pattern = r"^([ \t]*set[ \t]*=[ \t]*)\{[^\r\n]*\}(?=[ \t]*(?:#[^\r\n]*)?\r?$)"
    body, done = re.subn(
        pattern, lambda old: f"{old[1]}{toml_value(whole)}", text[start:end], count=1, flags=re.MULTILINE
    )
    return text[:start] + body + text[end:] if done else None


def _appended(text: str, recipe: str, settings: Mapping[str, Any]) -> str:
    """A new table at the end."""
    newline = _newline(text)
    lines = [COMMENT, *settings_to_toml(recipe, settings).splitlines()]
    before = text if not text or text.endswith("\n") else text + newline
    return before + (newline if before else "") + newline.join(lines) + newline


def _table(text: str, *names: str) -> tuple[int, int] | None:
    """Where the lines below a table's heading begin and end."""
    dotted = r"[ \t]*\.[ \t]*".join(map(_spelled, names))
    heading = re.search(rf"^[ \t]*\[[ \t]*{dotted}[ \t]*\][^\r\n]*(?:\r?\n|\Z)", text, re.MULTILINE)
    if heading is None:
        return None
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, heading.end())
    return heading.end(), following.start() if following else len(text)


def _spelled(name: str) -> str:
    """A pattern for a key, quoted or, if it may be, bare."""
    quoted = rf"\"{re.escape(name)}\"|'{re.escape(name)}'"
    return rf"(?:{quoted}|{re.escape(name)})" if is_bare(name) else rf"(?:{quoted})"


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# What files held before


def _record() -> dict[str, list[dict[str, Any]]]:
    file = trust.user_folder() / RECORD
    try:
        data: object = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InvalidInput(f"{file} is damaged", remedy="Delete it; earlier changes can then not be undone.")
    return cast("dict[str, list[dict[str, Any]]]", data)


def _write_record(record: Mapping[str, Any]) -> None:
    kept = {file: changes for file, changes in record.items() if changes}
    write_text(trust.user_folder() / RECORD, json.dumps(kept, indent=2))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

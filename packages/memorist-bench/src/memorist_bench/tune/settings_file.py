"""The settings file: write a recipe's numbers into it without touching anything else, show the difference, undo.

Comments and order stay. Every edit is parsed again: if it does not say exactly what it should, nothing is written.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, cast

import tomlkit

from memorist import trust
from memorist.config import content_of, is_trusted, own_file, project_file, trusted_content
from memorist.errors import InvalidInput, NotFound, without_passwords
from memorist.files import refusing, write_text
from memorist.recall.data import settings_to_toml, toml_value

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
        old, new = ((content or b"").decode().splitlines() for content in (self.before, self.after))
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
    wanted.setdefault("recipes", {}).setdefault(recipe, {}).setdefault("set", {}).update(settings)
    new = _changed((before or b"").decode(), recipe, settings)
    if _means(new, wanted):
        return Edit(file, before, new.encode())
    _, *lines = settings_to_toml(recipe, settings).splitlines()
    raise InvalidInput(
        f"The recipe {recipe!r} in {file} is written in a form that cannot be edited; nothing was written",
        remedy=f"Write below its `set`: {'; '.join(lines)}",
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
        trust.trust(file, trusted_content(file, after))


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


def _changed(text: str, recipe: str, settings: Mapping[str, Any]) -> str:
    """The text with these parameters where the recipe's are set, or in a new table at the end."""
    whole: Any = tomlkit.parse(text)
    table = whole.get("recipes", {}).get(recipe, {}).get("set")
    if table is None:
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = ["", COMMENT, *settings_to_toml(recipe, settings).splitlines(), ""]
        return text + newline * (text[-1:] not in ("", "\n")) + newline.join(lines[not text :])
    for name, value in settings.items():
        table[name] = tomlkit.value(toml_value(value))
    after = tomlkit.dumps(whole)
    return after if "\r\n" not in text else after.replace("\r\n", "\n").replace("\n", "\r\n")


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

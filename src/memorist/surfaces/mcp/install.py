"""Enter the server into a client's settings: merged into what is there, with a copy of it beside."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput, StoreError
from memorist.surfaces.mcp.clients import Client

NAME = "memorist"


@dataclass(frozen=True, slots=True)
class Change:
    """What an entry makes of a client's file."""

    client: Client
    file: Path
    entry: dict[str, Any]
    before: str | None
    after: str
    needed: bool
    """Whether the file does not say so already."""


def entry(client: Client, arguments: list[str]) -> dict[str, Any]:
    """How a client is told to start `memorist ARGUMENTS`: by this interpreter, whatever its own path holds."""
    kind = {"type": "stdio"} if client.typed else {}
    return {**kind, "command": sys.executable, "args": ["-m", "memorist", *arguments]}


def plan(client: Client, arguments: list[str], *, name: str = NAME) -> Change:
    """The change that lets a client start `memorist ARGUMENTS`; nothing is written yet."""
    file = client.file()
    before = _text(file)
    settings = _settings(file, before)
    added = entry(client, arguments)
    servers: object = settings.get(client.servers, {})
    if not isinstance(servers, dict):
        raise _unreadable(file, f"its {client.servers!r} is no object")
    merged = settings | {client.servers: cast("dict[str, Any]", servers) | {name: added}}
    after = json.dumps(merged, indent=2, ensure_ascii=False) + "\n"
    return Change(client, file, added, before, after, needed=merged != settings)


def apply(change: Change) -> Path | None:
    """Write the file whole or not at all; returns the copy of what was there, if there was anything to change."""
    if not change.needed:
        return None
    try:
        change.file.parent.mkdir(parents=True, exist_ok=True)
        copy = None if change.before is None else _copied(change.file)
        _replace(change.file, change.after)
    except OSError as error:
        raise StoreError(
            f"{change.file} cannot be written ({error.strerror})", remedy="Give this user permission to write it."
        ) from error
    return copy


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, str(error)) from None


def _settings(file: Path, text: str | None) -> dict[str, Any]:
    if not (text or "").strip():
        return {}
    try:
        data: object = json.loads(cast("str", text))
    except ValueError as error:
        raise _unreadable(file, str(error)) from None
    if not isinstance(data, dict):
        raise _unreadable(file, "it holds no object")
    return cast("dict[str, Any]", data)


def _unreadable(file: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"{file} is not plain JSON, and was left as it is ({why})",
        remedy="Correct it, or take its comments out, and run this again; --dry-run prints the entry to add by hand.",
    )


def _copied(file: Path) -> Path:
    """A copy under the first free name, so that no earlier one is lost."""
    number = 0
    while (copy := file.with_name(f"{file.name}.bak{number or ''}")).exists():
        number += 1
    return Path(shutil.copy2(file, copy))


def _replace(file: Path, text: str) -> None:
    """Settings may be a link into a folder of dotfiles: what it points at is replaced, with its mode kept."""
    real = file.resolve()
    descriptor, made = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        if real.exists():
            shutil.copymode(real, made)
        os.replace(made, real)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise

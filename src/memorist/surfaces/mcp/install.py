"""Installing the server into MCP clients."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput, StoreError


@dataclass(frozen=True, slots=True)
class McpClient:
    """A program, the file of its servers, and the word under which that file lists them."""

    name: str
    title: str
    file: Callable[[], Path]
    servers: str = "mcpServers"
    typed: bool = False
    """Whether an entry says that it is reached over stdio."""


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application(*parts: str) -> Callable[[], Path]:
    """A file in the folder where the platform's programs keep their settings."""

    def path() -> Path:
        if sys.platform == "darwin":
            folder = Path.home() / "Library" / "Application Support"
        elif sys.platform == "win32":
            folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        else:
            folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return folder.joinpath(*parts)

    return path


CLIENTS = {
    client.name: client
    for client in (
        McpClient("claude-code", "Claude Code", _home(".claude.json"), typed=True),
        McpClient("claude-desktop", "Claude Desktop", _application("Claude", "claude_desktop_config.json")),
        McpClient("cursor", "Cursor", _home(".cursor", "mcp.json")),
        McpClient("vscode", "VS Code", _application("Code", "User", "mcp.json"), servers="servers", typed=True),
    )
}


NAME = "memorist"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What an entry makes of a client's file."""

    client: McpClient
    file: Path
    entry: dict[str, Any]
    before: str | None
    after: str
    needed: bool
    """Whether the file does not say so already."""


def entry(client: McpClient, arguments: list[str]) -> dict[str, Any]:
    """How a client is told to start `memorist ARGUMENTS`: by this interpreter, whatever its own path holds."""
    kind = {"type": "stdio"} if client.typed else {}
    return {**kind, "command": sys.executable, "args": ["-m", "memorist", *arguments]}


def plan(client: McpClient, arguments: list[str], *, name: str = NAME) -> ConfigChange:
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
    return ConfigChange(client, file, added, before, after, needed=merged != settings)


def apply(change: ConfigChange) -> Path | None:
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

"""Adding the server to the settings of MCP clients."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from memorist.errors import InvalidInput, StoreError, without_passwords
from memorist.files import PRIVATE, replacing


@dataclass(frozen=True, slots=True)
class McpClient:
    """A program, the file that lists its servers, and the key under which they are listed."""

    name: str
    title: str
    file: Callable[[], Path]
    servers: str = "mcpServers"
    typed: bool = False
    """Whether an entry states that the server uses stdio."""


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application(*parts: str) -> Callable[[], Path]:
    """A file in the platform's folder for application settings."""

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
    """A change of a client's file: its text before and after."""

    client: McpClient
    file: Path
    entry: dict[str, Any]
    before: str | None
    after: str
    needed: bool
    """False if the file contains the entry already."""
    secret: bool
    """Whether the entry holds a password; then only this user may read the file."""


@dataclass(frozen=True, slots=True)
class Start:
    """How a client starts the server: arguments, and the database in the environment if its URL holds a password.

    Everybody on a machine can read the arguments of its processes.
    """

    arguments: list[str]
    secret_db: str | None = None


def has_password(db: str) -> bool:
    """Whether the URL of a database holds a password."""
    if "://" not in db:
        return False
    parts = urlsplit(db)
    return parts.password is not None or not parse_qs(parts.query).keys().isdisjoint(("password", "sslpassword"))


def entry(client: McpClient, start: Start) -> dict[str, Any]:
    """The entry that makes a client start the server with this interpreter, whatever its PATH is."""
    kind = {"type": "stdio"} if client.typed else {}
    env = {} if start.secret_db is None else {"env": {"MEMORIST_DB": start.secret_db}}
    return {**kind, "command": sys.executable, "args": ["-m", "memorist", *start.arguments], **env}


def shown(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as they may be printed: without passwords."""
    return json.loads(without_passwords(json.dumps(settings, ensure_ascii=False)))


def plan(client: McpClient, start: Start, *, name: str = NAME) -> ConfigChange:
    """The change that makes a client start the server; writes nothing."""
    file = client.file()
    before = _text(file)
    settings = _settings(file, before)
    added = entry(client, start)
    servers: object = settings.get(client.servers, {})
    if not isinstance(servers, dict):
        raise _unreadable(file, f"its {client.servers!r} is not an object")
    merged = settings | {client.servers: cast("dict[str, Any]", servers) | {name: added}}
    after = json.dumps(merged, indent=2, ensure_ascii=False) + "\n"
    secret = start.secret_db is not None
    return ConfigChange(client, file, added, before, after, needed=merged != settings, secret=secret)


def apply(change: ConfigChange) -> Path | None:
    """Write the file atomically; returns the copy of the old file, or None if there was none or nothing changed."""
    try:
        if change.secret and change.before is not None:
            change.file.chmod(PRIVATE)  # the new file and the copy take over the mode
        if not change.needed:
            return None
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
        raise _unreadable(file, "it is not an object")
    return cast("dict[str, Any]", data)


def _unreadable(file: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"{file} is not plain JSON and was not changed ({why})",
        remedy="Fix it or remove its comments and try again, or add the entry that --dry-run prints by hand.",
    )


def _copied(file: Path) -> Path:
    """Copy the file to the first free name, so that no earlier copy is overwritten."""
    number = 0
    while (copy := file.with_name(f"{file.name}.bak{number or ''}")).exists():
        number += 1
    return Path(shutil.copy2(file, copy))


def _replace(file: Path, text: str) -> None:
    """Replace the file and keep its mode; of a link, such as into a folder of dotfiles, replace the target."""
    with replacing(file.resolve(), remedy="Give this user permission to write it.") as part:
        part.write_text(text, encoding="utf-8")

"""The programs that agents live in, and where each keeps its list of MCP servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Client:
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
        Client("claude-code", "Claude Code", _home(".claude.json"), typed=True),
        Client("claude-desktop", "Claude Desktop", _application("Claude", "claude_desktop_config.json")),
        Client("cursor", "Cursor", _home(".cursor", "mcp.json")),
        Client("vscode", "VS Code", _application("Code", "User", "mcp.json"), servers="servers", typed=True),
    )
}

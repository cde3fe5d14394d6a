"""The programs that can be given a memory: their files, the entry that starts the MCP server, and their hooks."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

SESSION_START, PROMPT, TOOL_FAILURE, STOP, PRE_COMPACT = EVENTS = (
    "session-start",
    "prompt",
    "tool-failure",
    "stop",
    "pre-compact",
)
"""What `memorist hook` handles, whatever a client calls it."""
SECONDS = 10
"""The time that a client allows a hook; the hook itself gives up earlier."""


@dataclass(frozen=True, slots=True)
class Start:
    """How a client starts us: the options before the command, and the database in the environment if it is secret.

    Everybody on a machine can read the arguments of its processes, and the URL of a database may hold a password.
    """

    options: Sequence[str]
    secret_db: str | None = None

    def words(self, *command: str) -> list[str]:
        """A command line with this interpreter, which works whatever the PATH of the client is.

        Clients run it in the project. With `-P`, Python does not look for modules there.
        """
        return [sys.executable, "-P", "-m", "memorist", *self.options, *command]


@dataclass(frozen=True, slots=True)
class Hook:
    """An event of a client: which of ours it is, and the tools it is limited to."""

    event: str
    native: str
    matcher: str | None = None


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of a client: the files for them, and how an entry is written.

    A `group` holds a list of commands and a matcher; a `flat` entry is one command. `version` is a member that the file
    needs. `unit` turns seconds into those of the client, None if it has no limit of its own.
    """

    user: Callable[[], Path]
    project: str | None
    events: Sequence[Hook]
    shape: Literal["group", "flat"] = "group"
    version: int | None = None
    unit: int | None = 1

    def entry(self, hook: Hook, client: str, start: Start) -> dict[str, Any]:
        """The entry for one event."""
        command: dict[str, Any] = {"command": shlex.join(start.words("hook", hook.event, "--client", client))}
        if self.unit is not None:
            command["timeout"] = SECONDS * self.unit
        matcher = {} if hook.matcher is None else {"matcher": hook.matcher}
        if self.shape == "flat":
            return {**command, **matcher}
        return {**matcher, "hooks": [{"type": "command", **command}]}


@dataclass(frozen=True, slots=True)
class AgentClient:
    """A program, the file that lists its MCP servers, the key of that list, and its hooks if it has any."""

    name: str
    title: str
    user: Callable[[], Path]
    project: str | None
    servers: str = "mcpServers"
    typed: bool = False
    """Whether an entry states that the server uses stdio."""
    works_in_project: bool = True
    """Whether it starts servers in the folder of the project."""
    hooks: Hooks | None = None
    after: str = ""
    """What the user must do besides restarting it."""

    def entry(self, start: Start) -> dict[str, Any]:
        """The entry that makes it start the MCP server."""
        kind = {"type": "stdio"} if self.typed else {}
        command, *arguments = start.words("mcp", *(["--project"] if self.works_in_project else []))
        env = {} if start.secret_db is None else {"env": {"MEMORIST_DB": start.secret_db}}
        return {**kind, "command": command, "args": arguments, **env}


def is_hook_command(command: object) -> bool:
    """Whether a command line of a hook is one of ours, whichever options and interpreter it has."""
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if "hook" not in words or not set(words) & set(EVENTS):
        return False
    started = words[2:] if words[1:2] == ["-P"] else words[1:]  # earlier versions left it out
    return Path(words[0]).name == "memorist" or started[:2] == ["-m", "memorist"]


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _variable(name: str, otherwise: str, *parts: str) -> Callable[[], Path]:
    """A file in the folder that an environment variable names."""
    return lambda: Path(os.environ.get(name) or Path.home() / otherwise).joinpath(*parts)


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


def _zed() -> Path:
    """Zed's settings file; on macOS it is in ~/.config too."""
    if sys.platform == "darwin":
        return Path.home() / ".config" / "zed" / "settings.json"
    return _application("Zed" if sys.platform == "win32" else "zed", "settings.json")()


_CLAUDE_CODE = Hooks(
    _home(".claude", "settings.json"),
    ".claude/settings.local.json",
    (
        Hook(SESSION_START, "SessionStart"),
        Hook(PROMPT, "UserPromptSubmit"),
        Hook(TOOL_FAILURE, "PostToolUseFailure", "Bash"),
        Hook(STOP, "Stop"),
        Hook(PRE_COMPACT, "PreCompact"),
    ),
)
_CODEX = Hooks(
    _variable("CODEX_HOME", ".codex", "hooks.json"),
    ".codex/hooks.json",
    (
        Hook(SESSION_START, "SessionStart"),
        Hook(PROMPT, "UserPromptSubmit"),
        Hook(STOP, "Stop"),
        Hook(PRE_COMPACT, "PreCompact"),
    ),
)
_CURSOR = Hooks(
    _home(".cursor", "hooks.json"),
    ".cursor/hooks.json",
    (
        Hook(SESSION_START, "sessionStart"),
        Hook(TOOL_FAILURE, "postToolUseFailure", "Shell"),
        Hook(STOP, "stop"),
        Hook(PRE_COMPACT, "preCompact"),
    ),
    shape="flat",
    version=1,
)
_GEMINI = Hooks(
    _home(".gemini", "settings.json"),
    ".gemini/settings.json",
    (
        Hook(SESSION_START, "SessionStart"),
        Hook(PROMPT, "BeforeAgent"),
        Hook(TOOL_FAILURE, "AfterTool", "run_shell_command"),
        Hook(STOP, "AfterAgent"),
        Hook(PRE_COMPACT, "PreCompress"),
    ),
    unit=1000,
)
_WINDSURF = Hooks(
    _home(".codeium", "windsurf", "hooks.json"),
    None,
    (Hook(STOP, "post_cascade_response_with_transcript"),),
    shape="flat",
    unit=None,
)

CLIENTS: Mapping[str, AgentClient] = {
    client.name: client
    for client in (
        AgentClient("claude-code", "Claude Code", _home(".claude.json"), ".mcp.json", typed=True, hooks=_CLAUDE_CODE),
        AgentClient(
            "codex",
            "Codex",
            _variable("CODEX_HOME", ".codex", "config.toml"),
            ".codex/config.toml",
            servers="mcp_servers",
            hooks=_CODEX,
            after="Then trust the hooks in Codex, with /hooks; it runs no hook before that.",
        ),
        AgentClient("cursor", "Cursor", _home(".cursor", "mcp.json"), ".cursor/mcp.json", hooks=_CURSOR),
        AgentClient("gemini", "Gemini CLI", _home(".gemini", "settings.json"), ".gemini/settings.json", hooks=_GEMINI),
        AgentClient(
            "windsurf",
            "Windsurf",
            _home(".codeium", "windsurf", "mcp_config.json"),
            None,
            works_in_project=False,
            hooks=_WINDSURF,
        ),
        AgentClient("zed", "Zed", _zed, ".zed/settings.json", servers="context_servers"),
        AgentClient(
            "vscode", "VS Code", _application("Code", "User", "mcp.json"), ".vscode/mcp.json", "servers", typed=True
        ),
        AgentClient(
            "claude-desktop",
            "Claude Desktop",
            _application("Claude", "claude_desktop_config.json"),
            None,
            works_in_project=False,
        ),
    )
}

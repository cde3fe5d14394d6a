"""Remedies in the words of a surface.

A remedy names the verbs to call as data, and a Python caller reads them as calls: `list()`, `open(embedder='none')`.
Each surface says the same with its own commands, routes or tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memorist.errors import Remedy

Given = Mapping[str, object]
"""The keywords of a call."""
Speak = Callable[[str, Given], str]
"""Says a call of a verb in the words of a surface."""

OPEN = "open"
COMMANDS = {"import_": "import", "why_not": "why-not", "session": "session start", "get": "show"}
"""The command of a verb, where it has another name."""
OPTIONS = ("space", "models", "embedder", "config")
"""The keywords of `open` that are options before a command; the others are settings."""
ROUTES = {
    **{"remember": "POST /memories", "recall": "POST /recall", "list": "GET /memories", "relate": "POST /facts"},
    **{"session": "POST /sessions", "journal": "GET /journal", "audit": "POST /audit", "reembed": "POST /reembed"},
    **{"export": "GET /export", "import_": "POST /import", "undo": "POST /undo", "forget": "POST /forget"},
}
"""The route of a verb, below /v1/spaces/SPACE."""
TOOLS = {name: name for name in ("remember", "recall", "relate", "history", "session", "feedback", "forget")}
TOOLS["list"] = "recall"
"""The tool of a verb; other verbs are for the person who runs the server, as commands."""


def in_words(remedy: str, speak: Speak) -> str:
    """A remedy with each call in the words of a surface."""
    parts = remedy.parts if isinstance(remedy, Remedy) else (remedy,)
    return "".join(part if isinstance(part, str) else f"`{speak(*part)}`" for part in parts)


def as_command(verb: str, given: Given) -> str:
    """A command: `memorist import --without-vectors`; to open differently is an option before it, or a setting."""
    if verb == OPEN:
        options = [f"--{name} {value}" for name, value in given.items() if name in OPTIONS]
        return " ".join(options) or _settings(given)
    parts = [f"--{name.replace('_', '-')}" + _value(verb, name, value) for name, value in given.items()]
    return " ".join(["memorist", COMMANDS.get(verb, verb), *parts])


def _value(verb: str, name: str, value: object) -> str:
    if (verb, name) == ("audit", "fix"):
        return " all"  # the option takes what to fix
    return "" if value is True else f" {value}"


def as_route(verb: str, given: Given) -> str:
    """A route and the fields to send: `POST /audit fix=true`; how a memory is opened is a setting of the server."""
    if verb == OPEN:
        return _settings(given)
    if verb not in ROUTES:
        return as_command(verb, given)
    fields = (f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in given.items())
    return " ".join([ROUTES[verb], *fields])


def as_tool(verb: str, given: Given) -> str:
    """A tool, or the command that the person who runs the server can use."""
    if verb == OPEN:
        return _settings(given)
    return TOOLS[verb] if verb in TOOLS and not given else as_command(verb, given)


def _settings(given: Given) -> str:
    return ", ".join(f'{name} = "{value}"' for name, value in given.items())

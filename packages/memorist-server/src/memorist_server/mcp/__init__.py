"""The memory as an MCP server: nine tools, one resource per memory, and a prompt that explains their use."""

from __future__ import annotations

from importlib.util import find_spec

from memorist.errors import MissingExtra


def require_sdk() -> None:
    """Raise an error if the official SDK is not installed."""
    if find_spec("mcp") is None:
        raise MissingExtra("The MCP SDK is not installed", remedy="Install it with: pip install 'memorist[mcp]'")

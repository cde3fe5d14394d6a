"""The memory as an MCP server: seven tools, a resource a memory, and a prompt that teaches their use."""

from __future__ import annotations

from importlib.util import find_spec

from memorist.errors import MissingExtra


def require_sdk() -> None:
    """Refuse to go on without the official SDK."""
    if find_spec("mcp") is None:
        raise MissingExtra("The MCP SDK is not installed", remedy="Install it with: pip install 'memorist[mcp]'")

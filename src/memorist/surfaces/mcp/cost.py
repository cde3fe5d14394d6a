"""What the server costs a model before it says anything: the tokens of its tools and instructions."""

from __future__ import annotations

import json
from typing import Any

import anyio

from memorist.surfaces.mcp.server import MemoryServer
from memorist.text.tokens import count_tokens


def cost(server: MemoryServer) -> dict[str, Any]:
    """Tokens of each tool as a model sees it (name, description, arguments) and of the instructions; an estimate.

    `output` is what the schemas of results would add, which most clients keep to themselves.
    """
    tools = anyio.run(server.list_tools)
    seen = {
        tool.name: _tokens({"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema})
        for tool in tools
    }
    instructions = count_tokens(server.instructions or "")
    return {
        "tools": seen,
        "instructions": instructions,
        "total": sum(seen.values()) + instructions,
        "output": sum(_tokens(tool.output_schema) for tool in tools),
    }


def _tokens(data: object) -> int:
    return count_tokens(json.dumps(data, separators=(",", ":"), ensure_ascii=False))

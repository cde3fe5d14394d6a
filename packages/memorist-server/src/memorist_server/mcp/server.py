"""The MCP server, and the cost of its tools in tokens."""

from __future__ import annotations

import json
import logging
from functools import partial
from importlib.resources import files
from typing import Any
from uuid import uuid4

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

import memorist
from memorist.engine.engine import Engine
from memorist.errors import Error, NotFound
from memorist.model import within
from memorist.model.spellings import advice
from memorist.surfaces.remedies import as_tool
from memorist.text.tokens import count_tokens
from memorist_server.mcp.caller import Bounds
from memorist_server.mcp.schemas import slim
from memorist_server.mcp.tools import Tools
from memorist_server.rest.logs import error_trace
from memorist_server.rest.problems import Refusal, is_private, public_wording
from memorist_server.rest.server import Settings
from memorist_server.rest.threads import OutOfTime

NAME = "memorist"
RESOURCE = "memorist://memory/{id}"
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_MOVES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_ERASES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
TOOLS = {
    "remember": _ADDS,
    "recall": _READS,
    "relate": _ADDS,
    "history": _READS,
    "entities": _READS,
    "session": _MOVES,
    "feedback": _MOVES,
    "forget": _ERASES,
    "status": _READS,
}
LIMITS = Settings()
"""The limits are those of `memorist serve`, with their defaults."""
_log = logging.getLogger(__name__)


class MemoryServer(MCPServer[Any]):
    """An MCP server over one open engine."""

    def __init__(
        self, engine: Engine, *, max_classification: int = 2, limits: Settings = LIMITS, scope: str | None = None
    ) -> None:
        within("max_classification", max_classification, 0, 3)
        bounds = Bounds(engine.space, f"mcp:{uuid4().hex}", max_classification, scope)
        verbs = Tools(engine, bounds, limits)
        self.space = engine.space
        self.limits = limits
        self._scope = scope
        tools = [_tool(verbs, name) for name in TOOLS]
        self._arguments = {tool.name: set(tool.parameters["properties"]) for tool in tools}
        super().__init__(
            NAME,
            title="Memorist",
            instructions=wording("instructions") + (f" {wording('project')}" if scope else ""),
            version=memorist.__version__,
            tools=tools,
            log_level="WARNING",  # below that the SDK logs what callers sent
        )
        self._add_memories(verbs)
        self.prompt("memory", "Use your memory", "When to recall, remember, relate, correct and forget.")(_guide)

    def _add_memories(self, verbs: Tools) -> None:
        async def memory(id: str, context: Context[Any, Any]) -> str:
            try:
                return await verbs.run(verbs.memory, context, id=id)
            except Exception as error:
                kind = ResourceNotFoundError if isinstance(error, NotFound) else ResourceError
                raise kind(_explained("memory", error)) from None

        self.resource(RESOURCE, name="memory", description="One memory, whole.", mime_type="text/plain")(memory)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Run a tool; an error comes with its remedy, and an unknown argument is refused."""
        unknown = sorted(arguments.keys() - self._arguments.get(name, arguments.keys()))
        if unknown:
            known = sorted(self._arguments[name])
            told = [f"There is no argument {unknown[0]!r}.", advice(unknown[0], known)]
            raise ToolError(" ".join([*filter(None, told), f"Arguments of {name}: {', '.join(known) or 'none'}."]))
        given = (arguments.get(parameter) for parameter in ("scope", HAVE_SCOPE.get(name, "")))
        if self._scope is not None and name in HAVE_SCOPE and not any(given):
            arguments = {**arguments, "scope": self._scope}
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            raise ToolError(_problem(name, error)) from None
        except MCPError:
            raise
        except Exception as error:
            raise ToolError(_explained(name, error)) from None


HAVE_SCOPE = {"remember": "replaces", "session": "id", "relate": ""}
"""Tools that write in a scope, and the argument that names something which has one already."""


def wording(name: str) -> str:
    """A text for the model, from the folder `words`."""
    return (files("memorist_server.mcp") / "words" / f"{name}.md").read_text(encoding="utf-8").strip()


def _guide() -> str:
    return wording("guide")


def _tool(verbs: Tools, name: str) -> Tool:
    verb = getattr(verbs, name)
    tool = Tool.from_function(verb, annotations=TOOLS[name])
    tool.fn, tool.is_async = partial(verbs.run, verb), True
    tool.parameters = slim(tool.parameters) | {"additionalProperties": False}
    metadata = tool.fn_metadata
    metadata.output_schema = slim(metadata.output_schema or {})
    return tool


def _problem(name: str, error: ToolError) -> str:
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        return _misuse(name, cause)
    return str(error) if cause is None else _explained(name, cause)


def _explained(name: str, error: BaseException) -> str:
    """What a caller may know of an error, with its remedy; the log has the rest, under the number of the incident."""
    if isinstance(error, Refusal):
        return f"{error.detail}. {error.sort.remedy}"
    if isinstance(error, OutOfTime):
        return f"{name} took too long; what it has begun may still finish. Ask for less at once, or try again later."
    if isinstance(error, Error) and not is_private(error):
        return _sentences(*public_wording(error, as_tool))
    incident = uuid4().hex
    private = f": {error}" if isinstance(error, Error) else ""
    _log.error("%s failed (incident %s): %s%s", name, incident, json.dumps(error_trace(error)), private)
    if isinstance(error, Error):
        return f"{_sentences(*public_wording(error, as_tool))} The server's log calls this incident {incident}."
    return f"Internal error in Memorist. Find incident {incident} in the server's log, and report it."


def _sentences(problem: str, remedy: str) -> str:
    return f"{problem.rstrip('.')}. {remedy}"


def _misuse(name: str, error: ValidationError) -> str:
    """The invalid arguments, without their values."""
    wrong = [f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors(include_input=False)]
    return f"Wrong arguments for {name}: {'; '.join(wrong)}. Correct them and call it again."


def cost(server: MemoryServer) -> dict[str, Any]:
    """An estimate of the tokens of each tool as a model sees it (name, description, arguments) and of the instructions.

    `output` counts the schemas of the results, which most clients do not show to the model.
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

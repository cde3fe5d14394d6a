"""Claude's memory tool: the files under /memories are memories, one per file, with their versions in the history."""

from __future__ import annotations

from memorist.integrations import framework

with framework("anthropic-memory"):
    from memorist_agents.integrations.anthropic import MemoristAsyncMemoryTool, MemoristMemoryTool

__all__ = ["MemoristAsyncMemoryTool", "MemoristMemoryTool"]

"""A memory store for Strands agents: what the agent adds, and what was said, are memories of one scope."""

from __future__ import annotations

from memorist.integrations import framework

with framework("strands"):
    from memorist_agents.integrations.strands import MemoristMemoryStore

__all__ = ["MemoristMemoryStore"]

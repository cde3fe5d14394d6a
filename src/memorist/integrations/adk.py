"""The memory service of Google's Agent Development Kit: events of sessions are memories of their user."""

from __future__ import annotations

from memorist.integrations import framework

with framework("adk"):
    from memorist_agents.integrations.adk import MemoristMemoryService

__all__ = ["MemoristMemoryService"]

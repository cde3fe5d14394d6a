"""A context provider for Microsoft's Agent Framework: recalls before a run, remembers after it."""

from __future__ import annotations

from memorist.integrations import framework

with framework("agent-framework"):
    from memorist_agents.integrations.agent_framework import MemoristContextProvider

__all__ = ["MemoristContextProvider"]

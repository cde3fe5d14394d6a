"""LangGraph: `MemoristStore`, a complete `BaseStore` over a memory."""

from __future__ import annotations

from memorist.integrations import framework

with framework("langgraph"):
    from memorist_agents.integrations.langgraph import MemoristStore

__all__ = ["MemoristStore"]

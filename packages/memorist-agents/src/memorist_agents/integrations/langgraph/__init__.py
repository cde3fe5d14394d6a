"""LangGraph: `MemoristStore`, a complete `BaseStore` over a memory."""

from memorist.integrations import framework

with framework("langgraph"):
    from memorist_agents.integrations.langgraph.store import MemoristStore

__all__ = ["MemoristStore"]

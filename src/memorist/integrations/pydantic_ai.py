"""Pydantic AI: a store for the harness's `Memory` capability, and a toolset that remembers and recalls."""

from __future__ import annotations

from memorist.integrations import framework

with framework("pydantic-ai"):
    from memorist_agents.integrations.pydantic_ai import MemoristMemoryStore, MemoristToolset

__all__ = ["MemoristMemoryStore", "MemoristToolset"]

"""LlamaIndex: a block of long-term memory for `llama_index.core.memory.Memory`."""

from __future__ import annotations

from memorist.integrations import framework

with framework("llama-index"):
    from memorist_agents.integrations.llama_index import MemoristMemoryBlock

__all__ = ["MemoristMemoryBlock"]

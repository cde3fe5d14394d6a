"""Sessions of the OpenAI Agents SDK: every item of a conversation is a memory, kept exactly and found by recall."""

from __future__ import annotations

from memorist.integrations import framework

with framework("openai-agents"):
    from memorist_agents.integrations.openai_agents import MemoristSession

__all__ = ["MemoristSession"]

"""LlamaIndex: a block of long-term memory for `llama_index.core.memory.Memory`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

from memorist.integrations import Source, framework, opened
from memorist.model import AGENT_TRUST, RecallOptions
from memorist.verbs import Verbs

with framework("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, TextBlock
    from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock

__all__ = ["MemoristMemoryBlock"]

OWNER_TRUST = 3
LETTERS_PER_TOKEN = 4
"""A rough measure, for a context that LlamaIndex wants shorter."""


class MemoristMemoryBlock(BaseMemoryBlock[str]):
    """Keeps the messages that leave the chat window, verbatim, and gives the fenced context that the chat needs.

    `memory` is an open memory, a file, a database URL or the address of a server. Messages of tools and of the system
    are not kept, unless `roles` names them. `options` are keywords of `recall`, such as `where` or `recipe`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = Field(default="memories", description="The name of the block in the prompt.")
    priority: int = Field(default=1, description="0 is never shortened; LlamaIndex shortens lower numbers first.")
    memory: Any = Field(description="An open memory, or where one is.", exclude=True)
    max_tokens: int = Field(default=1000, ge=0, description="The longest context, in tokens.")
    scope: str = Field(default="global", description="Whom or what the memories concern, such as user:ann.")
    roles: tuple[str, ...] = Field(default=("user", "assistant"), description="Whose messages are kept.")
    options: dict[str, Any] = Field(default_factory=dict, description="More keywords of `recall`.")
    _owned: bool = PrivateAttr(default=False)

    def __init__(self, memory: Source, **fields: Any) -> None:
        given: dict[str, Any] = {"memory": opened(memory), **fields}
        super().__init__(**given)
        self._owned = isinstance(memory, str | Path)

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "MemoristMemoryBlock"

    def close(self) -> None:
        """Close the memory, if the block opened it."""
        if self._owned:
            self._verbs.close()

    @property
    def _verbs(self) -> Verbs:
        return cast("Verbs", self.memory)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """The context for the latest message of the user; empty if no memory answers it."""
        asked = [text for message in messages or () if message.role == "user" and (text := _text(message)).strip()]
        if not asked:
            return ""
        options: RecallOptions = {"max_tokens": self.max_tokens, "scope": self.scope, "speaker": "user"}
        chosen = cast("RecallOptions", {**options, **self.options})
        found = await asyncio.to_thread(self._verbs.recall, asked[-1], **chosen)
        return "" if found.abstained or not (found.items or found.standing) else found.context

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Keep messages that left the window, each with its speaker and session."""
        turns = [
            self._turn(message)
            for message in messages
            if str(message.role.value) in self.roles and _text(message).strip()
        ]
        if turns:
            await asyncio.to_thread(self._verbs.remember_many, turns)

    def _turn(self, message: ChatMessage) -> dict[str, Any]:
        role, more = str(message.role.value), message.additional_kwargs
        return {
            "text": _text(message),
            "speaker": more.get("name") or role,
            "session": more.get("session_id"),
            "scope": self.scope,
            "trust": OWNER_TRUST if role == "user" else AGENT_TRUST,
        }

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The context without its last lines; None if no memory would be left."""
        lines, spare = content.splitlines(), tokens_to_truncate * LETTERS_PER_TOKEN
        while len(lines) > 1 and spare > 0:
            spare -= len(lines.pop()) + 1
        return "\n".join(lines) if len(lines) > 1 else None


def _text(message: ChatMessage) -> str:
    return "\n\n".join(block.text for block in message.blocks if isinstance(block, TextBlock))

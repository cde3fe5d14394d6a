"""Sessions of the OpenAI Agents SDK: every item of a conversation is a memory, kept exactly and found by recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from memorist.integrations import Source, framework, opened
from memorist_agents.integrations.conversation import Conversation, ConversationItem
from memorist_agents.integrations.threads import OneAtATime

with framework("openai-agents"):
    from agents import SessionSettings, TResponseInputItem
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

__all__ = ["MemoristSession"]

SPEAKERS = {"function_call_output": "tool", "computer_call_output": "tool", "local_shell_call_output": "tool"}
TRUST = {"user": 3, "assistant": 2}
"""How far to believe a speaker; what a tool says is untrusted."""


class MemoristSession:
    """A session of the Agents SDK in a memory: `Runner.run(agent, "Hi", session=MemoristSession("ann", "agent.db"))`.

    Several processes may use the same session. Pass `with_recall` as the `session_input_callback` of a `RunConfig` to
    let the agent see up to `recall` older items that bear on the question, besides the last ones.
    """

    def __init__(
        self,
        session_id: str,
        memory: Source,
        *,
        space: str | None = None,
        scope: str = "global",
        session_settings: SessionSettings | dict[str, Any] | None = None,
        recall: int = 5,
    ) -> None:
        self.session_id = session_id
        given = coerce_session_settings(session_settings) if session_settings else SessionSettings()
        self.session_settings: SessionSettings | None = given  # as the protocol `Session` declares it
        self.memory = opened(memory, space=space)
        self._scope, self._recall = scope, recall
        self._turns = Conversation(self.memory, session_id, scope=scope)
        self._run = OneAtATime().run

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items in the order they were added; with a limit, also that of the settings, the last ones."""
        most = resolve_session_limit(limit, self.session_settings)
        return [turn.item for turn in await self._run(self._turns.last, most)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items; all of them or none."""
        made = [_turn(cast("Mapping[str, Any]", item)) for item in items]
        if made:
            await self._run(self._turns.add, made)

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the last item and return it; None if there is none."""
        return await self._run(self._turns.pop)

    async def clear_session(self) -> None:
        """Erase all items of the session."""
        await self._run(self._turns.clear)

    async def with_recall(
        self, history: list[TResponseInputItem], new_items: list[TResponseInputItem]
    ) -> list[TResponseInputItem]:
        """The history and the new items, after older items that bear on these; for `session_input_callback`."""
        question = "\n".join(turn.text for turn in map(_turn, cast("Any", new_items)) if turn.text)
        found = await self._run(self._turns.recalled, question, len(history), self._recall) if question else None
        if found is not None:
            # The runner saves every item that is in neither list; what is recalled must not be said again.
            history.insert(0, {"role": "user", "content": found})
        return [*history, *new_items]

    def close(self) -> None:
        """Close the memory; for a session that opened it."""
        self.memory.close()


def _turn(item: Mapping[str, Any]) -> ConversationItem:
    """An item with its words and speaker; calls of tools and reasoning have no words worth finding."""
    kind = item.get("type") or "message"
    speaker = item.get("role") or SPEAKERS.get(kind, "assistant")
    words = _words(item.get("output")) if kind in SPEAKERS else _words(item.get("content"))
    if kind not in ("message", *SPEAKERS) or speaker in ("system", "developer"):
        words = ""
    return ConversationItem(item, words, speaker=speaker, label=str(kind), trust=TRUST.get(speaker, 0))


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    blocks = [cast("Mapping[str, Any]", part) for part in parts if isinstance(part, Mapping)]
    found = (block.get("text") or block.get("refusal") for block in blocks)
    return "\n\n".join(text for text in found if isinstance(text, str))

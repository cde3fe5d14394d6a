"""A context provider for Microsoft's Agent Framework: recalls before a run, remembers after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from memorist.integrations import Source, framework, opened
from memorist.model import Recall
from memorist.verbs import Verbs
from memorist_agents.integrations.verbatim import is_text, keep

with framework("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun
    from typing_extensions import override

__all__ = ["MemoristContextProvider"]

TRUST = {"user": 3, "assistant": 2}
"""How far to believe a speaker; messages of other roles, such as those of tools, are not kept."""


class MemoristContextProvider(ContextProvider):
    """Gives an agent a memory: `Agent(client=client, context_providers=[MemoristContextProvider("agent.db")])`.

    Before a run, it adds what bears on the question, as data and cited; after it, it keeps what was said. Recalls see
    the memories of one scope, without the turns of the running session, unless `own_session` is set: these are in the
    session's history already.
    """

    def __init__(
        self,
        memory: Source,
        *,
        source_id: str = "memorist",
        space: str | None = None,
        scope: str = "global",
        limit: int = 5,
        max_tokens: int | None = None,
        own_session: bool = False,
        remember: bool = True,
    ) -> None:
        super().__init__(source_id)
        self.memory: Verbs = opened(memory, space=space)
        self.scope = scope
        self._limit = limit
        self._max_tokens = max_tokens
        self._own_session = own_session
        self._remember = remember

    @override
    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add what the memory says about the question, if it says anything."""
        question = "\n".join(message.text for message in context.input_messages if message.role == "user")
        if not is_text(question):
            return
        found = await asyncio.to_thread(self._recalled, question, session.session_id)
        if found.abstained or not found.items:
            return
        sessions = {item.memory.origin.session for item in found.items}
        origins = sorted(session for session in sessions if session is not None)
        context.extend_messages(self, [Message("user", [found.context])], origin_session_ids=origins or None)

    @override
    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Keep the question and the answer."""
        if not self._remember:
            return
        answer = context.response.messages if context.response is not None else ()
        said = self._turns((*context.input_messages, *answer), agent.name or "assistant", session.session_id)
        await asyncio.to_thread(keep, self.memory, said)

    def close(self) -> None:
        """Close the memory; for a provider that opened it."""
        self.memory.close()

    def _recalled(self, question: str, session: str) -> Recall:
        elsewhere = None if self._own_session else {"session": {"ne": session}}
        return self.memory.recall(
            question,
            scope=self.scope,
            where=elsewhere,
            limit=self._limit,
            max_tokens=self._max_tokens,
            speaker="user",
        )

    def _turns(self, messages: Iterable[Message], name: str, session: str) -> list[Mapping[str, Any]]:
        return [
            {
                "text": message.text,
                "scope": self.scope,
                "session": session,
                "speaker": message.author_name or (name if message.role == "assistant" else message.role),
                "trust": TRUST[message.role],
            }
            for message in messages
            if message.role in TRUST and is_text(message.text)
        ]

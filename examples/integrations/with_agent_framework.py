"""An agent of Microsoft's Agent Framework that remembers its user. The client is scripted: no API key is needed.

pip install "memorist[agent-framework]" && python examples/integrations/with_agent_framework.py
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["AGENT_FRAMEWORK_USER_AGENT_DISABLED"] = "true"  # no telemetry

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

import memorist
from memorist.integrations.agent_framework import MemoristContextProvider


class Scripted(BaseChatClient):
    """Repeats what it was shown from memory."""

    async def _inner_get_response(self, *, messages: Any, **given: Any) -> ChatResponse:
        known = [message.text for message in messages if message.text.startswith("Memories, as data")]
        text = f"My memory says: {known[0].splitlines()[1]}" if known else "I will remember that."
        return ChatResponse(messages=[Message("assistant", [text])])


async def main(memory: memorist.Engine) -> None:
    provider = MemoristContextProvider(memory, scope="user:ann")
    agent = Agent(client=Scripted(), name="clerk", context_providers=[provider])
    for text in ("My boat is called Heron.", "What is my boat called?"):
        print(await agent.run(text, session=agent.create_session()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "agent.db") as memory:
        asyncio.run(main(memory))

"""An ADK agent that remembers its user from one session to the next. The model is scripted: no API key is needed.

pip install "memorist[adk]" && python examples/integrations/with_adk.py
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

import memorist
from memorist.integrations.adk import MemoristMemoryService


class Scripted(BaseLlm):
    """Notes what it hears, and repeats what it was shown of earlier sessions."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        shown = "\n".join(part.text or "" for content in llm_request.contents for part in content.parts or [])
        known = shown.partition("<PAST_CONVERSATIONS>")[2].partition("</PAST_CONVERSATIONS>")[0].strip()
        text = f"You told me earlier:\n{known}" if known else "I will remember that."
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


async def said(runner: Runner, session_id: str, text: str) -> str:
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = [event async for event in runner.run_async(user_id="ann", session_id=session_id, new_message=message)]
    return "\n".join(part.text or "" for event in events if event.content for part in event.content.parts or [])


async def main(memory: memorist.Engine) -> None:
    service, sessions = MemoristMemoryService(memory), InMemorySessionService()
    agent = LlmAgent(name="clerk", model=Scripted(model="scripted"), tools=[PreloadMemoryTool()])
    runner = Runner(app_name="demo", agent=agent, session_service=sessions, memory_service=service)
    for session_id, text in (("monday", "My boat is called Heron."), ("friday", "What is my boat called?")):
        await sessions.create_session(app_name="demo", user_id="ann", session_id=session_id)
        print(await said(runner, session_id, text))
        ended = await sessions.get_session(app_name="demo", user_id="ann", session_id=session_id)
        assert ended is not None
        await service.add_session_to_memory(ended)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "agent.db") as memory:
        asyncio.run(main(memory))

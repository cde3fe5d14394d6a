"""A session that outlives its window: old items that bear on the question come back as data.

    pip install "memorist[openai-agents]" && python examples/integrations/with_openai_agents.py

The model is scripted, so this runs without an API key.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner, SessionSettings, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message

import memorist
from memorist.integrations.openai_agents import MemoristSession

SAID = ["My boat is called Heron.", "What rhymes with rain?", "And with sea?", "What is my boat called?"]


async def main(memory: memorist.Engine) -> None:
    model = ScriptedModel([[assistant_message(text)] for text in ("A fine name.", "Train.", "Free.", "Heron.")])
    session = MemoristSession("ann", memory, scope="user:ann")
    config = RunConfig(session_settings=SessionSettings(limit=2), session_input_callback=session.with_recall)
    for text in SAID:
        answer = await Runner.run(Agent(name="Clerk", model=model), text, session=session, run_config=config)
        print(text, "→", answer.final_output)
    print("The model was shown:")
    for item in model.last_call.input:
        print("-", item["content"])


if __name__ == "__main__":
    set_tracing_disabled(True)
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "agent.db") as memory:
        asyncio.run(main(memory))

"""A Strands agent that remembers its user. The model is scripted: no API key is needed.

pip install "memorist[strands]" && python examples/integrations/with_strands.py
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from strands import Agent
from strands.memory.extraction.triggers import InvocationTrigger
from strands.memory.extraction.types import ExtractionConfig
from strands.models import Model

import memorist
from memorist.integrations.strands import MemoristMemoryStore


class Scripted(Model):
    """Repeats what it was shown from memory."""

    def update_config(self, **model_config: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    def structured_output(self, output_model: Any, prompt: Any, system_prompt: Any = None, **given: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **given: Any) -> AsyncIterator[Any]:
        shown = "\n".join(block.get("text", "") for message in messages for block in message["content"])
        known = shown.partition("<memory>")[2].partition("</memory>")[0].strip()
        text = f"My memory says: {known}" if known else "I will remember that."
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


async def main(memory: memorist.Engine) -> None:
    for text in ("My boat is called Heron.", "What is my boat called?"):
        keep = ExtractionConfig(trigger=InvocationTrigger())  # hand over what was said after each answer
        store = MemoristMemoryStore(memory, scope="user:ann", extraction=keep)
        agent = Agent(model=Scripted(), memory_manager={"stores": [store]}, callback_handler=None)
        print(await agent.invoke_async(text))
        await agent.memory_manager.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "agent.db") as memory:
        asyncio.run(main(memory))

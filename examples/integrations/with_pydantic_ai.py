"""A Pydantic AI agent with the tools `remember` and `recall`. The model is scripted: no API key is needed.

pip install "memorist[pydantic-ai]" && python examples/integrations/with_pydantic_ai.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memorist
from memorist.integrations.pydantic_ai import MemoristToolset

CALLS = [
    ToolCallPart("remember", {"text": "Ann's boat is called Heron."}),
    ToolCallPart("recall", {"question": "What is Ann's boat called?"}),
]


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Call one tool after the other, then say what the last one returned."""
    returns = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if len(returns) < len(CALLS):
        return ModelResponse(parts=[CALLS[len(returns)]])
    return ModelResponse(parts=[TextPart(str(returns[-1].content))])


def main(memory: memorist.Engine) -> None:
    agent = Agent(FunctionModel(scripted), toolsets=[MemoristToolset(memory, scope="user:ann")])
    print(agent.run_sync("My boat is called Heron. What is it called?").output)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "agent.db") as memory:
        main(memory)

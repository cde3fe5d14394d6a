"""Claude keeps its notes in a memory. The model is scripted, so this runs without an API key.

pip install "memorist[anthropic-memory]" && python examples/integrations/with_anthropic.py
"""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
from anthropic import Anthropic

import memorist
from memorist.integrations.anthropic import MemoristMemoryTool

NOTES = "/memories/customers/ann.md"
SCRIPT: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": NOTES, "file_text": "Ann sails on Sundays.\nHer boat is called Heron.\n"},
    {"command": "str_replace", "path": NOTES, "old_str": "Sundays", "new_str": "Saturdays"},
]
TURNS = count()


def scripted(request: httpx2.Request) -> httpx2.Response:
    """Answer as Claude would: one command of the memory tool after the other, then a closing line."""
    turn = next(TURNS)
    content: list[dict[str, Any]] = [{"type": "text", "text": "I have noted it."}]
    if turn < len(SCRIPT):
        content = [{"type": "tool_use", "id": f"call_{turn}", "name": "memory", "input": SCRIPT[turn]}]
    reason = "tool_use" if turn < len(SCRIPT) else "end_turn"
    message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "scripted", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return httpx2.Response(200, json={**message, "stop_reason": reason, "usage": usage})


def main() -> None:
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(scripted)))
    with tempfile.TemporaryDirectory() as folder, memorist.open(Path(folder) / "notes.db") as memory:
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=1024,
            messages=[{"role": "user", "content": "Ann has moved her sailing to Saturdays."}],
            tools=[MemoristMemoryTool(memory)],
        )
        print(runner.until_done().content[0].text)
        print(memory.recall("When does Ann sail?").context)
        (note,) = memory.list(scope="memories").items
        print([version.text.splitlines()[0] for version in memory.history(note.id)])


if __name__ == "__main__":
    main()

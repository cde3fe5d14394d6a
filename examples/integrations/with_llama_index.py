"""A chat whose window holds a few turns, and which still knows the first one: `python with_llama_index.py`.

It needs "memorist[llama-index]" and no key. Words count as tokens here; LlamaIndex would download its tokenizer.
"""

import asyncio

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from memorist.integrations.llama_index import MemoristMemoryBlock


async def main() -> None:
    window = create_async_engine("sqlite+aiosqlite:///window.db")
    block = MemoristMemoryBlock("agent.db", scope="user:ann", max_tokens=300)
    chat = Memory.from_defaults(
        session_id="monday",
        memory_blocks=[block],
        token_limit=150,
        chat_history_token_ratio=0.3,
        token_flush_size=10,
        tokenizer_fn=str.split,
        async_engine=window,
    )
    await chat.aput(ChatMessage(role="user", content="My daughter Mia is allergic to peanuts."))
    for n in range(6):
        await chat.aput(
            ChatMessage(role="user", content=f"Now about errand {n} of the long list that we have for today")
        )
    for message in await chat.aget("What must Mia not eat?"):
        print(message)
    block.close()
    await window.dispose()


asyncio.run(main())

"""A memory store for Strands agents: what the agent adds, and what was said, are memories of one scope."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast
from uuid import uuid4

from memorist.errors import InvalidInput
from memorist.integrations import Source, framework, opened
from memorist.model import Item, Remembered, fingerprint, isoformat
from memorist.verbs import Verbs
from memorist_agents.integrations.verbatim import as_data, is_text, keep

with framework("strands"):
    from strands.memory.extraction.types import ExtractionConfig
    from strands.memory.types import AddMessagesContext, MemoryEntry, MemoryStore, Metadata, SearchOptions
    from strands.types.content import Message
    from typing_extensions import override

__all__ = ["MemoristMemoryStore"]

CUSTOM = "custom"
"""The entry of a memory's metadata with that of an entry."""
RELEVANCE = "_relevanceScore"
"""The key that the stores of Strands use for the score of a result."""
MOST_RESULTS = 10
TRUST = {"user": 3, "assistant": 2}


class MemoristMemoryStore(MemoryStore):
    """A store for the memory manager of Strands: `Agent(memory_manager={"stores": [MemoristMemoryStore("agent.db")]})`.

    `add` keeps single facts. With `extraction=True` the manager also hands over what was said, which is kept verbatim;
    Memorist reads the facts in it, so no model is called. Searches see the memories of one scope.
    """

    def __init__(
        self,
        memory: Source,
        *,
        name: str = "memorist",
        description: str | None = None,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        space: str | None = None,
        scope: str = "global",
        session: str | None = None,
    ) -> None:
        if not name.strip():
            raise InvalidInput("name must not be empty", remedy="Give the store a name, which tools show the model.")
        self.name = name
        self.description = description
        self.max_search_results = _checked(max_search_results)
        self.writable = writable
        self.extraction = extraction
        self.scope = scope
        self.session = session or uuid4().hex
        self.memory: Verbs = opened(memory, space=space)
        self._run = uuid4().hex

    @override
    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """What answers a query, best first; nothing if nothing does."""
        given = _checked((options or {}).get("max_search_results"))
        if not any(map(str.isalnum, query)) or not is_text(query):
            return []
        limit = given or self.max_search_results or MOST_RESULTS
        found = await asyncio.to_thread(self.memory.recall, query, scope=self.scope, limit=limit, speaker="user")
        return [] if found.abstained else [_entry(item) for item in found.items]

    @override
    async def add(self, content: str, metadata: Metadata | None = None) -> Remembered:
        """Keep a fact; one that is known already adds nothing, and a gate may hold a text back (see `outcome`)."""
        self._refuse_if_read_only()
        if not content.strip():
            raise InvalidInput("content must not be empty", remedy="Give it at least one visible character.")
        custom = {CUSTOM: metadata} if metadata else None
        return await asyncio.to_thread(self.memory.remember, content, scope=self.scope, trust=2, metadata=custom)

    @override
    async def add_messages(
        self, messages: list[Message], context: AddMessagesContext | None = None
    ) -> list[Remembered]:
        """Keep what was said, turn by turn; messages that are handed over again add nothing."""
        self._refuse_if_read_only()
        numbers = context.sequence_numbers if context is not None else None
        turns: list[Mapping[str, Any]] = []
        for place, message in enumerate(messages):
            text = _words(message)
            if is_text(text):
                turns.append(self._turn(text, message["role"], None if numbers is None else numbers[place]))
        return await asyncio.to_thread(keep, self.memory, turns)

    def close(self) -> None:
        """Close the memory; for a store that opened it."""
        self.memory.close()

    def _turn(self, text: str, role: str, number: int | None) -> Mapping[str, Any]:
        # Numbers begin again with each agent, so the text tells the turns of two agents apart.
        key = None if number is None else f"strands:{self._run}:{number}:{fingerprint(role, text)}"
        fields = {"text": text, "scope": self.scope, "session": self.session, "speaker": role, "key": key}
        return {**fields, "trust": TRUST.get(role, 0)}

    def _refuse_if_read_only(self) -> None:
        if not self.writable:
            raise InvalidInput("The store is not writable", remedy="Open it with writable=True.")


def _checked(most: int | None) -> int | None:
    if most is not None and most < 1:
        raise InvalidInput("max_search_results must be at least 1", remedy="Leave it out for the default.")
    return most


def _words(message: Message) -> str:
    """The text of a message, without calls of tools, their results, and reasoning."""
    blocks = cast("list[Mapping[str, Any]]", message["content"])
    return "\n\n".join(str(block["text"]) for block in blocks if block.get("text"))


def _entry(item: Item) -> MemoryEntry:
    memory = item.memory
    custom: Mapping[str, Any] = memory.metadata.get(CUSTOM) or {}
    score = item.score if item.probability is None else item.probability
    origin = {"id": memory.id, "at": isoformat(memory.times.valid_from), "speaker": memory.origin.speaker}
    known = {name: value for name, value in origin.items() if value is not None}
    return MemoryEntry(as_data(memory), metadata={**known, **custom, RELEVANCE: round(score, 4)})

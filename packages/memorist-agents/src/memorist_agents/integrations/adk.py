"""The memory service of Google's Agent Development Kit: events of sessions are memories of their user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from memorist.errors import NotFound
from memorist.integrations import Source, framework, opened
from memorist.model import Fields, Memory, isoformat, memory_id
from memorist.verbs import Verbs
from memorist_agents.integrations.verbatim import as_data, is_text, keep

with framework("adk"):
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types
    from typing_extensions import override

__all__ = ["MemoristMemoryService", "of_main_agent"]

EVENT, DELETED = "adk:event:", "adk:deleted:"
"""The beginnings of the keys of events, and of the marks that keep deleted ones from coming back."""
CUSTOM, ROLE = "custom", "role"
Chosen = Callable[[Event], bool]


def of_main_agent(event: Event) -> bool:
    """Whether an event belongs to the talk with the user, not to a subagent with a branch or a task of its own."""
    return event.branch is None and event.isolation_scope is None


class MemoristMemoryService(BaseMemoryService):
    """A memory service over a memory: `Runner(..., memory_service=MemoristMemoryService("agent.db"))`.

    Each user of each app is a scope of its own, which no other search sees. `keep` chooses the events that are kept;
    without it, the chatter of subagents is left out.
    """

    def __init__(
        self, memory: Source, *, space: str | None = None, limit: int = 10, keep: Chosen = of_main_agent
    ) -> None:
        self.memory: Verbs = opened(memory, space=space)
        self._limit = limit
        self._keep = keep

    @override
    async def add_session_to_memory(self, session: Session) -> None:
        """Keep the events of a session; those that are known already add nothing."""
        scope = scope_of(session.app_name, session.user_id)
        await asyncio.to_thread(self._add, scope, session.id, session.events, {})

    @override
    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep some events of a session."""
        scope = scope_of(app_name, user_id)
        await asyncio.to_thread(self._add, scope, session_id, events, custom_metadata or {})

    @override
    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep entries as they are; another text under the same id becomes its new version."""
        scope = scope_of(app_name, user_id)
        shared = custom_metadata or {}
        entries = [_entry_fields(entry, scope, shared) for entry in memories if is_text(_words(entry.content))]
        await asyncio.to_thread(keep, self.memory, entries)

    @override
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories of a user that answer a query, best first; none if nothing does."""
        if not is_text(query):
            return SearchMemoryResponse()
        scope = scope_of(app_name, user_id)
        found = await asyncio.to_thread(self.memory.recall, query, scope=scope, limit=self._limit, speaker="user")
        items = () if found.abstained else found.items
        return SearchMemoryResponse(memories=[_entry(item.memory) for item in items])

    @override
    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase a memory of a user for good; adding its session again does not bring it back."""
        if memory_id:
            await asyncio.to_thread(self._delete, scope_of(app_name, user_id), memory_id)

    def close(self) -> None:
        """Close the memory; for a service that opened it."""
        self.memory.close()

    def _add(self, scope: str, session: str | None, events: Iterable[Event], custom: Mapping[str, object]) -> None:
        kept = [event for event in events if not event.partial and self._keep(event) and is_text(_words(event.content))]
        marks = self.memory.get([memory_id("", scope=scope, key=f"{DELETED}{event.id}") for event in kept])
        new = [event for event, mark in zip(kept, marks, strict=True) if mark is None]
        keep(self.memory, [_event_fields(event, scope, session, custom) for event in new])

    def _delete(self, scope: str, id: str) -> None:
        found = self.memory.get(id)
        if found is None or found.scope != scope:
            return
        event = (found.origin.key or "").removeprefix(EVENT)
        if event != found.origin.key and event:
            self.memory.remember("(deleted)", key=f"{DELETED}{event}", scope=scope, kind="source")
        try:
            self.memory.forget(id)
        except NotFound:  # another process was faster
            return


def scope_of(app_name: str, user_id: str) -> str:
    """The scope of a user of an app."""
    return f"adk:{quote(app_name, safe='')}/{quote(user_id, safe='@')}"


def _event_fields(event: Event, scope: str, session: str | None, custom: Mapping[str, object]) -> Mapping[str, Any]:
    fields: Fields = {
        "scope": scope,
        "key": f"{EVENT}{event.id}" if event.id else None,
        "session": f"{scope}/{session}" if session else None,
        "speaker": event.author or None,
        "trust": 3 if event.author == "user" else 2,
        "at": datetime.fromtimestamp(event.timestamp, UTC),
        "metadata": _metadata(event.content, custom),
    }
    return {"text": _words(event.content), **fields}


def _entry_fields(entry: MemoryEntry, scope: str, shared: Mapping[str, object]) -> Mapping[str, Any]:
    fields: Fields = {
        "scope": scope,
        "key": f"adk:entry:{entry.id}" if entry.id else None,
        "speaker": entry.author or None,
        "trust": 2,
        "at": entry.timestamp,
        "metadata": _metadata(entry.content, {**shared, **entry.custom_metadata}),
    }
    return {"text": _words(entry.content), **fields}


def _metadata(content: types.Content | None, custom: Mapping[str, object]) -> dict[str, Any]:
    role = content.role if content is not None else None
    return {**({CUSTOM: dict(custom)} if custom else {}), **({ROLE: role} if role else {})}


def _words(content: types.Content | None) -> str:
    """The text of a content, without the model's thoughts."""
    parts = (content.parts if content is not None else None) or []
    return "\n\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(memory: Memory) -> MemoryEntry:
    return MemoryEntry(
        id=memory.id,
        content=types.Content(role=memory.metadata.get(ROLE), parts=[types.Part(text=as_data(memory))]),
        author=memory.origin.speaker,
        timestamp=isoformat(memory.times.valid_from),
        custom_metadata=dict(memory.metadata.get(CUSTOM) or {}),
    )

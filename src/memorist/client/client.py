"""`connect`: the verbs of an engine for a memory on a server."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Self, Unpack, cast, overload
from urllib.parse import quote

from memorist.aio import AsyncEngine
from memorist.client.transport import Transport, items_of, objects, read, read_items
from memorist.client.upkeep import RemoteUpkeep
from memorist.errors import InvalidInput, NotFound
from memorist.model import (
    Changes,
    FactFields,
    Fields,
    Filters,
    GateDecision,
    Hidden,
    Ids,
    Memory,
    Progress,
    Recall,
    RecallOptions,
    Remembered,
    WakeUp,
    check_space_length,
)
from memorist.model.arguments import checks_arguments, checks_call
from memorist.model.request import forget_filters, recall_request
from memorist.results.finding import Absence, EntitySummary, Explanation, Neighbourhood
from memorist.results.records import Job, Page, Receipt, StoreStats
from memorist.results.writing import Commit


@dataclass(frozen=True, slots=True)
class RemoteRecall(Recall):
    """A recall that a server made. Its trace has times and counts; the explanations came with it, by id."""

    explanations: Annotated[Mapping[str, Explanation], Hidden(dict)] = field(default_factory=dict[str, Explanation])


@dataclass(frozen=True, slots=True)
class _Opened:
    """A session as the server opened it."""

    id: str
    goal: str | None
    gates: tuple[GateDecision, ...] = ()


@checks_arguments
class RemoteSession:
    """A run of an agent: keeps its steps, and learns from them on commit. Thread-safe."""

    def __init__(self, transport: Transport, opened: _Opened) -> None:
        self._transport = transport
        self._path = f"/sessions/{quote(opened.id, safe='')}"
        self.id = opened.id
        self.goal = opened.goal
        self.gates = opened.gates

    def step(
        self,
        observation: str,
        action: str | None = None,
        reward: float | None = None,
        *,
        number: int | None = None,
    ) -> Remembered:
        """Keep an observation and the action that followed, verbatim; it can be found as soon as this returns."""
        body = {"observation": observation, "action": action, "reward": reward, "number": number}
        return read(Remembered, self._transport.post(f"{self._path}/steps", body))

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again."""
        return read(Commit, self._transport.post(f"{self._path}/commit"))

    def discard(self) -> Receipt:
        """Erase, as `forget` does, the steps that were not committed, and close the session.

        Nothing is learnt from them. What was committed before stays, and so does the goal. Another step opens the
        session again.
        """
        return read(Receipt, self._transport.post(f"{self._path}/discard"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Commit, also after a failure: an agent learns from failures too."""
        self.commit()


KEY = "MEMORIST_KEY"
BATCH = 256
"""Memories per request of `remember_many`."""


@checks_call
def connect(
    url: str, *, key: str | None = None, space: str = "default", timeout: float = 60.0, retries: int = 3
) -> Client:
    """A space on a server, with the verbs of `open`; the key may also come from MEMORIST_KEY.

    A request without an answer is sent again up to `retries` times; the server performs it once.
    """
    check_space_length(space)
    chosen = os.environ.get(KEY) if key is None else key
    return Client(Transport(url, space, chosen, timeout=timeout, retries=retries), space)


def connect_async(url: str, **options: Any) -> AsyncEngine:
    """`connect`, for asyncio; takes the same keywords."""
    return AsyncEngine(connect(url, **options))


@checks_arguments
class Client(RemoteUpkeep):
    """A memory on a server. Thread-safe."""

    def __init__(self, transport: Transport, space: str) -> None:
        self._transport = transport
        self._space = space

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the connections. Safe to call twice."""
        self._transport.close()

    @property
    def space(self) -> str:
        return self._space

    # Writing

    def remember(self, text: str, **fields: Unpack[Fields]) -> Remembered:
        return read(Remembered, self._transport.post("/memories", {"text": text, **fields}))

    def remember_many(
        self, memories: Iterable[str | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[Remembered]:
        kept: builtins.list[Remembered] = []
        batch: builtins.list[Mapping[str, Any]] = []
        for memory in memories:
            batch.append({"text": memory} if isinstance(memory, str) else memory)
            if len(batch) == BATCH:
                kept += self._keep(batch, progress)
                batch = []
        return kept + self._keep(batch, progress)

    def _keep(self, batch: builtins.list[Mapping[str, Any]], progress: Progress | None) -> builtins.list[Remembered]:
        if not batch:
            return []
        kept = read_items(Remembered, self._transport.post("/memories/batch", {"memories": batch}))
        if progress is not None:
            progress(len(batch))
        return kept

    def relate(
        self, subject: str, relation: str, object: str, text: str | None = None, **times: Unpack[FactFields]
    ) -> Remembered:
        told = {"subject": subject, "relation": relation, "object": object, "text": text}
        return read(Remembered, self._transport.post("/facts", {**told, **times}))

    def update(self, id: str, text: str | None = None, **changes: Unpack[Changes]) -> Remembered:
        """Change a memory's text or other fields, as a new version with the same id; the old one becomes history."""
        body = {**({} if text is None else {"text": text}), **changes}
        return read(Remembered, self._transport.patch(f"/memories/{quote(id, safe='')}", body))

    def forget(self, id: str | Ids | None = None, *, soft: bool = False, **filters: Unpack[Filters]) -> Receipt:
        """Erase one memory, several, or all that the filters choose, for good, with facts that rest on nothing else.

        With `soft`, they end now and stay in their history instead, and `undo` takes the receipt's `run` back.
        """
        chosen = forget_filters(id, filters)
        if isinstance(id, str) and not soft:
            return read(Receipt, self._transport.delete(f"/memories/{quote(id, safe='')}"))
        ids = [id] if isinstance(id, str) else id
        body = _listed(chosen) if ids is None else {"ids": [*ids]}
        return read(Receipt, self._transport.post("/forget", {**body, "soft": True} if soft else body))

    # Sessions

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> RemoteSession:
        opened = read(_Opened, self._transport.post("/sessions", {"goal": goal, "id": id, "scope": scope}))
        return RemoteSession(self._transport, opened)

    def recall_in_context(self, session: str, query: str, /, **options: Unpack[RecallOptions]) -> Recall:
        return self._recall(f"/sessions/{quote(session, safe='')}/recall", query, options)

    def work(self) -> int:
        """Nothing to do here, so 0: a server runs its own jobs."""
        return 0

    def jobs(self) -> builtins.list[Job]:
        return read_items(Job, self._transport.get("/jobs"))

    # Finding

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        return self._recall("/recall", query, options)

    def _recall(self, path: str, query: str, options: RecallOptions) -> Recall:
        request = recall_request(query, options, datetime.now(UTC))
        body = {"query": query, "details": True, **_listed(options)}
        data = self._transport.post(path, body)
        reasons = {str(item.get("id")): read(Explanation, item.get("explanation")) for item in items_of(data)}
        return read(RemoteRecall, data, request=request, explanations=reasons)

    def explain(self, recall: Recall, id: str) -> Explanation:
        if not isinstance(recall, RemoteRecall):
            raise InvalidInput("This recall is not from a server", remedy="Ask the memory that answered it.")
        try:
            return recall.explanations[id]
        except KeyError:
            raise NotFound(
                f"Memory {id!r} is not in this recall", remedy="Ask why_not(query, id) why it was left out."
            ) from None

    def why_not(self, query: str, id: str, **options: Unpack[RecallOptions]) -> Absence:
        return read(Absence, self._transport.post("/why-not", {"query": query, "id": id, **_listed(options)}))

    # Looking

    @overload
    def get(self, id: str) -> Memory | None: ...

    @overload
    def get(self, id: Ids) -> builtins.list[Memory | None]: ...

    def get(self, id: str | Ids) -> Memory | builtins.list[Memory | None] | None:
        if not isinstance(id, str):
            found = {
                memory.id: memory
                for memory in read_items(Memory, self._transport.post("/memories/get", {"ids": [*id]}))
            }
            return [found.get(memory_id) for memory_id in id]
        try:
            return read(Memory, self._transport.get(f"/memories/{quote(id, safe='')}"))
        except NotFound:
            return None

    def list(self, limit: int = 100, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        return read(Page, self._transport.get("/memories", {"limit": limit, "cursor": cursor, **_listed(filters)}))

    def pinned(self, limit: int = 100, **filters: Unpack[Filters]) -> builtins.list[Memory]:
        return read_items(Memory, self._transport.get("/pinned", {"limit": limit, **_listed(filters)}))

    def wake_up(self, max_tokens: int = 800, *, speaker: str | None = None, **filters: Unpack[Filters]) -> WakeUp:
        asked = {"max_tokens": max_tokens, "speaker": speaker, **_listed(filters)}
        return read(WakeUp, self._transport.post("/wake-up", asked))

    def history(self, name: str) -> builtins.list[Memory]:
        return read_items(Memory, self._transport.get(f"/entities/{quote(name, safe='')}/history"))

    def entities(
        self, prefix: str | None = None, limit: int = 100, kind: str | None = None, **filters: Unpack[Filters]
    ) -> builtins.list[EntitySummary]:
        asked = {"prefix": prefix, "limit": limit, "kind": kind, **_listed(filters)}
        return read_items(EntitySummary, self._transport.get("/entities", asked))

    def neighbours(self, entity: str, hops: int = 1, limit: int = 50, **filters: Unpack[Filters]) -> Neighbourhood:
        asked = {"hops": hops, "limit": limit, **_listed(filters)}
        return read(Neighbourhood, self._transport.get(f"/entities/{quote(entity, safe='')}/neighbours", asked))

    def stats(self) -> StoreStats:
        return read(StoreStats, self._transport.get("/stats"))

    def recipes(self) -> builtins.list[dict[str, Any]]:
        """The recipes of the server, as their stages and parameters."""
        return objects(self._transport.get("/recipes"))


def _listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Filters as the server expects them: one scope or kind is a list of one."""
    several = {name: [options[name]] for name in ("scope", "kinds") if isinstance(options.get(name), str)}
    return {**cast("dict[str, Any]", options), **several}

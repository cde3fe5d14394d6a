"""`connect`: the verbs of an engine, for a memory that a server keeps."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, cast
from urllib.parse import quote

from memorist.client import reading
from memorist.client.transport import Transport
from memorist.client.upkeep import RemoteUpkeep
from memorist.errors import InvalidInput, NotFound
from memorist.model import Memory, Recall
from memorist.ports import Job, Page, Progress, Receipt, StoreStats
from memorist.recall.explain import Absence, Explanation, explain
from memorist.recall.request import Filters, RecallOptions, recall_request
from memorist.serialize import memory_from_data

if TYPE_CHECKING:
    from memorist.engine.aio import AsyncEngine
    from memorist.engine.engine import Engine
    from memorist.remember.fact_rows import FactFields
    from memorist.remember.record import Fields
    from memorist.remember.sessions import Commit


class RemoteSession:
    """A run of an agent: keeps its steps, and learns from them when it is committed. Thread-safe."""

    def __init__(self, transport: Transport, id: str, goal: str | None) -> None:
        self._transport = transport
        self._path = f"/sessions/{quote(id, safe='')}"
        self.id = id
        self.goal = goal

    def step(self, observation: str, action: str | None = None, reward: float | None = None) -> Memory:
        """Keep what was observed and what was then done, verbatim; it can be found as soon as this returns."""
        body = {"observation": observation, "action": action, "reward": reward}
        return memory_from_data(self._transport.post(f"{self._path}/steps", body))

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again."""
        return reading.commit(self._transport.post(f"{self._path}/commit"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, also after a failure: an agent learns from those too."""
        self.commit()


KEY = "MEMORIST_KEY"
BATCH = 256
"""Memories per request of `remember_many`."""


def connect(
    url: str, *, key: str | None = None, space: str = "default", timeout: float = 60.0, retries: int = 3
) -> Client:
    """A space that a server keeps, with the verbs of `open`; the key may also come from MEMORIST_KEY.

    A request that gets no answer is sent again `retries` times; the server does it once.
    """
    chosen = os.environ.get(KEY) if key is None else key
    return Client(Transport(url, space, chosen, timeout=timeout, retries=retries), space)


def connect_async(url: str, **options: Any) -> AsyncEngine:
    """`connect`, for asyncio; takes the same keywords."""
    from memorist.engine.aio import AsyncEngine

    return AsyncEngine(cast("Engine", connect(url, **options)))  # it has the same verbs


class Client(RemoteUpkeep):
    """A memory on a server. Thread-safe."""

    def __init__(self, transport: Transport, space: str) -> None:
        self._transport = transport
        self._space = space

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the connections; twice is harmless."""
        self._transport.close()

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._space

    # Writing

    def remember(self, text: str, **fields: Unpack[Fields]) -> Memory:
        """Keep one memory, verbatim; it can be found as soon as this returns."""
        return memory_from_data(self._transport.post("/memories", {"text": text, **fields}))

    def remember_many(
        self, memories: Iterable[str | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[Memory]:
        """Keep many, each a text or a mapping with `text` and the keywords of `remember`."""
        kept: builtins.list[Memory] = []
        batch: builtins.list[Mapping[str, Any]] = []
        for one in memories:
            batch.append({"text": one} if isinstance(one, str) else one)
            if len(batch) == BATCH:
                kept += self._keep(batch, progress)
                batch = []
        return kept + self._keep(batch, progress)

    def _keep(self, batch: builtins.list[Mapping[str, Any]], progress: Progress | None) -> builtins.list[Memory]:
        if not batch:
            return []
        kept = reading.memories(self._transport.post("/memories/batch", {"memories": batch}))
        if progress is not None:
            progress(len(batch))
        return kept

    def relate(
        self, subject: str, relation: str, object: str, text: str | None = None, **times: Unpack[FactFields]
    ) -> Memory:
        """Write a fact; a new value of a one-valued relation, such as lives_in, supersedes the old one."""
        told = {"subject": subject, "relation": relation, "object": object, "text": text}
        return memory_from_data(self._transport.post("/facts", {**told, **times}))

    def forget(self, id: str | None = None, **filters: Unpack[Filters]) -> Receipt:
        """Erase one memory, or all that the filters choose, for good, with the facts that rest on nothing else."""
        if (id is None) == (not filters):
            raise InvalidInput(
                "forget was given neither or both of an id and filters", remedy="Give exactly one of them."
            )
        if id is not None:
            return reading.receipt(self._transport.delete(f"/memories/{quote(id, safe='')}"))
        return reading.receipt(self._transport.post("/forget", _listed(filters)))

    # Sessions

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> RemoteSession:
        """A run of an agent, to be used in a `with` block; an id that is known goes on with that session."""
        opened = self._transport.post("/sessions", {"goal": goal, "id": id, "scope": scope})
        return RemoteSession(self._transport, opened["id"], opened["goal"])

    def recall_in_context(self, session: str, query: str, /, **options: Unpack[RecallOptions]) -> Recall:
        """`recall`, with the session's goal and last three steps before the question; plain for an unknown session."""
        return self._recall(f"/sessions/{quote(session, safe='')}/recall", query, options)

    def jobs(self) -> builtins.list[Job]:
        """What is left to do, the first due first, with how often it failed and why."""
        return [reading.job(one) for one in self._transport.get("/jobs")["items"]]

    # Finding

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what matters for a question, with a context ready for a prompt."""
        return self._recall("/recall", query, options)

    def _recall(self, path: str, query: str, options: RecallOptions) -> Recall:
        request = recall_request(query, options, datetime.now(UTC))
        body = {"query": query, "details": True, **_listed(options)}
        return reading.recall(self._transport.post(path, body), request)

    def explain(self, recall: Recall, id: str) -> Explanation:
        """How an item of a recall got its place."""
        if not isinstance(recall, reading.RemoteRecall):
            return explain(recall, id)
        try:
            return recall.explanations[id]
        except KeyError:
            raise NotFound(
                f"Memory {id!r} is not in this recall", remedy="Ask why_not(query, id) why it was left out."
            ) from None

    def why_not(self, query: str, id: str, **options: Unpack[RecallOptions]) -> Absence:
        """Why a recall with these options does not return a memory: the stage that dropped it, and what was missing."""
        return Absence(**self._transport.post("/why-not", {"query": query, "id": id, **_listed(options)}))

    # Looking

    def get(self, id: str) -> Memory | None:
        """One memory, or None."""
        try:
            return memory_from_data(self._transport.get(f"/memories/{quote(id, safe='')}"))
        except NotFound:
            return None

    def list(self, limit: int = 100, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """Memories in the order they were written; pass `cursor` of a page to go on."""
        return reading.page(self._transport.get("/memories", {"limit": limit, "cursor": cursor, **_listed(filters)}))

    def history(self, name: str) -> builtins.list[Memory]:
        """All versions of a memory, given its id, or of every fact about an entity; the newest knowledge first."""
        return reading.memories(self._transport.get(f"/entities/{quote(name, safe='')}/history"))

    def stats(self) -> StoreStats:
        """How much the space holds."""
        return reading.stats(self._transport.get("/stats"))

    def recipes(self) -> builtins.list[dict[str, Any]]:
        """The recipes that the server can recall by, as their stages and parameters."""
        return self._transport.get("/recipes")


def _listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Filters as the server takes them: one scope or kind is a list of one."""
    several = {name: [options[name]] for name in ("scope", "kinds") if isinstance(options.get(name), str)}
    return {**cast("dict[str, Any]", options), **several}

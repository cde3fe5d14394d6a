"""`MemoristStore`: LangGraph's long-term store, kept in a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self, cast

import memorist
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from memorist.errors import InvalidInput, NotFound, StoreBusy
from memorist.integrations import Source, opened
from memorist.model import Memory, Outcome, Remembered
from memorist.verbs import Verbs
from memorist_agents.integrations.langgraph.items import (
    PUT,
    TTL,
    VALUE,
    Place,
    Put,
    id_of,
    ids_of,
    item_of,
    life_of,
    search_item,
    text_of,
)
from memorist_agents.integrations.langgraph.reading import Items
from memorist_agents.integrations.langgraph.sweeping import Sweeper

WHOLE = "$"
"""The field that stands for the whole value."""
MOST_SWEPT = 500
"""How many items are erased at once."""
REFRESHED = 0.1
"""The share of its time to live after which a read extends it: each extension is a version of the memory."""


class MemoristStore(BaseStore):
    """A LangGraph store in a memory: `MemoristStore("agent.db")`. Thread-safe, and several processes may write.

    `source` is an open memory, a file, a database URL or the address of a server. The whole value of an item is
    indexed, or only the `fields` of `index`, and a search with a query is a recall. With `embed` in `index`, items are
    embedded by LangChain's embeddings and ranked by cosine, as LangGraph's own stores do; `recipe` chooses another
    ranking. `index=False` turns off search by query.
    """

    supports_ttl = True

    def __init__(
        self,
        source: Source,
        *,
        index: IndexConfig | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        recipe: str | None = None,
        space: str | None = None,
    ) -> None:
        self.index_config = index or None
        self.ttl_config = ttl
        self._fields = None if index is False else _paths((index or {}).get("fields") or [WHOLE])
        embed = index.get("embed") if index else None
        self.embeddings = None if embed is None else ensure_embeddings(embed)
        self._recipe = "nearest" if recipe is None and embed is not None else recipe
        self._owned = isinstance(source, str | Path)
        self._memory = self._opened(source, space, (index or {}).get("dims"))
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="memorist-langgraph")
        self._items = Items(self._memory, self._recipe, indexed=self._fields is not None)
        self._sweeper = Sweeper(self.sweep_ttl)

    def _opened(self, source: Source, space: str | None, dim: int | None) -> Verbs:
        if self.embeddings is None:
            return opened(source, space=space)
        from memorist_agents.integrations.langchain import LangChainEmbedder

        if not isinstance(source, str | Path) or str(source).startswith(("http://", "https://")):
            raise InvalidInput(
                "`embed` is given, but this memory has its own embedder",
                remedy="Leave `embed` out, or give the path of a file or the URL of a database.",
            )
        return memorist.open(source, space=space, embedder=LangChainEmbedder(self.embeddings, dim=dim))

    @property
    def memory(self) -> Verbs:
        """The memory that keeps the items, for everything that a store cannot do."""
        return self._memory

    def close(self) -> None:
        """Stop sweeping and finish pending writes; close the memory if the store opened it."""
        self._sweeper.stop()
        self._writer.shutdown()
        if self._owned:
            self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Operations

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see the store as it was before the writes, and the last write of a key counts."""
        wanted = list(ops)
        for op in wanted:
            validate_op_namespace(op)
        puts = {_place(op): op for op in wanted if isinstance(op, PutOp)}
        prepared = [Put.of(op, self._texts(op)) for op in puts.values() if op.value is not None]
        got = self._items.at(list(dict.fromkeys(_place(op) for op in wanted if isinstance(op, GetOp))))
        results = [self._read(op, got) for op in wanted]
        self._write(prepared, [place for place, op in puts.items() if op.value is None])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, in another thread; writes run one after the other, in the order of the calls."""
        wanted = list(ops)
        writes = any(isinstance(op, PutOp) for op in wanted)
        return await asyncio.get_running_loop().run_in_executor(self._writer if writes else None, self.batch, wanted)

    def _read(self, op: Op, got: Mapping[Place, Memory]) -> Result:
        if isinstance(op, GetOp):
            found = got.get(_place(op))
            self._refresh([found] if found is not None and op.refresh_ttl else [])
            return None if found is None else item_of(found)
        if isinstance(op, SearchOp):
            shown = self._items.search(op)
            self._refresh([memory for memory, _ in shown] if op.refresh_ttl else [])
            return [search_item(memory, score) for memory, score in shown]
        if isinstance(op, ListNamespacesOp):
            return self._items.namespaces(op)
        if isinstance(op, PutOp):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            return None
        raise InvalidInput(f"Unknown operation: {type(op).__name__}", remedy="Use the operations of LangGraph.")

    # Writing

    def _texts(self, op: PutOp) -> list[str]:
        """The texts of an item that are indexed."""
        if op.index is False or self._fields is None:
            return []
        paths = self._fields if op.index is None else _paths(op.index)
        value = dict(op.value or {})
        found = (
            [text_of(value)] if path == WHOLE else get_text_at_path(value, cast("Any", steps)) for path, steps in paths
        )
        return [text for texts in found for text in texts]

    def _write(self, puts: Sequence[Put], deleted: Sequence[Place]) -> None:
        places = [*(put.place for put in puts), *deleted]
        known = self._known(places) if places else {}
        now = datetime.now(UTC)
        made = [memory for put in puts for memory in put.memories(now, known.get(put.place))]
        for kept in self._memory.remember_many(made) if made else ():
            _check_kept(kept)
        gone = [id for place in deleted if place in known for id in ids_of(known[place])]
        for put in puts:
            if put.place in known:
                gone += ids_of(known[put.place])[max(1, len(put.texts)) :]
        self._forget(gone)

    def _known(self, places: Sequence[Place]) -> dict[Place, Memory]:
        """The memories at these places, expired ones too."""
        found = zip(places, self._memory.get([id_of(place) for place in places]), strict=True)
        return {place: one for place, one in found if one is not None}

    def _forget(self, ids: Sequence[str]) -> None:
        """Erase memories, of which others may have erased some meanwhile."""
        while there := [memory.id for memory in (self._memory.get(list(ids)) if ids else ()) if memory is not None]:
            with suppress(NotFound):
                self._memory.forget(there)

    # Expiry

    def _refresh(self, memories: Sequence[Memory]) -> None:
        """Extend the life of items that were read, unless that was done a moment ago."""
        now = datetime.now(UTC)
        for memory in {row.id: row for row in memories if TTL in row.metadata}.values():
            life, end = life_of(memory.metadata[TTL]), memory.times.expires_at
            if end is not None and end - now < life * (1 - REFRESHED):
                for id in ids_of(memory):
                    self._extend(id, now + life, memory.metadata[TTL])

    def _extend(self, id: str, end: datetime, ttl: float) -> None:
        with suppress(NotFound, StoreBusy):  # put again or deleted meanwhile
            kept = self._memory.update(id, expires_at=end)
            if TTL not in kept.metadata:
                self._memory.update(id, clear=["expires_at"])
            elif kept.metadata[TTL] != ttl:
                self._memory.update(id, expires_at=datetime.now(UTC) + life_of(kept.metadata[TTL]))

    def sweep_ttl(self) -> int:
        """Erase the items whose time to live is over; returns their number. They are invisible already."""
        gone = list(self._items.expired())
        puts = list(dict.fromkeys(memory.metadata[PUT] for memory in gone))
        for some in (puts[start : start + MOST_SWEPT] for start in range(0, len(puts), MOST_SWEPT)):
            self._memory.forget(where={f"metadata.{PUT}": {"in": some}})  # by put: an item that came back has another
        return sum(VALUE in memory.metadata for memory in gone)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Erase expired items regularly, in a thread, until `stop_ttl_sweeper` or `close`."""
        every = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes")
        if every is not None:
            self._sweeper.start(timedelta(minutes=every))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; whether it stopped within the timeout, in seconds."""
        return self._sweeper.stop(timeout)


def _place(op: GetOp | PutOp) -> Place:
    return tuple(op.namespace), op.key


def _check_kept(kept: Remembered) -> None:
    """Refuse to call it kept if a server that does not know exact memories changed it."""
    if kept.outcome is Outcome.WITHHELD or any(gate.decision == "mask" for gate in kept.gates):
        reasons = "; ".join(map(str, kept.gates))
        raise InvalidInput(f"An item was not kept as it was put: {reasons}", remedy="Set secrets = 'keep'.")


def _paths(fields: Sequence[str]) -> list[tuple[str, list[str]]]:
    return [(path, [] if path == WHOLE else tokenize_path(path)) for path in fields]

"""The verbs: wires stores and models to the recall pipelines."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, Unpack, cast

from recollect.clock import SystemClock
from recollect.embedding import StoreEmbedder
from recollect.errors import InvalidInput, NotFound
from recollect.model import Fact, Filter, Memory, Recall
from recollect.ports import LLM, Batch, Clock, Embedder, Page, Progress, Receipt, Reranker, Store, StoreStats
from recollect.recall.explain import Explanation, explain
from recollect.recall.pipeline import Pipeline
from recollect.recall.recipes import RECIPES
from recollect.recall.request import (
    Filters,
    RecallOptions,
    at_least,
    erasure_filter,
    listing_filter,
    recall_request,
)
from recollect.recall.stage import Env
from recollect.recall.why_not import Absence, why_not
from recollect.remember.entities import about
from recollect.remember.facts import FactFields, fact_memory
from recollect.remember.record import Fields, record

BATCH = 256
"""Memories per transaction of `remember_many`."""


class Engine:
    """A memory that is open. Thread-safe; after a fork, open again."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        llm: LLM | None = None,
        recipe: str = "recollect",
        recipes: Mapping[str, Pipeline] = RECIPES,
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._embedder = StoreEmbedder(embedder, store) if embedder is not None else None
        self._reranker = reranker
        self._llm = llm
        self._recipes = recipes
        self._recipe = self._pipeline(recipe).name
        self._clock = clock or SystemClock()
        self._pool = ThreadPoolExecutor(thread_name_prefix="recollect")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store; twice is harmless."""
        self._pool.shutdown()
        self._store.close()

    # Writing

    def remember(self, text: str, **fields: Unpack[Fields]) -> Memory:
        """Keep one memory, verbatim; it can be found as soon as this returns."""
        return self._keep([record(text, self._clock.now(), **fields)])[0]

    def remember_many(
        self, memories: Iterable[str | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[Memory]:
        """Keep many, each a text or a mapping with `text` and the keywords of `remember`.

        One transaction a batch: what `progress` has counted is safe. A bad one is refused before its batch
        is written.
        """
        kept: builtins.list[Memory] = []
        for batch in _batches(map(self._record, memories)):
            kept += self._keep(batch)
            if progress is not None:
                progress(len(batch))
        return kept

    def _record(self, given: str | Mapping[str, Any]) -> Memory:
        fields = {"text": given} if isinstance(given, str) else dict(given)
        if "text" not in fields:
            raise InvalidInput("A memory has no text", remedy="Give each one as a string or with a 'text' key.")
        return record(fields.pop("text"), self._clock.now(), **cast("Fields", fields))

    def relate(
        self, subject: str, relation: str, object: str, text: str | None = None, **times: Unpack[FactFields]
    ) -> Memory:
        """Write a fact; a new value of a one-valued relation, such as lives_in, supersedes the old one."""
        return self._keep([fact_memory(Fact(subject, relation, object), text, self._clock.now(), **times)])[0]

    def _keep(self, memories: Sequence[Memory]) -> builtins.list[Memory]:
        vectors = self._embedder.vectors(memories) if self._embedder else {}
        entities, links = about(memories, self._store.entities)
        return self._store.put(Batch(memories=memories, vectors=vectors, links=links, entities=entities))

    def forget(self, id: str | None = None, **filters: Unpack[Filters]) -> Receipt:
        """Erase one memory, or all that the filters choose, for good."""
        if (id is None) == (not filters):
            raise InvalidInput(
                "forget was given neither or both of an id and filters", remedy="Give exactly one of them."
            )
        if id is not None:
            ids = [id] if id in self._store.get([id]) else []
            if not ids:
                raise NotFound(f"There is no memory {id!r}", remedy="Look it up with list().")
        else:
            ids = [memory.id for memory in self._all(erasure_filter(filters))]
        return Receipt(tuple(self._store.delete(ids)), self._clock.now())

    def _all(self, where: Filter) -> Iterator[Memory]:
        cursor = None
        while True:
            page = self._store.scan(where, 1000, cursor)
            yield from page.items
            if (cursor := page.cursor) is None:
                return

    # Finding

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what matters for a question, with a context ready for a prompt."""
        pipeline = self._pipeline(options.get("recipe") or self._recipe)
        return pipeline.run(recall_request(query, options, self._clock.now()), self._env())

    def explain(self, recall: Recall, id: str) -> Explanation:
        """How an item of a recall got its place."""
        return explain(recall, id)

    def why_not(self, query: str, id: str, **options: Unpack[RecallOptions]) -> Absence:
        """Why a recall with these options does not return a memory: the stage that dropped it, and what was missing."""
        memory = self.get(id)
        if memory is None:
            raise NotFound(f"There is no memory {id!r}", remedy="Look it up with list().")
        pipeline = self._pipeline(options.get("recipe") or self._recipe)
        return why_not(pipeline, recall_request(query, options, self._clock.now()), self._env(), memory)

    def _env(self) -> Env:
        return Env(
            store=self._store,
            view=self._store.view(),
            pool=self._pool,
            embedder=self._embedder,
            reranker=self._reranker,
            llm=self._llm,
        )

    def _pipeline(self, name: str) -> Pipeline:
        try:
            return self._recipes[name]
        except KeyError:
            raise InvalidInput(
                f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(sorted(self._recipes))}."
            ) from None

    # Looking

    @property
    def space(self) -> str:
        """The name of the open space."""
        return self._store.space

    @property
    def store(self) -> Store:
        """The store underneath, for tools that look inside."""
        return self._store

    @property
    def recipes(self) -> Mapping[str, Pipeline]:
        """The recipes this engine can recall by."""
        return self._recipes

    def get(self, id: str) -> Memory | None:
        """One memory, or None."""
        return self._store.get([id]).get(id)

    def list(self, limit: int = 100, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """Memories in the order they were written; pass `cursor` of a page to go on."""
        return self._store.scan(listing_filter(filters, self._clock.now()), at_least("limit", limit, 1), cursor)

    def history(self, name: str) -> builtins.list[Memory]:
        """All versions of a memory, given its id, or of every fact about an entity; the newest knowledge first."""
        versions = self._store.history(name) or self._facts_about(name)
        if not versions:
            raise NotFound(f"Nothing is known about {name!r}", remedy="Give a memory's id or the name of an entity.")
        return versions

    def _facts_about(self, name: str) -> builtins.list[Memory]:
        entities = [entity.id for entity in self._store.entities([name])]
        linked = self._store.get([link.source for link in self._store.links(entities)]) if entities else {}
        current = [memory.version_of or id for id, memory in linked.items() if memory.fact is not None]
        versions = {one.id: one for id in current for one in self._store.history(id)}
        return sorted(versions.values(), key=lambda one: (one.times.ingested_at, one.version, one.id), reverse=True)

    def stats(self) -> StoreStats:
        """How much the space holds."""
        return self._store.stats()


def _batches(memories: Iterable[Memory]) -> Iterator[builtins.list[Memory]]:
    """Batches in which no id stands twice: two versions of one memory are two writes."""
    batch: dict[str, Memory] = {}
    for memory in memories:
        if len(batch) == BATCH or memory.id in batch:
            yield list(batch.values())
            batch = {}
        batch[memory.id] = memory
    if batch:
        yield list(batch.values())

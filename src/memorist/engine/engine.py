"""The verbs that write, find and look: wires stores and models to the recall pipelines."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack, cast

from memorist.asking import Askers
from memorist.engine.upkeep import SCRUB, Upkeep
from memorist.errors import InvalidInput, NotFound
from memorist.model import Fact, Filter, Memory, Recall
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Clock, Embedder, Entry, Job, Page, Progress, Receipt, Reranker, Store, StoreStats
from memorist.ports.models import SystemClock
from memorist.ports.notices import Notice, Notices
from memorist.recall.explain import Absence, Explanation, explain, why_not
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES
from memorist.recall.request import Filters, RecallOptions, at_least, erasure_filter, listing_filter, recall_request
from memorist.recall.stage import Env
from memorist.remember.entities import Find, names
from memorist.remember.fact_rows import FactFields, relation_claim
from memorist.remember.forgetting import READ as FACTS
from memorist.remember.forgetting import held_back
from memorist.remember.gates import Gates, Policy
from memorist.remember.ingest import IngestReport
from memorist.remember.ingest.keep import Ingest
from memorist.remember.jobs import Worker
from memorist.remember.llm_facts import FactReader
from memorist.remember.record import Fields, record
from memorist.remember.sessions import IDLE, Session, Sessions
from memorist.remember.sessions import TASK as SESSION
from memorist.remember.writer import Writer
from memorist.upkeep.consolidate import Notebook

BATCH = 256
"""Memories per transaction of `remember_many`."""


class Engine(Upkeep):
    """A memory that is open. Thread-safe; after a fork, open again."""

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        packaged: Reranker | None = None,
        askers: Askers | None = None,
        facts: bool = True,
        policy: Policy | None = None,
        find: Find = names,
        recipe: str = "memorist",
        recipes: Mapping[str, Pipeline] = RECIPES,
        clock: Clock | None = None,
        notices: Notices | None = None,
        idle: timedelta = IDLE,
        notes: Path | None = None,
        background: bool = True,
    ) -> None:
        self._store = store
        self._embedder = StoreEmbedder(embedder, store) if embedder is not None else None
        self._reranker = reranker
        self._packaged = packaged
        self._askers = askers or Askers()
        self._recipes = recipes
        self._recipe = self._pipeline(recipe).name
        self._clock = clock or SystemClock()
        self._reader = FactReader(store, self._clock, self._askers)
        gates = Gates(policy or Policy(), self._clock)
        self._keeper = Writer(store, self._embedder, facts=facts, find=find, later=self._reader.later, gates=gates)
        self._notebook = Notebook(store, notes, self._askers, self._embedder)
        self._pool = ThreadPoolExecutor(thread_name_prefix="memorist")
        self._notices = notices or Notices()
        self._background = background
        self._sessions = Sessions(
            store,
            self._embedder,
            self._clock,
            askers=self._askers,
            notices=self._notices,
            idle=idle,
            waiting=self._wake,
        )
        self._worker = Worker(
            store,
            self._clock,
            {SESSION: self._sessions.work, FACTS: self._read_facts, SCRUB: self._scrub},
            self._notices,
        )
        self._wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store; twice is harmless. What is left to do is done when it is next opened."""
        self._worker.close()
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

    def _keep(self, memories: builtins.list[Memory]) -> builtins.list[Memory]:
        kept = self._keeper.keep(memories)
        self._wake()
        return kept

    def _record(self, given: str | Mapping[str, Any]) -> Memory:
        fields = {"text": given} if isinstance(given, str) else dict(given)
        if "text" not in fields:
            raise InvalidInput("A memory has no text", remedy="Give each one as a string or with a 'text' key.")
        return record(fields.pop("text"), self._clock.now(), **cast("Fields", fields))

    def ingest(
        self,
        what: str | Path | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read chat messages, a file or a folder, and keep every text; what is known already adds nothing.

        One transaction a batch: run again after an interruption, it goes on from there.
        """
        run = Ingest(self._keep, self._store, self._clock.now, progress)
        return run.run(what, session=session, format=format)

    def relate(
        self, subject: str, relation: str, object: str, text: str | None = None, **times: Unpack[FactFields]
    ) -> Memory:
        """Write a fact; a new value of a one-valued relation, such as lives_in, supersedes the old one."""
        return self._keeper.relate(*relation_claim(Fact(subject, relation, object), text, self._clock.now(), **times))

    def forget(self, id: str | None = None, **filters: Unpack[Filters]) -> Receipt:
        """Erase one memory, or all that the filters choose, for good, with the facts that rest on nothing else.

        A filter that is None chooses nothing: without any other, nothing is erased.
        """
        if (id is None) == all(value is None for value in filters.values()):
            raise InvalidInput(
                "forget was given neither or both of an id and filters", remedy="Give exactly one of them."
            )
        if id is not None:
            ids = [id] if id in self._store.get([id]) else []
            held = held_back(lambda memory: memory.id == id, self._store, id)
            if not ids and not held:
                raise NotFound(f"There is no memory {id!r}", remedy="Look it up with list().")
        else:
            where = erasure_filter(filters)
            ids = [memory.id for memory in self._all(where)]
            held = held_back(where.admits, self._store)
        return self._erase(ids, held)

    def _erase(self, ids: Sequence[str], held: Sequence[Entry]) -> Receipt:
        now = self._clock.now()
        lines = self._notebook.forget(self._keeper.bound(ids), now)
        gone = tuple(sorted({*lines, *self._keeper.erase(ids, held)}))
        pending = bool(gone) and not self._overwritten(rewrite=bool(held))
        self._wake()
        return Receipt(gone, now, pending)

    def _all(self, where: Filter) -> Iterator[Memory]:
        cursor = None
        while True:
            page = self._store.scan(where, 1000, cursor)
            yield from page.items
            if (cursor := page.cursor) is None:
                return

    # Sessions

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> Session:
        """A run of an agent, to be used in a `with` block; an id that is known goes on with that session."""
        return self._sessions.open(goal, id, scope)

    def recall_in_context(self, session: str, query: str, /, **options: Unpack[RecallOptions]) -> Recall:
        """`recall`, with the session's goal and last three steps before the question; plain for an unknown session."""
        question = self._sessions.question(session, query)
        if question is None:
            return self.recall(query, **options)
        options.setdefault("session", session)
        return self.recall(question, **options)

    def work(self) -> int:
        """Do now what is due, such as committing sessions that were left; returns how many jobs ran."""
        return self._worker.run_due()

    def jobs(self) -> builtins.list[Job]:
        """What is left to do, the first due first, with how often it failed and why."""
        return self._worker.jobs()

    def _read_facts(self, job: Job) -> None:
        self._reader.work(job, self._keeper)

    def _wake(self) -> None:
        if self._background:
            self._worker.wake()

    # Finding

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what matters for a question, with a context ready for a prompt."""
        pipeline = self._pipeline(options.get("recipe") or self._recipe)
        found = pipeline.run(recall_request(query, options, self._clock.now()), self._env())
        self._notices.tell(Notice("recall", found.now, (found.id,), {"items": len(found.items)}, texts=(query,)))
        return found

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
        view = self._store.view()
        return Env(
            store=self._store,
            view=view,
            pool=self._pool,
            embedder=self._embedder and self._embedder.at(view.embedding),
            reranker=self._reranker,
            packaged=self._packaged,
            llm=self._askers.for_recall(),
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

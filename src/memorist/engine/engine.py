"""The engine: the verbs that write, recall and list, over a store, models and recall pipelines."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from memorist.asking import Askers
from memorist.engine.calls import refuse_when_closed
from memorist.engine.classified_writer import ClassifiedWriter, WriteServices, batches, keep, record_entry
from memorist.engine.helpers import Helpers
from memorist.engine.upkeep import Upkeep
from memorist.errors import InvalidInput, no_memory
from memorist.model import (
    CITES,
    MOST_CLASSIFIED,
    USUAL_CLASSIFICATION,
    Fact,
    FactFields,
    Fields,
    Ids,
    Kind,
    Memory,
    Recall,
    RecallRequest,
    Remembered,
    Surroundings,
    Verbosity,
    mark_name,
    refuse_unknown,
)
from memorist.model.arguments import checks_arguments
from memorist.model.request import (
    Filters,
    RecallOptions,
    at_least,
    forget_filters,
    listing_filter,
    recall_request,
)
from memorist.models.folder import DEFAULT_SET
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import SCRUB, Clock, Embedder, Entry, Page, Progress, Reranker, Store, StoreStats
from memorist.ports.models import SystemClock, load_ahead
from memorist.ports.notices import Notice, Notices
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES, Recipes, as_used
from memorist.recall.stage import Env
from memorist.remember.jobs import COMMIT_TASK, FACTS_TASK, Task, Worker
from memorist.remember.policy import Policy
from memorist.results.records import Receipt
from memorist.stores.classified import ClassifiedStore, counted_page

if TYPE_CHECKING:
    from memorist.remember.entities import Find
    from memorist.remember.ingest import IngestReport
    from memorist.remember.sessions import Session
    from memorist.remember.writer import Written
    from memorist.results.finding import Absence, Explanation


@refuse_when_closed
@checks_arguments
class Engine(Upkeep):
    """An open memory. Thread-safe; after a fork, open it again."""

    def __init__(
        self,
        store: Store,
        *,
        models: str = DEFAULT_SET,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        askers: Askers | None = None,
        extract: bool = True,
        policy: Policy | None = None,
        find: Find | None = None,
        recipe: str = "memorist",
        verbosity: Verbosity = "summary",
        recipes: Mapping[str, Pipeline] = RECIPES,
        clock: Clock | None = None,
        notices: Notices | None = None,
        idle: timedelta | None = None,
        notes: Path | None = None,
        background: bool = True,
    ) -> None:
        self._closing = Event()
        self._store = self._whole = store
        self._most = MOST_CLASSIFIED
        self._embedder = StoreEmbedder(embedder, store, models) if embedder is not None else None
        self._reranker = reranker
        self._askers = askers or Askers()
        self._recipes = recipes
        self._recipe = recipe
        self._verbosity: Verbosity = verbosity
        self._clock = clock or SystemClock()
        self._helpers = Helpers()
        self._unloaded = {"embedder", "reranker"}
        self._notices = notices or Notices()
        self._services = WriteServices(
            store,
            self._embedder,
            policy or Policy(),
            extract=extract,
            tags=self._follows_tags(recipe),
            find=find,
            clock=self._clock,
            askers=self._askers,
            notices=self._notices,
            idle=idle,
            notes=notes,
            on_new_job=self._wake,
            overwrite=lambda: self._overwritten(rewrite=False),
        )
        self._start(background=background)

    def _start(self, *, background: bool) -> None:
        self._writers = tuple(
            ClassifiedWriter(classification, self._services) for classification in range(MOST_CLASSIFIED + 1)
        )
        self._worker = Worker(self._whole, self._clock, {SCRUB: self._scrub, **self._tasks()}, self._notices)
        self._waking = self._worker if background else None
        self._wake()

    def _tasks(self) -> dict[str, Task]:
        """The tasks that a worker may run: those of each classification that may be seen."""
        commits = {mark_name(COMMIT_TASK, writer.classification): writer.commit for writer in self._seen_writers}
        return {
            **commits,
            **{mark_name(FACTS_TASK, writer.classification): writer.read_facts for writer in self._seen_writers},
        }

    def _up_to(self, classification: int) -> Engine:
        if classification >= self._most:
            return self
        narrow = copy(self)
        narrow._most = classification
        narrow._store = ClassifiedStore(self._whole, 0, classification)
        narrow._worker = Worker(narrow._store, self._clock, narrow._tasks(), self._notices)
        return narrow

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store. Safe to call twice, and while verbs run in other threads: they finish or raise `Closed`.

        Pending jobs run when it is next opened.
        """
        if self._most < MOST_CLASSIFIED:
            return  # it belongs to the engine that sees everything
        self._closing.set()
        self._worker.close()
        self._helpers.shutdown()
        self._store.close()

    # Writing

    def remember(self, text: str, **fields: Unpack[Fields]) -> Remembered:
        """Keep one memory, verbatim; it can be found as soon as this returns. `outcome` says what became of it."""
        from memorist.remember.record import record

        return self._written([record(text, self._clock.now(), **fields)]).memories[0]

    def remember_many(
        self, memories: Iterable[str | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[Remembered]:
        """Keep many, each a text or a mapping with `text` and the keywords of `remember`.

        One transaction per batch: what `progress` has counted is safe. An invalid memory is refused before its batch
        is written.
        """
        kept: builtins.list[Remembered] = []
        for batch in batches(record_entry(memory, self._clock.now()) for memory in memories):
            kept += self._written(batch).memories
            if progress is not None:
                progress(len(batch))
        return kept

    def _written(self, memories: Sequence[Memory]) -> Written:
        self._load_ahead("embedder")
        written = keep(memories, self._writer_for)
        self._wake(new_jobs=written.has_jobs)
        return written

    def ingest(
        self,
        what: str | Path | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read chat messages, a file or a folder, and keep every text; known texts add nothing.

        One transaction per batch: after an interruption, a second run continues where the first one stopped.
        """
        from memorist.remember.ingest.keep import Ingest

        run = Ingest(self._written, lambda secrecy: self._writer_for(secrecy).writer, self._store, self._clock.now)
        return run.run(what, session=session, format=format, progress=progress)

    def relate(
        self, subject: str, relation: str, object: str, text: str | None = None, **times: Unpack[FactFields]
    ) -> Remembered:
        """Write a fact; a new value of a one-valued relation, such as lives_in, supersedes the old one."""
        from memorist.remember.fact_rows import relation_claim

        refuse_unknown(times, FactFields, "relate")
        slot, claim = relation_claim(Fact(subject, relation, object), text, self._clock.now(), **times)
        return self._writer_for(slot.classification).writer.relate(slot, claim)

    def forget(self, id: str | Ids | None = None, *, soft: bool = False, **filters: Unpack[Filters]) -> Receipt:
        """Erase one memory, several, or all that the filters select, for good, with facts that rest on nothing else.

        If one of several ids is unknown, nothing is erased. A filter that is None counts as not given: if all are None,
        nothing is erased. With `soft`, they end now and stay in their history instead, and `undo` takes the receipt's
        `run` back.
        """
        from memorist.engine.forgetting import end_softly, refuse_ended, select_by_filter, select_by_id

        refuse_unknown(filters, Filters, "forget")
        chosen, now = forget_filters(id, filters), self._clock.now()
        memories, withheld = select_by_filter(self._store, chosen) if id is None else select_by_id(self._store, id)
        if not soft:
            return self._erase([memory.id for memory in memories], withheld)
        if id is not None:
            refuse_ended(memories, withheld, now)
        return end_softly(memories, self._seen_writers, now)

    def _erase(self, ids: Sequence[str], withheld: Sequence[Entry]) -> Receipt:
        from memorist.remember.forgetting import dependents, erase

        now = self._clock.now()
        resting = dependents(ids, self._store).keys()
        citing = {link.source for link in self._store.links(sorted(resting), CITES)}
        lines = [line for writer in self._seen_writers for line in writer.notebook.forget(resting, now)]
        gone = tuple(sorted({*lines, *erase(self._store, sorted({*ids, *citing}), withheld)}))
        pending = bool(gone) and not self._overwritten(rewrite=bool(withheld))
        self._wake()
        return Receipt(gone, now, pending)

    # Sessions

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> Session:
        """A session of an agent, for a `with` block; a known id continues that session."""
        known = None if id is None else self._classification_of_session(id)
        return self._writer_for(USUAL_CLASSIFICATION if known is None else known).sessions.open(goal, id, scope)

    def recall_in_context(self, session: str, query: str, /, **options: Unpack[RecallOptions]) -> Recall:
        """`recall` with the session's goal and last three steps before the question, if the session is known.

        Its steps since the last commit are part of the question, and not among the answers.
        """
        known = self._classification_of_session(session)
        around = None if known is None else self._writer_for(known).sessions.surroundings(session)
        if around is None:
            return self.recall(query, **options)
        options.setdefault("session", session)
        return self._recall(query, options, around)

    def _classification_of_session(self, id: str) -> int | None:
        """The classification of a session; the usual one if several have one with this id, None if none has."""
        from memorist.remember.derived import session_key

        known = self._store.by_key([session_key(self._writer.text(id))])
        classes = {
            memory.worth.classification for memory in known if memory.kind is Kind.SOURCE and memory.version_of is None
        }
        return USUAL_CLASSIFICATION if USUAL_CLASSIFICATION in classes else max(classes, default=None)

    # Finding

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what matters for a question, with a context ready for a prompt."""
        return self._recall(query, options, Surroundings())

    def _recall(self, query: str, options: RecallOptions, around: Surroundings) -> Recall:
        self._load_ahead("embedder")
        pipeline = as_used(self._pipeline(options.get("recipe") or self._recipe))
        if pipeline.uses("reranker"):
            self._load_ahead("reranker")
        request = self._request(query, options, "recall")
        request = replace(request, surroundings=around, where=request.where.without(around.own))
        if any(part.kind == "notes" for part in pipeline.parts()):
            self._read_notes(request.now)
        found = pipeline.run(request, self._env())
        self._notices.tell(Notice("recall", found.now, (found.id,), {"items": len(found.items)}, texts=(query,)))
        return found

    def explain(self, recall: Recall, id: str) -> Explanation:
        """Why an item of a recall has its rank."""
        from memorist.recall.explain import explain

        return explain(recall, id)

    def why_not(self, query: str, id: str, **options: Unpack[RecallOptions]) -> Absence:
        """Why a recall with these options does not return a memory: the stage that dropped it, and what was missing."""
        from memorist.recall.explain import why_not

        memory = self.get(id)
        if memory is None:
            raise no_memory(id)
        pipeline = as_used(self._pipeline(options.get("recipe") or self._recipe))
        return why_not(pipeline, self._request(query, options, "why_not"), self._env(), memory)

    def _request(self, query: str, options: RecallOptions, verb: str) -> RecallRequest:
        refuse_unknown(options, RecallOptions, verb)
        options.setdefault("verbosity", self._verbosity)
        request = recall_request(query, options, self._clock.now())
        session = request.session and self._services.label(request.session)  # the store notes what a session was shown
        return request if session == request.session else replace(request, session=session)

    def _env(self) -> Env:
        view = self._store.view()
        return Env(
            store=self._store,
            view=view,
            pool=self._helpers,
            embedder=self._embedder and self._embedder.at(view.embedding),
            reranker=self._reranker,
            llm=self._askers.for_recall(),
        )

    def _load_ahead(self, service: str) -> None:
        """Load a model in another thread, once, while this one reads the index and the question."""
        if service in self._unloaded:
            self._unloaded.discard(service)
            bound = self._embedder and self._embedder.at(self._store.embedding)
            self._helpers.submit(load_ahead, bound if service == "embedder" else self._reranker)

    def _pipeline(self, name: str) -> Pipeline:
        try:
            return self._recipes[name]
        except KeyError:
            raise InvalidInput(
                f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(sorted(self._recipes))}."
            ) from None

    def _follows_tags(self, name: str) -> bool:
        """Whether a recipe reads the tags of memories; one that ships is not built to tell."""
        if isinstance(self._recipes, Recipes) and name in self._recipes:
            return self._recipes.follows_tags(name)
        return self._pipeline(name).follows_tags

    # Looking

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closing.is_set()

    @property
    def space(self) -> str:
        """The name of the open space."""
        return self._store.space

    @property
    def store(self) -> Store:
        """The underlying store, for tools that inspect it."""
        return self._store

    @property
    def recipes(self) -> Mapping[str, Pipeline]:
        """The recipes this engine can recall by."""
        return self._recipes

    @overload
    def get(self, id: str) -> Memory | None: ...

    @overload
    def get(self, id: Ids) -> builtins.list[Memory | None]: ...

    def get(self, id: str | Ids) -> Memory | builtins.list[Memory | None] | None:
        """One memory, or None; of several ids, a list in their order."""
        found = self._store.get([id] if isinstance(id, str) else id)
        return found.get(id) if isinstance(id, str) else [found.get(each_id) for each_id in id]

    def list(self, limit: int = 100, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """Memories in the order written; pass the `cursor` of a page to get the next one."""
        refuse_unknown(filters, Filters, "list")
        where, size = listing_filter(filters, self._clock.now()), at_least("limit", limit, 1)
        if self._most < MOST_CLASSIFIED:
            return counted_page(self._store, where, size, cursor)
        return self._store.scan(where, size, cursor)

    def stats(self) -> StoreStats:
        """How much the space holds."""
        return self._store.stats()


def up_to(engine: Engine, classification: int) -> Engine:
    """The engine as if nothing above a classification were stored; it shares everything, and needs no closing."""
    return engine._up_to(classification)  # pyright: ignore[reportPrivateUsage]

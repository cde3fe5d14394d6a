"""One group of a dataset as an open memory, and the answers of recipes and baselines to its questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from time import perf_counter
from typing import Any

from memorist.engine.engine import Engine
from memorist.engine.open import entity_finder
from memorist.errors import MissingService
from memorist.model import CITES, DENIES, PROVENANCE, STATES, Item, Kind, Memory, Recall, instant, memory_id
from memorist.model.request import RecallOptions
from memorist.ports import Embedder, Progress, Reader, Reranker
from memorist.recall.assemble import HEADER, Assemble, line
from memorist.recall.fuse import Best, ReciprocalRank
from memorist.recall.pipeline import REMEDIES, Pipeline
from memorist.recall.prepare import Embed
from memorist.recall.search import Search
from memorist.recall.select import Limit
from memorist.recall.signals import Keyword, Vector
from memorist.recall.stage import Part, Signal
from memorist.stores.memory import MemoryStore
from memorist.text.tokens import count_tokens
from memorist_bench.model import Answer, Document, Group, Ingest, Question

BM25 = Pipeline("bm25", (Search((Keyword(),)), Best(), Limit(), Assemble()))
COSINE = Pipeline("cosine", (Embed(), Search((Vector(),)), Best(), Limit(), Assemble()))
RRF = Pipeline("rrf", (Embed(), Search((Vector(), Keyword())), ReciprocalRank(k=60), Limit(), Assemble()))

BASELINES: dict[str, Pipeline] = {baseline.name: baseline for baseline in (BM25, COSINE, RRF)}
LIMIT = 50
"""Items per recall, so that recall@50 can be measured."""
CONTEXT_ITEMS = 10
"""Items whose context tokens are the figure `tokens`."""
LONGEST_LINE = 1200
TIMELESS = datetime(2024, 1, 1, 12, tzinfo=UTC)
"""The time of groups whose documents have no times."""
WARM_UP = "warm-up"
SCOPE = "global"


@dataclass(frozen=True, slots=True)
class Setup:
    """The models and settings that every recipe of a run uses."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    limit: int = LIMIT
    extract: str = "rules"
    """The setting `extract`: how facts and names are read from the documents."""
    ingest: Ingest = "replayed"

    def lacks(self, pipeline: Pipeline) -> list[tuple[str, str]]:
        """The parts of a recipe that will be skipped, each with the service it lacks."""
        return [(part.kind, service) for part in pipeline.parts() for service in part.optional if self._misses(service)]

    def check(self, pipeline: Pipeline) -> None:
        """Refuse a recipe that cannot run, or that would find nothing because every signal lacks its service."""
        parts = list(pipeline.parts())
        needed = [service for part in parts for service in part.required() if self._misses(service)]
        signals = [part for part in parts if isinstance(part, Signal)]
        silent = [service for part in signals for service in part.optional if self._misses(service)]
        if missing := needed or (silent if silent and len(silent) == len(signals) else []):
            raise MissingService(
                f"Recipe {pipeline.name!r} finds nothing without a service: {missing[0]}", remedy=REMEDIES[missing[0]]
            )

    def _misses(self, service: str) -> bool:
        return getattr(self, service, None) is None


def reranks(pipeline: Pipeline) -> bool:
    """Whether a recipe has a stage for a reranker."""
    return any(map(needs_reranker, pipeline.parts()))


def needs_reranker(part: Part) -> bool:
    """Whether a part of a recipe asks the reranker."""
    return "reranker" in (*part.required(), *part.optional)


_finder = cache(entity_finder)
"""Loads a model that finds names once, not once per group."""


class _SettableClock:
    """A clock that stands still at the moment it was set to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment it was set to."""
        return self.moment


class Space(AbstractContextManager["Space"]):
    """A group as an open memory: its documents are remembered, and recipes can be asked its questions.

    The recipes decide whether memories are tagged, so either all of them follow tags or none does. Recalls change what
    a recipe finds later, so a space in use has one recipe.
    """

    def __init__(
        self, group: Group, pipelines: Sequence[Pipeline], setup: Setup, *, progress: Progress | None = None
    ) -> None:
        self._group = group
        self._limit = setup.limit
        moments = _moments(group.documents)
        self._asked_at = max(moments, default=TIMELESS) + timedelta(days=1)
        stored = _bulk(group, self._asked_at) if setup.ingest == "bulk" else None
        self._clock = _SettableClock(stored or (moments[-1] if moments else TIMELESS))
        self.engine = Engine(
            MemoryStore("bench"),
            embedder=setup.embedder,
            reranker=setup.reranker,
            extract=setup.extract != "off",
            find=_finder(setup.extract),
            recipe=pipelines[0].name,
            recipes={pipeline.name: pipeline for pipeline in pipelines},
            clock=self._clock,
        )
        self._store(_fields(group, moments, stored), setup.ingest, progress)
        self.ids = {memory_id(document.text, scope=SCOPE, key=document.id): document.id for document in group.documents}
        """The document that each memory is."""
        self._tokens: dict[str, int] = {}

    def __exit__(self, *_error: object) -> None:
        self.engine.close()

    def _store(self, fields: Iterator[dict[str, Any]], ingest: Ingest, progress: Progress | None) -> None:
        """Remember the documents; if they are used, recall what the first speaker says before it is stored."""
        if ingest != "used":
            self.engine.remember_many(fields, progress=progress)
            return
        user = self._group.documents[0].speaker if self._group.documents else None
        for field in fields:
            self._clock.moment = field["at"]
            if field["speaker"] == user:
                self.engine.recall(field["text"], limit=CONTEXT_ITEMS)
            self.engine.remember_many([field], progress=progress)

    def answers(self, recipe: str, tell: Progress) -> Iterator[Answer]:
        """The answers of a recipe to every question, after a warm-up recall that builds the index and is not timed."""
        self._clock.moment = self._asked_at
        self.engine.recall(WARM_UP, **self._options(recipe))
        for question in self._group.questions:
            yield self.answer(question, recipe)
            tell(1)

    def answer(self, question: Question, recipe: str) -> Answer:
        """One timed recall, as the documents that its items are or were derived from."""
        started = perf_counter()
        recall = self.recall(question, recipe)
        ms = (perf_counter() - started) * 1000
        ranked, tokens_at = self._credited(recall.items)
        first = self._context_tokens(recall.items[:CONTEXT_ITEMS])
        return Answer(
            group=self._group.name,
            question=question.id,
            ranked=ranked,
            ms=round(ms, 3),
            stages=_stage_times(recall),
            tokens=first[-1] if first else 0,
            tokens_at=tokens_at,
            context_tokens=recall.tokens,
            confidence=recall.confidence,
            abstained=recall.abstained,
            skipped=tuple(step.stage for step in recall.trace.steps if step.skipped and step.signal is None),
        )

    def recall(self, question: Question, recipe: str) -> Recall:
        """A recall at the time of the question, or a day after the last document of the group; nothing is written."""
        self._clock.moment = self.moment(question)
        return self.engine.recall(question.text, **self._options(recipe, question.as_of))

    def _options(self, recipe: str, as_of: datetime | None = None) -> RecallOptions:
        options: RecallOptions = {"recipe": recipe, "limit": self._limit, "min_confidence": 0.0, "track": False}
        if as_of is not None:
            options["as_of"] = as_of
        if recipe in BASELINES:  # plain rankings of what was said, not of the facts we make of it
            options["kinds"] = [Kind.EPISODIC]
        return options

    def moment(self, question: Question) -> datetime:
        """When a question is asked: at its own time, or a day after the last document."""
        return self._asked_at if question.at is None else instant(question.at)

    def absence(self, question: Question, recipe: str, document: str) -> str:
        """Why a recall did not return a document."""
        memory = next(id for id, own in self.ids.items() if own == document)
        if self.engine.get(memory) is None:
            return "it was not remembered: it has no text"
        self._clock.moment = self.moment(question)
        return self.engine.why_not(question.text, memory, **self._options(recipe, question.as_of)).reason

    def _credited(self, items: Sequence[Item]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The documents in order, without repeats, each with the context tokens up to and including its item."""
        taken: dict[str, int] = {}
        for item, tokens in zip(items, self._context_tokens(items), strict=True):
            for document in self.documents(item.memory):
                taken.setdefault(document, tokens)
        return tuple(taken), tuple(taken.values())

    def documents(self, memory: Memory) -> list[str]:
        """The documents that a memory stands for."""
        return documents_of(memory, self.ids, self.engine.store)

    def _context_tokens(self, items: Sequence[Item]) -> list[int]:
        """The tokens of the plain context up to each item; the same format for all recipes."""
        total, totals = count_tokens(HEADER), list[int]()
        for item in items:
            total += self._line_tokens(item)
            totals.append(total)
        return totals

    def _line_tokens(self, item: Item) -> int:
        memory = item.memory
        if memory.id not in self._tokens:
            written = line(item.rank, memory, LONGEST_LINE, memory.times.valid_from)
            self._tokens[memory.id] = count_tokens(f"\n{written}")
        return self._tokens[memory.id]


def documents_of(memory: Memory, ids: Mapping[str, str], store: Reader) -> list[str]:
    """The document that a memory is, else those it was derived from, else its own id, since it takes up a rank."""
    if memory.id in ids:
        return [ids[memory.id]]
    source = memory.origin.source
    cited = [] if source is None else [source, memory_id("", scope=SCOPE, key=source)]
    for link in store.links([memory.id]):
        if link.relation in (CITES, PROVENANCE) and link.source == memory.id:
            cited.append(link.target)
        elif link.relation in (STATES, DENIES) and link.target == memory.id:
            cited.append(link.source)
    known = [ids[id] for id in cited if id in ids]
    return list(dict.fromkeys(known)) or [memory.id]


def _moments(documents: Sequence[Document]) -> list[datetime]:
    """The time of each document; one without a time has that of the document before it."""
    latest = next((document.at for document in documents if document.at is not None), TIMELESS)
    moments: list[datetime] = []
    for document in documents:
        latest = document.at or latest
        moments.append(instant(latest))
    return moments


def _bulk(group: Group, asked_at: datetime) -> datetime | None:
    """When the first question of a group is asked; None for documents without times, whose storing has none either."""
    if all(document.at is None for document in group.documents):
        return None
    return min([asked_at, *(instant(question.at) for question in group.questions if question.at is not None)])


def _fields(group: Group, moments: Sequence[datetime], stored: datetime | None) -> Iterator[dict[str, Any]]:
    """The documents of a group as arguments of `remember`, each stored at its own time unless all are at once.

    A conversation without sessions is one session, and the place of a document is its position.
    """
    for position, (document, moment) in enumerate(zip(group.documents, moments, strict=True)):
        if document.text.strip():
            yield {
                "text": document.text,
                "key": document.id,
                "scope": SCOPE,
                "at": moment,
                "ingested_at": stored or moment,
                "position": position if group.conversation else None,
                "session": document.session or (document.speaker and group.name if group.conversation else None),
                "speaker": document.speaker,
            }


def _stage_times(recall: Recall) -> dict[str, float]:
    times: defaultdict[str, float] = defaultdict(float)
    for step in recall.trace.steps:
        times[step.stage] += step.ms
    return {stage: round(ms, 4) for stage, ms in times.items()}

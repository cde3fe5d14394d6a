"""Running an experiment: every recipe and baseline over every question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol, Self

from memorist.bench.model import Answer, BenchRun, Dataset, Document, Group, Question
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, MissingService
from memorist.model import DENIES, STATES, Item, Kind, Memory, Recall, instant, memory_id
from memorist.ports import Embedder, Progress, Reranker
from memorist.recall.assemble import HEADER, SOURCE_OF, Assemble, line
from memorist.recall.fuse import Best, ReciprocalRank
from memorist.recall.pipeline import REMEDIES, Pipeline
from memorist.recall.prepare import Embed
from memorist.recall.recipes import RECIPES
from memorist.recall.request import RecallOptions
from memorist.recall.search import Search
from memorist.recall.select import Limit
from memorist.recall.signals import Keyword, Vector
from memorist.recall.stage import Signal
from memorist.stores.memory import MemoryStore
from memorist.text.tokens import count_tokens

BM25 = Pipeline("bm25", (Search((Keyword(),)), Best(), Limit(), Assemble()))
COSINE = Pipeline("cosine", (Embed(), Search((Vector(),)), Best(), Limit(), Assemble()))
RRF = Pipeline("rrf", (Embed(), Search((Vector(), Keyword())), ReciprocalRank(k=60), Limit(), Assemble()))

BASELINES: dict[str, Pipeline] = {one.name: one for one in (BM25, COSINE, RRF)}
ALL = "all"
"""Stands for every recipe that ships."""


def chosen(names: list[str], known: dict[str, Pipeline]) -> list[Pipeline]:
    """The pipelines of these names, each once; `known` are the recipes there are besides the baselines."""
    pipelines = {**BASELINES, **known}
    wanted = [one for name in names for one in (RECIPES if name == ALL else [name])]
    for name in wanted:
        if name not in pipelines:
            raise InvalidInput(
                f"There is no recipe {name!r}", remedy=f"Choose {ALL} or some of {', '.join([*known, *BASELINES])}."
            )
    return [pipelines[name] for name in dict.fromkeys(wanted)]


LIMIT = 50
"""Items asked for, so that recall@50 can be measured."""
CONTEXT_ITEMS = 10
"""Items of the context whose tokens are the figure `tokens`."""
LONGEST_LINE = 1200
TIMELESS = datetime(2024, 1, 1, 12, tzinfo=UTC)
"""When a group was said whose documents bear no times."""
WARM_UP = "warm-up"
SCOPE = "global"


@dataclass(frozen=True, slots=True)
class Setup:
    """What every recipe of a run is given."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    limit: int = LIMIT
    packaged: Reranker | None = None

    @property
    def reader(self) -> Reranker | None:
        """The reranker that is configured, else the packaged one."""
        return self.reranker or self.packaged

    def lacks(self, pipeline: Pipeline) -> list[str]:
        """The parts of a recipe that will be skipped, each with the service it misses."""
        return [
            f"{part.kind} (no {service})"
            for part in pipeline.parts()
            for service in part.optional
            if self._misses(service)
        ]

    def check(self, pipeline: Pipeline) -> None:
        """Refuse a recipe that cannot run, or could find nothing because each of its signals misses its service."""
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


class Journal(Protocol):
    """Where answers are kept while a run lasts, so that an interrupted one can go on."""

    def answers(self, recipe: str, group: str) -> tuple[Answer, ...] | None:
        """What a recipe answered to a group's questions before, if it did."""
        ...

    def add(self, recipe: str, group: str, answers: Sequence[Answer]) -> None:
        """Keep what a recipe answered to a group's questions."""
        ...


def run(
    dataset: Dataset,
    pipelines: Sequence[Pipeline],
    setup: Setup,
    *,
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> list[BenchRun]:
    """Put every question to every recipe; groups without questions are not even read."""
    for pipeline in pipelines:
        setup.check(pipeline)
    tell = progress or _silent
    answers: defaultdict[str, list[Answer]] = defaultdict(list)
    for group in dataset.groups:
        if group.questions:
            for name, found in _run_group(group, pipelines, setup, journal, tell):
                answers[name] += found
    return [BenchRun(pipeline.name, tuple(answers[pipeline.name])) for pipeline in pipelines]


def _silent(_more: int) -> None:
    pass


def work(dataset: Dataset, recipes: int) -> int:
    """How much `run` tells its progress in all: a document once, a question once a recipe."""
    return sum(len(one.documents) + recipes * len(one.questions) for one in dataset.groups if one.questions)


def narrowed(dataset: Dataset, *, groups: Sequence[str] = (), questions: int | None = None) -> Dataset:
    """Only these groups, and so many questions spread evenly over them."""
    names = [group.name for group in dataset.groups]
    for name in groups:
        if name not in names:
            raise InvalidInput(
                f"{dataset.name} has no group {name!r}",
                remedy=f"Choose from {', '.join(names[:20])}{' …' if len(names) > 20 else ''}.",
            )
    kept = tuple(group for group in dataset.groups if not groups or group.name in groups)
    return replace(dataset, groups=kept if questions is None else _spread(kept, questions))


def _spread(groups: tuple[Group, ...], wanted: int) -> tuple[Group, ...]:
    total = sum(len(group.questions) for group in groups)
    if wanted < 1:
        raise InvalidInput(f"{wanted} questions measure nothing", remedy="Ask for at least 1.")
    places = {place * total // wanted for place in range(wanted)} if wanted < total else set(range(total))
    numbered = iter(range(total))
    return tuple(
        replace(group, questions=tuple(one for one in group.questions if next(numbered) in places)) for group in groups
    )


def _run_group(
    group: Group, pipelines: Sequence[Pipeline], setup: Setup, journal: Journal | None, tell: Progress
) -> Iterator[tuple[str, tuple[Answer, ...]]]:
    known = {one.name: journal.answers(one.name, group.name) if journal else None for one in pipelines}
    for name, answers in known.items():
        if answers is not None:
            tell(len(answers))
            yield name, answers
    fresh = [one for one in pipelines if known[one.name] is None]
    if not fresh:
        tell(len(group.documents))
        return
    with Space(group, fresh, setup, progress=tell) as space:
        for pipeline in fresh:
            answers = tuple(space.answers(pipeline.name, tell))
            if journal:
                journal.add(pipeline.name, group.name, answers)
            yield pipeline.name, answers


class _StandingClock:
    """Tells the time it was set to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment it was set to."""
        return self.moment


class Space:
    """One group as an open memory: its documents remembered, its questions to be put to any of the recipes."""

    def __init__(
        self, group: Group, pipelines: Sequence[Pipeline], setup: Setup, *, progress: Progress | None = None
    ) -> None:
        self._group = group
        self._limit = setup.limit
        moments = _moments(group.documents)
        self._clock = _StandingClock(moments[-1] if moments else TIMELESS)
        self._asked_at = max(moments, default=TIMELESS) + timedelta(days=1)
        self.engine = Engine(
            MemoryStore("bench"),
            embedder=setup.embedder,
            reranker=setup.reranker,
            packaged=setup.packaged,
            recipe=pipelines[0].name,
            recipes={one.name: one for one in pipelines},
            clock=self._clock,
        )
        self.engine.remember_many(_fields(group, moments), progress=progress)
        self._documents = {_id_of(document): document.id for document in group.documents}
        self._tokens: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.close()

    def answers(self, recipe: str, tell: Progress) -> Iterator[Answer]:
        """What a recipe answers to every question, after one recall that is not counted: it fills the index."""
        self._clock.moment = self._asked_at
        self.engine.recall(WARM_UP, **self._options(recipe))
        for question in self._group.questions:
            yield self.answer(question, recipe)
            tell(1)

    def answer(self, question: Question, recipe: str) -> Answer:
        """One recall, timed, as the documents that its items are or come from."""
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
            confidence=_confidence(recall),
            abstained=recall.abstained,
        )

    def recall(self, question: Question, recipe: str) -> Recall:
        """A recall at the question's own time, or a day after the group's last document; nothing is written."""
        self._clock.moment = self._moment(question)
        return self.engine.recall(question.text, **self._options(recipe))

    def _options(self, recipe: str) -> RecallOptions:
        options: RecallOptions = {"recipe": recipe, "limit": self._limit, "track": False}
        if recipe in BASELINES:  # plain rankings of what was said, not of the facts we make of it
            options["kinds"] = [Kind.EPISODIC]
        return options

    def _moment(self, question: Question) -> datetime:
        return self._asked_at if question.at is None else instant(question.at)

    def absence(self, question: Question, recipe: str, document: str) -> str:
        """Why a recall does not return a document."""
        memory = next(id for id, own in self._documents.items() if own == document)
        if self.engine.get(memory) is None:
            return "it was never remembered: it has no text"
        self._clock.moment = self._moment(question)
        return self.engine.why_not(question.text, memory, **self._options(recipe)).reason

    def _credited(self, items: Sequence[Item]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The documents in order, each once, with the tokens that the context had taken when it came."""
        taken: dict[str, int] = {}
        for item, tokens in zip(items, self._context_tokens(items), strict=True):
            for document in self.documents(item.memory):
                taken.setdefault(document, tokens)
        return tuple(taken), tuple(taken.values())

    def documents(self, memory: Memory) -> list[str]:
        """The document a memory is, else those it was derived from, else itself: it takes a place all the same."""
        if memory.id in self._documents:
            return [self._documents[memory.id]]
        source = memory.origin.source
        cited = [] if source is None else [source, memory_id("", scope=SCOPE, key=source)]
        for link in self.engine.store.links([memory.id]):
            if link.relation == SOURCE_OF and link.source == memory.id:
                cited.append(link.target)
            elif link.relation in (STATES, DENIES) and link.target == memory.id:
                cited.append(link.source)
        known = [self._documents[id] for id in cited if id in self._documents]
        return list(dict.fromkeys(known)) or [memory.id]

    def _context_tokens(self, items: Sequence[Item]) -> list[int]:
        """The tokens of the plain context up to each item, alike for all recipes."""
        total, totals = count_tokens(HEADER), list[int]()
        for item in items:
            total += self._line_tokens(item)
            totals.append(total)
        return totals

    def _line_tokens(self, item: Item) -> int:
        memory = item.memory
        if memory.id not in self._tokens:
            self._tokens[memory.id] = count_tokens(f"\n{line(item.rank, memory, LONGEST_LINE)}")
        return self._tokens[memory.id]


def _id_of(document: Document) -> str:
    return memory_id(document.text, scope=SCOPE, key=document.id)


def _moments(documents: Sequence[Document]) -> list[datetime]:
    """When each document was said; one without a time was said with the one before it."""
    latest = next((one.at for one in documents if one.at is not None), TIMELESS)
    moments: list[datetime] = []
    for document in documents:
        latest = document.at or latest
        moments.append(instant(latest))
    return moments


def _fields(group: Group, moments: Sequence[datetime]) -> Iterator[dict[str, Any]]:
    """What is remembered of a group; talk that is not cut into sessions is one."""
    for position, (document, moment) in enumerate(zip(group.documents, moments, strict=True)):
        if document.text.strip():
            yield {
                "text": document.text,
                "key": document.id,
                "scope": SCOPE,
                "at": moment,
                "ingested_at": moment,
                "position": position,
                "session": document.session or (document.speaker and group.name),
                "speaker": document.speaker,
            }


def _confidence(recall: Recall) -> float:
    """How sure a recipe is, or else how well its first item scored."""
    if recall.confidence is not None:
        return recall.confidence
    return recall.items[0].score if recall.items else 0.0


def _stage_times(recall: Recall) -> dict[str, float]:
    times: defaultdict[str, float] = defaultdict(float)
    for step in recall.trace.steps:
        times[step.stage] += step.ms
    return {stage: round(ms, 4) for stage, ms in times.items()}

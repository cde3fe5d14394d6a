"""Evidence: judged questions from the feedback in a memory and from files, each with the memory it is asked of.

A question of a file is asked of the open memory if its judged ids are ids or keys of memories there. Otherwise the file
brings its own memories, which are kept in a temporary space, as the bench does.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from memorist.config import Config
from memorist.engine.open import open_store
from memorist.errors import InvalidInput
from memorist.model import RecallOptions, RecallRequest, instant
from memorist.model.request import recall_request
from memorist.models import embedders, rerankers
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Embedder, Reranker, Store, View
from memorist.recall.pipeline import Pipeline
from memorist.recall.stage import Env
from memorist.upkeep.feedback import judged_recalls
from memorist_bench import datasets
from memorist_bench.datasets.reading import json_document, read_bytes
from memorist_bench.model import Dataset, Group, Question
from memorist_bench.space import Setup, Space
from memorist_bench.tune.replay import DEPTH, JudgedQuestion, Readings, ReplaySpace, ReplayStore, Searches
from memorist_import.rows import fields

FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True)
class JudgedQuestions:
    """The judged questions, and how many each source gave: the name of a file, or `feedback`.

    Of two questions with the same words, the one that was judged first counts: files come before feedback.
    """

    questions: tuple[JudgedQuestion, ...]
    sources: Mapping[str, int]


@contextmanager
def gather_questions(
    config: Config, recipe: Pipeline, files: Sequence[Path], now: datetime
) -> Generator[JudgedQuestions]:
    """The evidence of a memory and of files; the memories are open within the block, and nothing is written."""
    embedder = embedders.build(config.embedder, options=config.embedder_options, models=config.models)
    reranker = rerankers.build(config.reranker, options=config.reranker_options, models=config.models)
    with ExitStack() as closing:
        pool = closing.enter_context(ThreadPoolExecutor(thread_name_prefix="memorist"))
        store = open_store(config.db, config.space, config.index_in_server, create=False)
        closing.callback(store.close)
        found: dict[tuple[int, str], JudgedQuestion] = {}
        sources: dict[str, int] = {}
        own = Own(store, environment(store, embedder, reranker, pool), now)
        setup = Setup(embedder, reranker, DEPTH, config.extract)
        recipe.check(own.place({}).env)
        given: list[tuple[str, Iterable[JudgedQuestion]]] = [
            *((file.name, _from_file(file, own, recipe, setup, closing, pool)) for file in files),
            (FEEDBACK, own.from_feedback()),
        ]
        for source, questions in given:
            before = len(found)
            for question in questions:
                found.setdefault((id(question.place.env), _same(question.request.query)), question)
            sources[source] = sources.get(source, 0) + len(found) - before
        yield JudgedQuestions(tuple(found.values()), sources)


def environment(store: Store, embedder: Embedder | None, reranker: Reranker | None, pool: Executor) -> Env:
    """The services of every replay: one view of the store, and models that are asked once. No language model."""
    view = store.view()
    return Env(
        store=cast("Store", ReplayStore(store)),
        view=cast("View", Searches(view)),
        pool=pool,
        embedder=None if embedder is None else StoreEmbedder(embedder, store).at(view.embedding),
        reranker=None if reranker is None else Readings(reranker),
    )


class Own:
    """The open memory, and the questions that are asked of it."""

    def __init__(self, store: Store, env: Env, now: datetime) -> None:
        self._store = store
        self._env = env
        self._now = now

    def place(self, documents: Mapping[str, str]) -> ReplaySpace:
        """This memory, judged by these of its memories."""
        return ReplaySpace(self._env, documents)

    def from_feedback(self) -> list[JudgedQuestion]:
        """The recalls with a useful item that is still there, asked again at their time; equal queries are one."""
        useful: dict[str, set[str]] = {}
        last: dict[str, tuple[str, datetime]] = {}
        for recall in judged_recalls(self._store):
            same = _same(recall.query)
            useful[same] = (useful.get(same, set()) | recall.useful) - recall.wrong
            last[same] = recall.query, recall.at
        asked: list[JudgedQuestion] = []
        for same, (query, at) in last.items():
            gold = dict.fromkeys(sorted(self._store.get(sorted(useful[same]))), 1.0)
            if gold:
                asked.append(JudgedQuestion(_request(query, at), gold, self.place({id: id for id in gold})))
        return asked

    def from_questions(
        self, questions: Sequence[Question], texts: Mapping[str, str] | None = None
    ) -> list[JudgedQuestion]:
        """The questions with a judged memory that is here, asked at their time with the knowledge of today.

        A memory is judged by its id or its key. `texts` are those of the documents that a dataset brings: another text
        under the same key is another memory.
        """
        ids = sorted({id for question in questions for id in question.gold})
        here = {id: id for id in self._store.get(ids)}
        for memory in self._store.by_key(ids):
            key = memory.origin.key
            if key is not None and memory.version_of is None and (texts is None or texts.get(key) == memory.text):
                here[memory.id] = key
        place, known = self.place(here), set(here.values())
        return [
            JudgedQuestion(
                _request(question.text, question.at or self._now, as_of=question.as_of, known_at=self._now),
                {id: grade for id, grade in question.gold.items() if id in known},
                place,
            )
            for question in questions
            if known & {id for id, grade in question.gold.items() if grade > 0}
        ]


def _same(query: str) -> str:
    """A query without case and white space: equal ones are one question."""
    return " ".join(query.casefold().split())


def _request(query: str, now: datetime, **moments: datetime | None) -> RecallRequest:
    given = {name: moment for name, moment in moments.items() if moment is not None}
    return recall_request(query, cast("RecallOptions", {"limit": DEPTH, "track": False, **given}), now)


def _from_file(
    file: Path, own: Own, recipe: Pipeline, setup: Setup, closing: ExitStack, pool: Executor
) -> Iterator[JudgedQuestion]:
    """The questions of a file: of the open memory, or of the memories that the file brings."""
    questions = _own_questions(file)
    if questions is not None:
        yield from own.from_questions(questions)
        return
    for group in _dataset(file).groups:
        own_texts = {document.id: document.text for document in group.documents}
        asked = own.from_questions(group.questions, own_texts)
        yield from asked or of_group(group, recipe, setup, closing, pool)


def of_group(group: Group, recipe: Pipeline, setup: Setup, closing: ExitStack, pool: Executor) -> list[JudgedQuestion]:
    """The judged questions of a group, asked of its own documents in a space that is open until `closing` ends."""
    judged = [question for question in group.questions if any(grade > 0 for grade in question.gold.values())]
    if not judged:
        return []
    space = closing.enter_context(Space(group, [recipe], setup))
    place = ReplaySpace(environment(space.engine.store, setup.embedder, setup.reranker, pool), space.ids)
    return [
        JudgedQuestion(_request(question.text, space.moment(question), as_of=question.as_of), question.gold, place)
        for question in judged
    ]


def _own_questions(file: Path) -> list[Question] | None:
    """The questions of a file in the form of a world that brings no memories; None for a dataset."""
    if file.suffix != ".json" or not file.is_file():
        return None
    document = json_document(file, read_bytes(file))
    if not isinstance(document, dict) or "memories" in document:
        return None
    world = fields(cast("object", document), str(file))
    now = world.moment("now", instant)
    return [
        Question(
            id=str(number),
            text=one.text("text"),
            gold=dict.fromkeys(map(str, one.items("gold")), 1.0),
            at=now,
            as_of=one.moment("as_of", instant),
        )
        for number, one in enumerate(world.objects("questions"), 1)
    ]


def _dataset(file: Path) -> Dataset:
    if not file.exists():
        raise InvalidInput(f"There is no file {file}", remedy="Pass a file or folder with judged questions.")
    return datasets.load(file)

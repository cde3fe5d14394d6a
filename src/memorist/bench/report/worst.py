"""The questions a recipe answered worst: what was wanted, what was found instead, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memorist.bench.measures import Row, Summary
from memorist.bench.model import Dataset, Group, Question
from memorist.bench.runner import Setup, Space
from memorist.model import Item, Recall, fingerprint
from memorist.recall.pipeline import Pipeline

MANY = 20
FOUND_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that answers the question: its place in the answer or None, and how it came there or why not."""

    document: str
    text: str
    rank: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """An item that came instead, or beside."""

    document: str
    text: str
    right: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A question whose evidence was not found, or far down."""

    group: str
    question: Question
    wanted: tuple[Wanted, ...]
    found: tuple[Found, ...]


def worst(dataset: Dataset, summary: Summary, pipeline: Pipeline, setup: Setup, many: int = MANY) -> list[Failure]:
    """The worst questions by recall@10 and then by the place of the first hit, explained."""
    rows = sorted((row for row in summary.rows if row.answerable and row.turns["recall@10"] < 1), key=_badness)[:many]
    groups = {group.name: group for group in dataset.groups}
    asked: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        asked[row.group].append(row)
    failures: dict[tuple[str, str], Failure] = {}
    for name, some in asked.items():
        failures |= _explained(groups[name], some, pipeline, setup)
    return [failures[row.group, row.question] for row in rows]


def _badness(row: Row) -> tuple[float, float, str]:
    # Ties go by a hash, or all the examples would come from the first group.
    return row.turns["recall@10"], row.turns["mrr@50"], fingerprint(row.group, row.question)


def _explained(group: Group, rows: Sequence[Row], pipeline: Pipeline, setup: Setup) -> dict[tuple[str, str], Failure]:
    questions = {question.id: question for question in group.questions}
    texts = {document.id: document.text for document in group.documents}
    with Space(group, [pipeline], setup) as space:
        return {
            (group.name, row.question): _failure(group.name, questions[row.question], texts, space, pipeline.name)
            for row in rows
        }


def _failure(group: str, question: Question, texts: dict[str, str], space: Space, recipe: str) -> Failure:
    recall = space.recall(question, recipe)
    gold = [document for document, grade in question.gold.items() if grade > 0]
    places = {document: item for item in reversed(recall.items) for document in space.documents(item.memory)}
    wanted = [
        Wanted(
            document,
            texts.get(document, ""),
            places[document].rank if document in places else None,
            _reason(space, recall, places[document])
            if document in places
            else space.absence(question, recipe, document),
        )
        for document in gold
    ]
    found = [
        Found(
            ", ".join(own := space.documents(item.memory)),
            item.memory.text,
            not set(gold).isdisjoint(own),
            _reason(space, recall, item),
        )
        for item in recall.items[:FOUND_SHOWN]
    ]
    return Failure(group, question, tuple(wanted), tuple(found))


def _reason(space: Space, recall: Recall, item: Item) -> str:
    """The explanation of an item without its first line, which repeats the text."""
    explanation = space.engine.explain(recall, item.memory.id)
    return "\n".join([f"score {item.score:.4g}", *map(str, explanation.details)])

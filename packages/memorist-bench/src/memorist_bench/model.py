"""The data of the bench: datasets with judgements, and the answers of recipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

Reranking = Literal["documented", "none", "all"]
"""Which recipes rerank: those whose document says so, none, or all; then those without a reranker get one."""
Ingest = Literal["replayed", "used", "bulk"]
"""When the texts of a group are stored: each at its own time, or all of them just before the questions.

Used is replayed with an agent: before it is stored, each text of the first speaker is recalled by the recipe.
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A text to remember."""

    id: str
    text: str
    at: datetime | None = None
    speaker: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the grades of the documents that answer it, by id.

    `answerable` is False if the group holds no answer; documents on the topic may be judged all the same. `also` are
    documents that may come too: for an update, those that say what held before. `as_of` asks for the past.
    """

    id: str
    text: str
    gold: Mapping[str, float]
    at: datetime | None = None
    type: str | None = None
    answerable: bool = True
    as_of: datetime | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that are searched together, as one space, and the questions about them.

    `conversation` if the documents follow one another: they then have positions, and share a session if they have none.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    conversation: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """Judged data, as read from disk; the checksum identifies its exact content."""

    name: str
    groups: tuple[Group, ...]
    checksum: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a recipe for one question: document ids, best first, with time and tokens.

    `tokens` are those of plain lines for the first items, `context_tokens` those of the context that the recipe wrote.
    `tokens_at` holds, for each document, the plain tokens up to and including its item. `skipped` are the stages that
    did not run, because a model is missing, fails, or does not read the question.
    """

    group: str
    question: str
    ranked: tuple[str, ...]
    ms: float
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    tokens: int = 0
    tokens_at: tuple[int, ...] = ()
    confidence: float | None = None
    abstained: bool = False
    skipped: tuple[str, ...] = ()
    context_tokens: int = 0


@dataclass(frozen=True, slots=True)
class BenchRun:
    """All answers of one recipe on one dataset, in the dataset's order."""

    recipe: str
    answers: tuple[Answer, ...]

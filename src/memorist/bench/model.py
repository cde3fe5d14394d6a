"""The nouns of the bench: datasets with judgements, and what a recipe answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Document:
    """A text to be remembered; its place in its group is its position in the talk."""

    id: str
    text: str
    at: datetime | None = None
    speaker: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the documents that answer it, by id, with how much each counts.

    `answerable` False: the group holds no answer, though evidence of the topic may be judged.
    """

    id: str
    text: str
    gold: Mapping[str, float]
    at: datetime | None = None
    type: str | None = None
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that are searched together, one space, and the questions put to them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Judged data, as read from disk; the checksum names its exact content."""

    name: str
    groups: tuple[Group, ...]
    checksum: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a recipe returned for one question: document ids best first, and what that cost.

    `tokens_at` holds the context tokens that the first so many items took, item by item.
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


@dataclass(frozen=True, slots=True)
class BenchRun:
    """All answers of one recipe on one dataset, in the dataset's order."""

    recipe: str
    answers: tuple[Answer, ...]

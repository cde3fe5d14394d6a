"""The file formats of LoCoMo, LongMemEval and everyday worlds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from memorist.model import instant
from memorist.text.patterns import lazy
from memorist_bench.model import Document, Group, Question
from memorist_import.datasets import locomo_turns, longmemeval_moment, longmemeval_turns
from memorist_import.rows import RowFields, invalid_data

UNANSWERABLE = "adversarial"
TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: UNANSWERABLE}
EVIDENCE = lazy(r"D:?(\d+):(\d+)")


def locomo_groups(records: Sequence[RowFields]) -> Iterator[Group]:
    """One group per conversation."""
    return (_locomo_group(record) for record in records)


def _locomo_group(record: RowFields) -> Group:
    name = record.text("sample_id")
    documents: dict[str, Document] = {}
    for document in _documents(name, record.object("conversation")):
        if document.id in documents:
            raise invalid_data(record.place, f"duplicate turn {document.id!r}")
        documents[document.id] = document
    questions = (
        _question(f"{name}/q{number}", asked, _gold(name, asked, documents))
        for number, asked in enumerate(record.objects("qa"))
    )
    return Group(name, tuple(documents.values()), tuple(question for question in questions if question.gold))


def _documents(name: str, conversation: RowFields) -> Iterator[Document]:
    for turn in locomo_turns(conversation):
        yield Document(
            f"{name}/{turn.id}", f"{turn.speaker}: {turn.text}", turn.at, turn.speaker, f"{name}/{turn.session}"
        )


def _gold(name: str, asked: RowFields, documents: Mapping[str, Document]) -> dict[str, float]:
    written = " ".join(str(item) for item in asked.items("evidence"))
    ids = (f"{name}/D{int(session)}:{int(turn)}" for session, turn in EVIDENCE.findall(written))
    return {id: 1.0 for id in ids if id in documents}


def _question(id: str, asked: RowFields, gold: Mapping[str, float]) -> Question:
    category = asked.values.get("category")
    if not isinstance(category, int) or category not in TYPES:
        raise invalid_data(asked.place, f"unknown category {category!r}, not one of {', '.join(map(str, TYPES))}")
    kind = TYPES[category]
    return Question(id, asked.text("question"), gold, type=kind, answerable=kind != UNANSWERABLE)


ABSTENTION = "_abs"


def longmemeval_groups(records: Sequence[RowFields]) -> Iterator[Group]:
    """One group per question: each has its own history. Questions that have no answer are left out."""
    for record in records:
        if not record.text("question_id").endswith(ABSTENTION):
            yield _longmemeval_group(record)


def _longmemeval_group(record: RowFields) -> Group:
    name = record.text("question_id")
    documents: list[Document] = []
    gold: dict[str, float] = {}
    for turn in longmemeval_turns(record):
        document = Document(f"{name}/{turn.id}", turn.text, turn.at, turn.speaker, turn.session)
        documents.append(document)
        if turn.answers:
            gold[document.id] = 1.0
    question = Question(
        id=name,
        text=record.text("question"),
        gold=gold,
        at=record.moment("question_date", longmemeval_moment),
        type=record.optional_text("question_type"),
    )
    return Group(name, tuple(documents), (question,) if gold else ())


def world_group(name: str, world: RowFields) -> Group:
    """One world: what was said over months, and questions that are asked at its `now`; empty gold has no answer."""
    documents: dict[str, Document] = {}
    for said in world.objects("memories"):
        id = said.text("id")
        if id in documents:
            raise invalid_data(said.place, f"duplicate memory {id!r}")
        speaker, session = said.optional_text("speaker"), said.optional_text("session")
        documents[id] = Document(id, said.text("text"), said.moment("at", instant), speaker, session)
    now = world.moment("now", instant)
    questions = {value.text("id"): _world_question(value, now, documents) for value in world.objects("questions")}
    return Group(name, tuple(documents.values()), tuple(questions.values()), conversation=False)


def _world_question(asked: RowFields, now: datetime | None, documents: Mapping[str, Document]) -> Question:
    gold, also = (list(map(str, asked.items(name))) for name in ("gold", "also"))
    for id in (*gold, *also):
        if id not in documents:
            raise invalid_data(asked.place, f"there is no memory {id!r}")
    return Question(
        id=asked.text("id"),
        text=asked.text("text"),
        gold=dict.fromkeys(gold, 1.0),
        at=now,
        type=asked.optional_text("type"),
        answerable=bool(gold),
        as_of=asked.moment("as_of", instant),
        also=tuple(also),
    )

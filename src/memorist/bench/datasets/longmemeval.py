"""LongMemEval's own files: questions, each with its own history of chats with an assistant (Wu et al. 2025).

A turn is gold where it is marked `has_answer`, a session where one of its turns is. Sessions are told in the order of
their dates, which is not always that of the file. Questions about what was never said (ids in `_abs`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from memorist.bench.datasets.reading import Fields, broken, objects
from memorist.bench.model import Document, Group, Question

ABSTENTION = "_abs"
WEEKDAY = re.compile(r"\s*\(\w+\)")


def groups(records: Sequence[Fields]) -> Iterator[Group]:
    """One group for each question with a marked turn: its history is its own."""
    for record in records:
        if not record.text("question_id").endswith(ABSTENTION):
            yield _group(record)


def _group(record: Fields) -> Group:
    name = record.text("question_id")
    documents: list[Document] = []
    gold: dict[str, float] = {}
    for document, answers in _turns(name, record):
        documents.append(document)
        if answers:
            gold[document.id] = 1.0
    question = Question(
        id=name,
        text=record.text("question"),
        gold=gold,
        at=record.moment("question_date", _moment),
        type=record.optional_text("question_type"),
    )
    return Group(name, tuple(documents), (question,) if gold else ())


def _turns(name: str, record: Fields) -> Iterator[tuple[Document, bool]]:
    for number, at, session, turns in _sessions(record):
        for place, turn in enumerate(turns, 1):
            document = Document(
                id=f"{name}/{number}:{place}",
                text=turn.text("content"),
                at=at,
                speaker=turn.text("role"),
                session=session,
            )
            yield document, turn.values.get("has_answer") is True


def _sessions(record: Fields) -> list[tuple[int, datetime, str, list[Fields]]]:
    """Number in the file, date, id and turns of each session, the earliest first."""
    columns = [record.items(name) for name in ("haystack_dates", "haystack_session_ids", "haystack_sessions")]
    if len({len(column) for column in columns}) > 1:
        raise broken(record.place, "there are not as many dates and ids as sessions")
    sessions = [
        (number, record.read_moment(str(date), _moment), str(id), objects(turns, f"{record.place}, session {number}"))
        for number, (date, id, turns) in enumerate(zip(*columns, strict=True), 1)
    ]
    return sorted(sessions, key=lambda session: session[1])


def _moment(written: str) -> datetime:
    """Such as `2023/05/20 (Sat) 02:21`."""
    return datetime.strptime(WEEKDAY.sub("", written.strip()), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)

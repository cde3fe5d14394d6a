"""The files of LoCoMo and LongMemEval: long conversations with dates, for experiments and for the bench."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memorist.errors import InvalidInput
from memorist.remember.ingest.model import DraftMemory, Found, Skipped
from memorist.remember.ingest.values import Object, as_object
from memorist.text.patterns import lazy
from memorist_import.rows import RowFields, fields, invalid_data, objects

if TYPE_CHECKING:
    from memorist.remember.record import Fields

QUESTIONS = "questions about the conversation, not part of it"
_SESSION = lazy(r"session_(\d{1,9})")
_WEEKDAY = lazy(r"\(\w{1,9}\)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dataset; `id` is unique in its conversation, and `answers` marks evidence of LongMemEval."""

    id: str
    session: str
    speaker: str
    text: str
    at: datetime | None
    answers: bool = False


def locomo_turns(conversation: RowFields) -> Iterator[Turn]:
    """The turns of a conversation of LoCoMo, session by session; a shared image is told by its caption."""
    numbers = sorted(int(found[1]) for key in conversation.values if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        session = f"session_{number}"
        at = conversation.moment(f"{session}_date_time", locomo_moment)
        for turn in conversation.objects(session):
            caption = turn.optional_text("blip_caption")
            image = "" if caption is None else f" [shared image: {caption}]"
            yield Turn(turn.text("dia_id"), session, turn.text("speaker"), turn.text("text") + image, at)


def locomo_moment(written: str) -> datetime:
    """Parses times such as `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def longmemeval_turns(record: RowFields) -> Iterator[Turn]:
    """The turns of the history of a question of LongMemEval, earliest session first."""
    for number, at, session, turns in _sessions(record):
        for place, turn in enumerate(turns, 1):
            answers = turn.values.get("has_answer") is True
            yield Turn(f"{number}:{place}", session, turn.text("role"), turn.text("content"), at, answers)


def _sessions(record: RowFields) -> list[tuple[int, datetime, str, list[RowFields]]]:
    """The number in the file, date, id and turns of each session, earliest first."""
    columns = [record.items(name) for name in ("haystack_dates", "haystack_session_ids", "haystack_sessions")]
    if len({len(column) for column in columns}) > 1:
        raise invalid_data(record.place, "the numbers of dates, ids and sessions differ")
    sessions = [
        (
            number,
            record.read_moment(str(date), longmemeval_moment),
            str(id),
            objects(turns, f"{record.place}, session {number}"),
        )
        for number, (date, id, turns) in enumerate(zip(*columns, strict=True), 1)
    ]
    return sorted(sessions, key=lambda session: session[1])


def longmemeval_moment(written: str) -> datetime:
    """Parses times such as `2023/05/20 (Sat) 02:21`."""
    return datetime.strptime(_WEEKDAY.sub("", written.strip()), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def is_locomo(given: Object) -> bool:
    """Whether an object is a conversation of LoCoMo."""
    conversation = as_object(given.get("conversation"))
    return isinstance(given.get("qa"), list) and any(_SESSION.fullmatch(key) for key in conversation)


def is_longmemeval(given: Object) -> bool:
    """Whether an object is a question of LongMemEval with its history."""
    return isinstance(given.get("haystack_sessions"), list)


def locomo_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns of a conversation, which is a scope of its own."""
    row = fields(dict(given), where)
    return _drafts("locomo", row, "sample_id", lambda: locomo_turns(row.object("conversation")))


def longmemeval_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns of the history of a question, which is a scope of its own."""
    row = fields(dict(given), where)
    return _drafts("longmemeval", row, "question_id", lambda: longmemeval_turns(row))


def _drafts(set_name: str, row: RowFields, id: str, turns: Callable[[], Iterator[Turn]]) -> Iterator[Found]:
    """The turns up to the first that is broken; the questions and their answers are left out."""
    try:
        name = row.text(id)
        for turn in turns():
            given: Fields = {"speaker": turn.speaker, "scope": name, "key": f"{set_name}:{name}:{turn.id}"}
            if turn.at:
                given["at"] = turn.at
            yield DraftMemory(turn.text, f"{row.place}, turn {turn.id}", given, f"{name}/{turn.session}")
    except InvalidInput as error:
        yield Skipped(row.place, error.problem)
    if row.values.get("qa") or row.values.get("question"):
        yield Skipped(row.place, QUESTIONS)

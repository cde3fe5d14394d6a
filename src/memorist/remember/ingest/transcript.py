"""Transcripts: lines with a speaker, often with a time."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memorist.remember.ingest.messages import ROLES, SYSTEM
from memorist.remember.ingest.model import DraftMemory, Found, Skipped
from memorist.remember.ingest.values import moment
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.remember.record import Fields


_NUMERIC = lazy(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})"
    r"(?:,?[T ]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[ \u202f\u00a0]?([AaPp])\.?[Mm]\.?)?)?"
)


class Stamps:
    """Turns a transcript's stamps into moments; an order of day and month that no stamp settles is not guessed."""

    def __init__(self, stamps: Sequence[str]) -> None:
        dates = [(int(found[1]), int(found[2])) for stamp in stamps if (found := _NUMERIC.fullmatch(stamp.strip()))]
        day_first = any(first > 12 for first, _ in dates)
        month_first = any(second > 12 for _, second in dates)
        self._day_first = day_first if day_first != month_first else None

    def moment(self, stamp: str | None) -> datetime | None:
        """The moment of one stamp, where it is certain."""
        if not stamp:
            return None
        found = _NUMERIC.fullmatch(stamp.strip())
        return self._numeric(found) if found else moment(stamp)

    def _numeric(self, found: re.Match[str]) -> datetime | None:
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        if self._day_first is None and first != second:
            return None
        day, month = (first, second) if self._day_first else (second, first)
        hour = int(found[4] or 0)
        if half := found[7]:
            hour = hour % 12 + (12 if half in "Pp" else 0)
        with contextlib.suppress(ValueError):
            full_year = year + 2000 if year < 100 else year
            return datetime(full_year, month, day, hour, int(found[5] or 0), int(found[6] or 0), tzinfo=UTC)
        return None


MEDIA = "a picture, sound or file is not text"
NOBODY = "a line that nobody says"
_SURE = 3
_NAME = (
    r"(?P<name>[^\W_a-z][^\n:：\[\]<>{}|=\"/]{0,39}?|@[\w.-]{1,39}|\+[\d ()-]{5,20}"
    r"|user|assistant|system|human|tool)"
)
_DATE = (
    r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:,?[T ]+\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?)?"
)
_MARKS = "\u200e\u200f"  # messengers write marks of direction around stamps
_BRACKET = r"[\[(](?P<bracket>[^\[\]()\n]{3,40})[\])]"
_TURN = lazy(
    rf"[{_MARKS}]*(?:{_BRACKET}[ \t]*(?:-[ \t]+)?|(?P<bare>{_DATE})(?:[ \t]+-)?[ \t]+)?[{_MARKS}]*{_NAME}[ \t]*"
    r"(?::(?!//)(?:[ \t]+|$)|：)(?P<words>.*)"
)
_STAMPED = lazy(rf"[{_MARKS}]*(?:{_BRACKET}|(?P<bare>{_DATE})[ \t]+-)[ \t]+(?P<words>.*)")
_MEDIA = lazy(r"<[^<>]*(?:omitted|attached)[^<>]*>|(?:image|video|audio|sticker|document|GIF|Contact card) omitted")
_WORDS_IN_NAME = 4
_MEDIA_LENGTH = 200
_SAMPLE = 100_000


@dataclass(slots=True)
class _Turn:
    """A turn in the making: who, when, from which line on, and its lines."""

    speaker: str
    stamp: str | None
    line: int
    lines: list[str] = field(default_factory=list[str])


def is_transcript(text: str) -> bool:
    """Whether a text is talk: it begins with a turn, and its speakers come back or are named as roles."""
    rows = [row for row in text[:_SAMPLE].split("\n") if row.strip()]
    starts = [found for row in rows if (found := _start(row))]
    speakers = Counter(found["name"].strip() for found in starts)
    if len(starts) < 2 or not any(_start(row) or _STAMPED.fullmatch(row) for row in rows[:3]):
        return False
    if all(speaker.lower() in {*ROLES, *ROLES.values(), "system"} for speaker in speakers):
        return True
    stamped = sum(1 for found in starts if found["bracket"] or found["bare"])
    if stamped >= 2 and stamped * 2 > len(starts):
        return True
    return len(starts) >= _SURE and len(speakers) * 2 <= len(starts) + 1 and len(starts) * 3 >= len(rows)


def transcript_drafts(text: str, name: str) -> Iterator[Found]:
    """The turns of a transcript; lines without a speaker go on with the turn before them."""
    turns, skipped = _turns(text, name)
    stamps = Stamps([turn.stamp for turn in turns if turn.stamp])
    yield from skipped
    for turn in turns:
        where = f"{name}:{turn.line}"
        words = "\n".join(turn.lines).strip()
        if turn.speaker.lower() == "system":
            yield Skipped(where, SYSTEM)
        elif len(words) < _MEDIA_LENGTH and _MEDIA.fullmatch(words.strip(_MARKS + " ")):
            yield Skipped(where, MEDIA)
        else:
            yield DraftMemory(words, where, _fields(turn, stamps.moment(turn.stamp)))


def _fields(turn: _Turn, at: datetime | None) -> Fields:
    lower = turn.speaker.lower()
    fields: Fields = {"speaker": ROLES.get(lower, lower) if lower in {*ROLES, *ROLES.values()} else turn.speaker}
    if at:
        fields["at"] = at
    elif turn.stamp:
        fields["metadata"] = {"time": turn.stamp}
    return fields


def _turns(text: str, name: str) -> tuple[list[_Turn], list[Skipped]]:
    turns: list[_Turn] = []
    skipped: list[Skipped] = []
    for number, row in enumerate(text.split("\n"), 1):
        if start := _start(row):
            turns.append(_Turn(start["name"].strip(), start["bracket"] or start["bare"], number, [start["words"]]))
        elif turns and not _STAMPED.fullmatch(row):
            turns[-1].lines.append(row)
        elif row.strip():
            skipped.append(Skipped(f"{name}:{number}", NOBODY))
    return turns, skipped


def _start(row: str) -> re.Match[str] | None:
    found = _TURN.fullmatch(row)
    return found if found and len(found["name"].split()) <= _WORDS_IN_NAME else None

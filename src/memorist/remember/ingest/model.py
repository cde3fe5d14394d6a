"""What readers yield, the pieces to remember made from it, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

from memorist.errors import InvalidInput
from memorist.model import Fact, FactFields, Outcome, Remembered, fingerprint
from memorist.remember.fact_rows import relation_claim
from memorist.remember.ingest.values import EPOCH, storable
from memorist.remember.record import record
from memorist.results.writing import Cleaned, IngestReport, Skipped
from memorist.text.tokens import sentences

if TYPE_CHECKING:
    from memorist.remember.record import Fields


MOST_NAMED = 100
"""The most skipped items listed in a report; the rest are only counted by reason."""
OTHER = "other reasons"
T = TypeVar("T", Skipped, Cleaned)
Note = TypeVar("Note", bound=Skipped | Cleaned)


@dataclass(frozen=True, slots=True)
class Piece:
    """One text to remember and its keyword arguments for `remember`; always valid for `record`."""

    text: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class FactPiece:
    """One fact to write, perhaps in words, and its keyword arguments for `relate`; always valid for it."""

    fact: Fact
    text: str | None
    fields: FactFields


Item = Piece | FactPiece | Skipped | Cleaned


def gate_notes(memory: Remembered) -> Iterator[Skipped | Cleaned]:
    """What gates did with a text, as the report names it; that it is known is an outcome of its own."""
    origin = memory.origin
    place = "" if origin.position is None else f" #{origin.position + 1}"
    where = f"{origin.source or origin.session or 'a text'}{place}"
    for gate in memory.gates:
        if gate.decision != "skip":
            yield Cleaned(where, str(gate))
        elif memory.outcome is Outcome.WITHHELD:
            yield Skipped(where, str(gate))


class ImportTally:
    """Counts the items of an import in bounded memory and makes the report."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._files: list[Skipped] = []
        self._skipped: list[Skipped] = []
        self._cleaned: list[Cleaned] = []
        self._reasons: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, item: Item) -> None:
        """Count one item."""
        if isinstance(item, Piece):
            if session := item.fields.get("session"):
                self._sessions.add(session)
        elif isinstance(item, Skipped):
            _note(item, self._skipped, self._reasons[0])
        elif isinstance(item, Cleaned):
            _note(item, self._cleaned, self._reasons[1])

    def skip_file(self, name: str, reason: str) -> None:
        """Name a file from which nothing was read."""
        if len(self._files) < MOST_NAMED:
            self._files.append(_printable(Skipped(name, reason)))

    def report(self, outcomes: Mapping[Outcome, int], *, facts: int = 0, files: int = 0) -> IngestReport:
        """The report on everything counted so far."""
        return IngestReport(
            **{outcome.value: outcomes.get(outcome, 0) for outcome in Outcome},
            facts=facts,
            files=files,
            sessions=len(self._sessions),
            skipped_files=tuple(self._files),
            skipped=tuple(self._skipped),
            skipped_by_reason=dict(self._reasons[0]),
            cleaned=tuple(self._cleaned),
            cleaned_by_reason=dict(self._reasons[1]),
        )


def _note(item: T, named: list[T], reasons: Counter[str]) -> None:
    if len(named) < MOST_NAMED:
        named.append(item)
    reasons[item.reason if item.reason in reasons or len(reasons) < MOST_NAMED else OTHER] += 1


CHUNK = 1_200
"""Characters per chunk: roughly the context of small embedding models."""


def split_text(text: str, limit: int = CHUNK) -> Iterator[str]:
    """Split a text into parts of at most `limit` characters; no word is lost."""
    start = 0
    while len(text) - start > limit:
        end = start + _cut_position(text[start : start + limit])
        if part := text[start:end].strip("\n "):
            yield part
        start = end
    if part := text[start:].strip("\n "):
        yield part


def _cut_position(window: str) -> int:
    """Where to cut a window: after a paragraph, a sentence or a word, or else at its end."""
    half = len(window) // 2
    paragraph = window.rfind("\n\n")
    if paragraph >= half:
        return paragraph + 2
    whole = sentences(window)
    last = window.rfind(whole[-1]) if len(whole) > 1 else 0
    if last > 0:
        return last
    return max(window.rfind(" "), window.rfind("\n"), window.rfind("\t")) + 1 or len(window)


def join_blocks(blocks: Iterable[str], limit: int = CHUNK) -> Iterator[str]:
    """Join blocks by blank lines up to `limit` characters; a longer block stays alone and whole."""
    held: list[str] = []
    size = 0
    for block in blocks:
        if held and size + len(block) > limit:
            yield "\n\n".join(held)
            held, size = [], 0
        held.append(block)
        size += len(block) + 2
    if held:
        yield "\n\n".join(held)


MOST_CHARACTERS = 16_000
"""Longer texts are split at the end of a paragraph or sentence."""
EMPTY = "empty text"
MOST_WHERE = 200


@dataclass(frozen=True, slots=True)
class DraftMemory:
    """A text as a reader found it, before it becomes a `Piece`."""

    text: str
    where: str
    fields: Fields = field(default_factory=lambda: cast("Fields", {}))
    conversation: str | None = None
    """The name of its conversation in the file."""
    turn: bool = True
    """Whether it is part of a sequence, such as a turn or a paragraph, or stands alone."""


@dataclass(frozen=True, slots=True)
class DraftFact:
    """A fact as a reader found it, before it becomes a `FactPiece`."""

    fact: Fact
    where: str
    text: str | None = None
    fields: FactFields = field(default_factory=lambda: cast("FactFields", {}))


Found = DraftMemory | DraftFact | Skipped | Cleaned


@dataclass(frozen=True, slots=True)
class DraftOrigin:
    """Where drafts come from: the file name, and the session chosen by the caller."""

    source: str | None = None
    session: str | None = None

    def session_of(self, draft: DraftMemory) -> str | None:
        """The session of a draft; None if there is none."""
        if self.session and draft.conversation:
            return f"{self.session}/{draft.conversation}"
        return self.session or draft.conversation or (self.source if draft.turn else None)


def pieces(found: Iterable[Found], origin: DraftOrigin) -> Iterator[Item]:
    """Turn drafts into pieces with source, session and position; values that stores reject are cleaned or skipped."""
    for item in _settled(found, origin):
        yield item if isinstance(item, Piece | FactPiece) else _printable(item)


def _printable(item: Note) -> Note:
    """Escape control characters, because names and ids come from the input."""
    if item.where.isprintable() and item.reason.isprintable() and len(item.where) < MOST_WHERE:
        return item
    where, reason = (repr(text[:MOST_WHERE])[1:-1] for text in (item.where, item.reason))
    return replace(item, where=where, reason=reason)


def _settled(found: Iterable[Found], origin: DraftOrigin) -> Iterator[Item]:
    positions: dict[str, int] = {}
    unnamed: str | None = None
    for draft in found:
        if isinstance(draft, DraftFact):
            yield _statement(draft)
            continue
        if not isinstance(draft, DraftMemory):
            yield draft
            continue
        if not draft.text.strip():
            yield Skipped(draft.where, EMPTY)
            continue
        session = origin.session_of(draft)
        if session is None and draft.turn:
            # Named after its first turn, so that a conversation keeps its name as it grows.
            session = unnamed = unnamed or f"talk-{fingerprint(draft.text, draft.fields.get('at'))[:12]}"
        for part in _parts(draft):
            if isinstance(part, Cleaned):
                yield part
                continue
            yield from _placed(part, origin, session, positions)


def _parts(draft: DraftMemory) -> Iterator[DraftMemory | Cleaned]:
    if len(draft.text) <= MOST_CHARACTERS:
        yield draft
        return
    texts = list(split_text(draft.text, MOST_CHARACTERS))
    yield Cleaned(draft.where, f"split: longer than {MOST_CHARACTERS:,} characters")
    for number, text in enumerate(texts, 1):
        fields = draft.fields.copy()
        fields["metadata"] = {**(fields.get("metadata") or {}), "part": number, "parts": len(texts)}
        if (key := fields.get("key")) and number > 1:
            fields["key"] = f"{key}#{number}"
        yield DraftMemory(text, draft.where, fields, draft.conversation, draft.turn)


def _placed(draft: DraftMemory, origin: DraftOrigin, session: str | None, positions: dict[str, int]) -> Iterator[Item]:
    fields = draft.fields.copy()
    if origin.source and "source" not in fields:
        fields["source"] = origin.source
    if session:
        fields["session"] = session
    counted = session if draft.turn and "position" not in fields else None
    if counted:
        fields["position"] = positions.get(counted, 0)
    piece = Piece(draft.text, fields)
    reason = _refusal(piece)
    if reason:
        piece = Piece(storable(piece.text), cast("Fields", _stored(fields)))
        if not piece.text.strip() or (reason := _refusal(piece)):
            yield Skipped(draft.where, reason if piece.text.strip() else EMPTY)
            return
        yield Cleaned(draft.where, "NUL characters, broken characters or non-finite numbers removed")
    if counted:
        positions[counted] = positions.get(counted, 0) + 1
    yield piece


def _stored(fields: Fields | FactFields) -> dict[str, object]:
    return {
        name: storable(value) if isinstance(value, str | dict | list) else value
        for name, value in cast("dict[str, object]", fields).items()
    }


def _refusal(piece: Piece) -> str | None:
    """The reason why `remember` would reject a piece, if any."""
    try:
        record(piece.text, EPOCH, **piece.fields)
    except InvalidInput as error:
        return error.problem
    return None


def _statement(draft: DraftFact) -> FactPiece | Skipped:
    """The fact with values that every store accepts, or the reason why `relate` would reject it."""
    fact = Fact(*(str(storable(part)).strip() for part in (draft.fact.subject, draft.fact.relation, draft.fact.object)))
    text = None if draft.text is None else str(storable(draft.text)).strip() or None
    fields = cast("FactFields", _stored(draft.fields))
    try:
        relation_claim(fact, text, EPOCH, **fields)
    except InvalidInput as error:
        return Skipped(draft.where, error.problem)
    return FactPiece(fact, text, fields)

"""What an importer yields, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

from memorist.errors import InvalidInput
from memorist.model import fingerprint
from memorist.remember.ingest.values import EPOCH, storable
from memorist.remember.record import record
from memorist.text.tokens import sentences

if TYPE_CHECKING:
    from memorist.remember.record import Fields


MOST_NAMED = 100
"""How many skipped things a report names; the rest are counted by their reason."""
OTHER = "other reasons"
T = TypeVar("T", "Skipped", "Cleaned")


@dataclass(frozen=True, slots=True)
class Piece:
    """One text to remember, and the keywords of `remember` that go with it; `record` accepts it as it is."""

    text: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not kept: where it stands, and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Something that is kept, though not exactly as it stood: where, and what was done to it."""

    where: str
    reason: str


Item = Piece | Skipped | Cleaned


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the things given: texts newly kept, texts known already, and what was skipped or cleaned."""

    kept: int = 0
    known: int = 0
    facts: int = 0
    files: int = 0
    sessions: int = 0
    skipped: tuple[Skipped, ...] = ()
    """The first hundred; `skipped_by_reason` counts them all."""
    skipped_by_reason: Mapping[str, int] = field(default_factory=dict[str, int])
    cleaned: tuple[Cleaned, ...] = ()
    """The first hundred; `cleaned_by_reason` counts them all."""
    cleaned_by_reason: Mapping[str, int] = field(default_factory=dict[str, int])


class Tally:
    """Counts what a reading gives, within bounds, and makes the report of it."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._skipped: list[Skipped] = []
        self._cleaned: list[Cleaned] = []
        self._reasons: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, item: Item) -> None:
        """Count one thing read."""
        if isinstance(item, Piece):
            if session := item.fields.get("session"):
                self._sessions.add(session)
        elif isinstance(item, Skipped):
            _note(item, self._skipped, self._reasons[0])
        else:
            _note(item, self._cleaned, self._reasons[1])

    def report(self, *, kept: int, known: int, facts: int = 0, files: int = 0) -> IngestReport:
        """The report of everything counted so far."""
        return IngestReport(
            kept=kept,
            known=known,
            facts=facts,
            files=files,
            sessions=len(self._sessions),
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
"""Characters of a chunk: about what small embedding models read at once."""


def cut(text: str, limit: int = CHUNK) -> Iterator[str]:
    """A text in parts of at most `limit` characters, which together hold every word of it."""
    start = 0
    while len(text) - start > limit:
        end = start + _end(text[start : start + limit])
        if part := text[start:end].strip("\n "):
            yield part
        start = end
    if part := text[start:].strip("\n "):
        yield part


def _end(window: str) -> int:
    """Where to cut a window: after a paragraph, else a sentence, else a word, else at its end."""
    half = len(window) // 2
    paragraph = window.rfind("\n\n")
    if paragraph >= half:
        return paragraph + 2
    whole = sentences(window)
    last = window.rfind(whole[-1]) if len(whole) > 1 else 0
    if last > 0:
        return last
    return max(window.rfind(" "), window.rfind("\n"), window.rfind("\t")) + 1 or len(window)


def packed(blocks: Iterable[str], limit: int = CHUNK) -> Iterator[str]:
    """Blocks joined by blank lines, as many as fit; a longer one stands alone, uncut."""
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
"""A longer text is split at paragraph or sentence ends."""
EMPTY = "empty text"
MOST_WHERE = 200


@dataclass(frozen=True, slots=True)
class DraftMemory:
    """A text as a reader found it."""

    text: str
    where: str
    fields: Fields = field(default_factory=lambda: cast("Fields", {}))
    conversation: str | None = None
    """The name its own conversation has in the file."""
    turn: bool = True
    """Whether it stands in an order among neighbours, as turns and paragraphs do, or alone."""


Found = DraftMemory | Skipped | Cleaned


@dataclass(frozen=True, slots=True)
class Place:
    """Where drafts come from: the file's name, and the session its reader was told to use."""

    source: str | None = None
    session: str | None = None

    def session_of(self, draft: DraftMemory) -> str | None:
        """The session of a draft; None where nothing names one."""
        if self.session and draft.conversation:
            return f"{self.session}/{draft.conversation}"
        return self.session or draft.conversation or (self.source if draft.turn else None)


def settled(found: Iterable[Found], place: Place) -> Iterator[Item]:
    """Drafts as pieces, each with source, session and position; what no store can keep is cleaned or skipped."""
    for item in _settled(found, place):
        yield item if isinstance(item, Piece) else _printable(item)


def _printable(item: Skipped | Cleaned) -> Skipped | Cleaned:
    """A note that any terminal can show: names and ids come from the input."""
    if item.where.isprintable() and item.reason.isprintable() and len(item.where) < MOST_WHERE:
        return item
    where, reason = (repr(text[:MOST_WHERE])[1:-1] for text in (item.where, item.reason))
    return replace(item, where=where, reason=reason)


def _settled(found: Iterable[Found], place: Place) -> Iterator[Item]:
    positions: dict[str, int] = {}
    unnamed: str | None = None
    for draft in found:
        if not isinstance(draft, DraftMemory):
            yield draft
            continue
        if not draft.text.strip():
            yield Skipped(draft.where, EMPTY)
            continue
        session = place.session_of(draft)
        if session is None and draft.turn:
            # Named after its first turn, a talk that has grown since is still the same talk.
            session = unnamed = unnamed or f"talk-{fingerprint(draft.text, draft.fields.get('at'))[:12]}"
        for part in _parts(draft):
            if isinstance(part, Cleaned):
                yield part
                continue
            yield from _placed(part, place, session, positions)


def _parts(draft: DraftMemory) -> Iterator[DraftMemory | Cleaned]:
    if len(draft.text) <= MOST_CHARACTERS:
        yield draft
        return
    texts = list(cut(draft.text, MOST_CHARACTERS))
    yield Cleaned(draft.where, f"split: longer than {MOST_CHARACTERS:,} characters")
    for number, text in enumerate(texts, 1):
        fields = draft.fields.copy()
        fields["metadata"] = {**(fields.get("metadata") or {}), "part": number, "parts": len(texts)}
        if (key := fields.get("key")) and number > 1:
            fields["key"] = f"{key}#{number}"
        yield DraftMemory(text, draft.where, fields, draft.conversation, draft.turn)


def _placed(draft: DraftMemory, place: Place, session: str | None, positions: dict[str, int]) -> Iterator[Item]:
    fields = draft.fields.copy()
    if place.source and "source" not in fields:
        fields["source"] = place.source
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
        yield Cleaned(draft.where, "NUL characters, broken characters or numbers without a value taken out")
    if counted:
        positions[counted] = positions.get(counted, 0) + 1
    yield piece


def _stored(fields: Fields) -> dict[str, object]:
    return {
        name: storable(value) if isinstance(value, str | dict | list) else value
        for name, value in cast("dict[str, object]", fields).items()
    }


def _refusal(piece: Piece) -> str | None:
    """Why `remember` would refuse a piece."""
    try:
        record(piece.text, EPOCH, **piece.fields)
    except InvalidInput as error:
        return error.problem
    return None

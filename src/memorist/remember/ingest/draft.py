"""Drafts: texts as a reader found them, before they have their session and place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from memorist.errors import InvalidInput
from memorist.model import fingerprint
from memorist.remember.ingest.chunks import cut
from memorist.remember.ingest.model import Cleaned, Item, Piece, Skipped
from memorist.remember.ingest.moments import EPOCH
from memorist.remember.ingest.values import storable
from memorist.remember.record import record

if TYPE_CHECKING:
    from memorist.remember.record import Fields

MOST_CHARACTERS = 16_000
"""A longer text is split at paragraph or sentence ends."""
EMPTY = "empty text"
MOST_WHERE = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """A text as a reader found it."""

    text: str
    where: str
    fields: Fields = field(default_factory=lambda: cast("Fields", {}))
    conversation: str | None = None
    """The name its own conversation has in the file."""
    turn: bool = True
    """Whether it stands in an order among neighbours, as turns and paragraphs do, or alone."""


Found = Draft | Skipped | Cleaned


@dataclass(frozen=True, slots=True)
class Place:
    """Where drafts come from: the file's name, and the session its reader was told to use."""

    source: str | None = None
    session: str | None = None

    def session_of(self, draft: Draft) -> str | None:
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
        if not isinstance(draft, Draft):
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


def _parts(draft: Draft) -> Iterator[Draft | Cleaned]:
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
        yield Draft(text, draft.where, fields, draft.conversation, draft.turn)


def _placed(draft: Draft, place: Place, session: str | None, positions: dict[str, int]) -> Iterator[Item]:
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

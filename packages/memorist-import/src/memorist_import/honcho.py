"""Honcho: lists of messages and conclusions, and the context of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memorist.model import Kind
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, with_places
from memorist_import.carry import carry_memory

NO_MESSAGE = "not a message of a peer"


def is_honcho(given: Object) -> bool:
    """Whether an object is a message or conclusion of Honcho, or the context of a session."""
    return _is_said(given) or _is_conclusion(given) or any(_is_said(as_object(part)) for part in _messages(given)[:1])


def _messages(given: Object) -> list[Any]:
    return as_list(given.get("messages"))


def _is_said(given: Object) -> bool:
    texts = isinstance(given.get("content"), str) and isinstance(given.get("peer_id"), str)
    return texts and "role" not in given


def _is_conclusion(given: Object) -> bool:
    return all(isinstance(given.get(name), str) for name in ("content", "observer_id", "observed_id"))


def honcho_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """A message of a peer, a conclusion about one, or the messages, summary and peer card of a session."""
    if _is_said(given):
        yield from _message(given, where, unnamed=None)
        return
    if _is_conclusion(given):
        yield from _conclusion(given, where)
        return
    session = as_name(given.get("id")) or unnamed
    for place, value in with_places(_messages(given), where, "message"):
        if _is_said(message := as_object(value)):
            yield from _message(message, place, unnamed=session)
        else:
            yield Skipped(place, NO_MESSAGE)
    summary = as_object(given.get("summary"))
    about = (given.get("peer_representation"), *as_list(given.get("peer_card")))
    derived = [("summary", summary), *(("peer", as_object({"content": content})) for content in about)]
    for topic, row in derived:
        if (text := as_text(row.get("content"))).strip():
            ours = {"kind": Kind.SEMANTIC, "topic": topic}
            place = f"{where}, {topic}"
            yield from carry_memory(
                text, row, {"created_at": "at"}, place, ours=ours, used=("content",), session=session
            )


def _message(given: Object, where: str, unnamed: str | None) -> Iterator[Found]:
    session = as_name(given.get("session_id")) or unnamed
    ours = {
        "key": _key(given),
        "speaker": as_name(given.get("peer_id")),
        "metadata": as_object(given.get("metadata")),
    }
    used = ("id", "content", "peer_id", "session_id", "metadata")
    table = {"created_at": "at"}
    yield from carry_memory(
        as_text(given["content"]), given, table, where, ours=ours, used=used, session=session, turn=True
    )


def _conclusion(given: Object, where: str) -> Iterator[Found]:
    """A conclusion, in the scope of the peer it is about."""
    about = as_name(given.get("observed_id"))
    ours = {"key": _key(given), "kind": Kind.SEMANTIC, "scope": f"user:{about}" if about else None}
    used = ("id", "content", "observed_id", "session_id")
    usual = {"level": "explicit", "observer_id": about, "times_derived": 1}
    text, session = as_text(given["content"]), as_name(given.get("session_id"))
    yield from carry_memory(
        text, given, {"created_at": "at"}, where, ours=ours, used=used, usual=usual, session=session, turn=False
    )


def _key(given: Object) -> str | None:
    return f"honcho:{id}" if (id := as_name(given.get("id"))) else None

"""A memory that was not kept, as the journal holds it until somebody wants it after all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from memorist.model import Memory, instant, isoformat
from memorist.remember.record import WORTH, Fields, record

_LISTS = ("emotion_tags", "flags")
_PLAIN = ("kind", "scope", "topic", "tier", "original")
_ORIGIN = ("source", "session", "position", "speaker", "key")


def held(memory: Memory) -> dict[str, Any]:
    """A memory as JSON: its id, its text and what of the keywords of `remember` is not at its default."""
    usual = _keywords(record(memory.text, memory.times.ingested_at))
    told = {name: value for name, value in _keywords(memory).items() if value != usual[name]}
    return {"id": memory.id, "text": memory.text, "ingested_at": isoformat(memory.times.ingested_at), **told}


def _keywords(memory: Memory) -> dict[str, Any]:
    times, worth = memory.times, memory.worth
    return {
        "valid_from": isoformat(times.valid_from),
        "expires_at": times.expires_at and isoformat(times.expires_at),
        "keywords": list(memory.keywords),
        "metadata": dict(memory.metadata),
        **{name: (value := getattr(memory, name)) and str(value) for name in _PLAIN},
        **{name: getattr(worth, name) for name in WORTH},
        **{name: list(getattr(worth, name)) for name in _LISTS},
        **{name: getattr(memory.origin, name) for name in _ORIGIN},
    }


def released(data: Mapping[str, Any]) -> Memory:
    """The inverse of `held`."""
    fields = dict(data)
    id, text, known = fields.pop("id"), fields.pop("text"), instant(fields["ingested_at"])
    said = fields.pop("valid_from", fields["ingested_at"])
    memory = record(text, known, **cast("Fields", fields))
    return replace(memory, id=id, times=replace(memory.times, valid_from=instant(said)))

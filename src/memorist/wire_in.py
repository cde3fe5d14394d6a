"""Memories from their JSON form: the inverse of `wire.memory_to_data`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memorist.errors import InvalidInput
from memorist.model import Fact, Kind, Memory, Mention, Origin, Tier, Times, Usage, Worth, instant

TIMES = ("valid_from", "ingested_at", "valid_to", "expired_at", "expires_at", "retracted_at")
NUMBERS = ("importance", "confidence", "salience", "trust", "credibility", "classification", "emotion", "relevance")
ORIGIN = ("source", "session", "position", "speaker", "key")
PLAIN = ("id", "text", "scope", "topic", "original", "version", "version_of", "superseded_by")
LISTS = ("keywords", "emotion_tags", "flags")
REQUIRED = ("id", "text", "valid_from", "ingested_at")
FIELDS = {*TIMES, *NUMBERS, *ORIGIN, *PLAIN, *LISTS, "kind", "tier", "usage", "mentions", "fact", "metadata"}


def memory_from_data(data: Mapping[str, Any]) -> Memory:
    """A memory from every field that is given; what is left out has its default, what is unknown is refused."""
    if absent := [name for name in REQUIRED if data.get(name) is None]:
        raise InvalidInput(f"A memory has no {' and no '.join(absent)}", remedy="Give all that it was exported with.")
    if any(not isinstance(data[name], str) for name in ("id", "text")):
        raise InvalidInput("A memory's id or text is not a text", remedy="Give all that it was exported with.")
    if unknown := sorted(data.keys() - FIELDS):
        raise InvalidInput(
            f"A memory has fields of another version: {', '.join(unknown)}", remedy="Upgrade Memorist to read it."
        )
    try:
        return _memory(data)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"A memory has a field of the wrong form ({error})", remedy="Export it again.") from error


def _memory(data: Mapping[str, Any]) -> Memory:
    fact: Mapping[str, str] | None = data.get("fact")
    plain = {name: data[name] for name in PLAIN if name in data}
    numbers = {name: data[name] for name in NUMBERS if name in data}
    lists: dict[str, Any] = {name: tuple(data.get(name, ())) for name in LISTS}
    return Memory(
        **plain,
        times=Times(**{name: _moment(data.get(name)) for name in TIMES}),  # pyright: ignore[reportArgumentType]  # two are required above
        kind=Kind(data.get("kind", Kind.EPISODIC)),
        tier=Tier(data.get("tier", Tier.WORKING)),
        keywords=lists.pop("keywords"),
        worth=Worth(**numbers, **lists),
        usage=_usage(data.get("usage", {})),
        origin=Origin(**{name: data.get(name) for name in ORIGIN}),
        mentions=tuple(
            Mention(one["text"], instant(one["start"]), instant(one["end"])) for one in data.get("mentions", ())
        ),
        fact=None if fact is None else Fact(fact["subject"], fact["relation"], fact["object"]),
        metadata=dict(data.get("metadata", {})),
    )


def _usage(data: Mapping[str, Any] | None) -> Usage | None:
    if data is None:
        return None
    return Usage(
        recalls=data.get("recalls", 0),
        last_recall=_moment(data.get("last_recall")),
        recall_times=tuple(map(instant, data.get("recall_times", ()))),
        reward_count=data.get("reward_count", 0),
        reward_total=data.get("reward_total", 0.0),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else instant(text)

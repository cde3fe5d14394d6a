"""From the keywords a caller gives to a request with every default filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, get_args, get_type_hints

from memorist.errors import InvalidInput
from memorist.model import (
    Filter,
    Filters,
    Kind,
    RecallOptions,
    RecallRequest,
    Situation,
    Tier,
    Verbosity,
    at_least,
    instant,
    member,
    within,
)


def recall_request(query: str, options: RecallOptions, now: datetime) -> RecallRequest:
    """The request that `recall(query, **options)` makes at a moment."""
    _refuse_unknown(options, RecallOptions)
    if not isinstance(query, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidInput(f"The query is a {type(query).__name__}", remedy="Give a string.")
    verbosity = options.get("verbosity", "summary")
    if verbosity not in get_args(Verbosity):
        raise InvalidInput(f"verbosity {verbosity!r} is unknown", remedy="Choose summary or detailed.")
    max_tokens = options.get("max_tokens")
    return RecallRequest(
        query=query,
        now=now,
        limit=at_least("limit", options.get("limit", 10), 1),
        where=listing_filter(options, now),
        entity_hints=tuple(options.get("entity_hints", ())),
        session=options.get("session"),
        repeat=options.get("repeat", False),
        situation=_situation(options.get("situation")),
        translated=options.get("translated", False),
        max_tokens=None if max_tokens is None else at_least("max_tokens", max_tokens, 0),
        track=options.get("track", True),
        verbosity=verbosity,
    )


def listing_filter(options: Filters, now: datetime) -> Filter:
    """What may be seen: by default what is valid and known now, up to classification 2."""
    as_of, known_at = options.get("as_of"), options.get("known_at")
    return replace(
        _labels(options),
        as_of=now if as_of is None else instant(as_of),
        known_at=now if known_at is None else instant(known_at),
        max_classification=_classification(options.get("max_classification", 2)),
    )


def erasure_filter(options: Filters) -> Filter:
    """What is to be erased: everything the given keywords choose, whatever its time or classification."""
    _refuse_unknown(options, Filters)
    as_of, known_at = options.get("as_of"), options.get("known_at")
    return replace(
        _labels(options),
        as_of=None if as_of is None else instant(as_of),
        known_at=None if known_at is None else instant(known_at),
    )


def _labels(options: Filters) -> Filter:
    tier, since, until = options.get("tier"), options.get("since"), options.get("until")
    kinds = _several(options.get("kinds"))
    return Filter(
        scopes=_several(options.get("scope")),
        kinds=None if kinds is None else tuple(member(Kind, "kind", kind) for kind in kinds),
        topic=options.get("topic"),
        tier=None if tier is None else member(Tier, "tier", tier),
        since=None if since is None else instant(since),
        until=None if until is None else instant(until),
        max_classification=_classification(options.get("max_classification", 3)),
        include_expired=options.get("include_expired", False),
    )


def _several(value: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)


def _situation(given: Mapping[str, Any] | None) -> Situation | None:
    if given is None:
        return None
    _refuse_unknown(given, Situation)
    for name, most in (("hour", 23), ("weekday", 6)):
        if (value := given.get(name)) is not None:
            within(name, at_least(name, value, 0), 0, most)
    return Situation(**given)


def _classification(value: int) -> int:
    within("max_classification", at_least("max_classification", value, 0), 0, 3)
    return value


def _refuse_unknown(given: Mapping[str, Any], known: type) -> None:
    names = _names(known)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise InvalidInput(
            f"There is no keyword {', '.join(map(repr, unknown))}", remedy=f"Choose from {', '.join(names)}."
        )


@cache
def _names(known: type) -> tuple[str, ...]:
    return tuple(get_type_hints(known))

"""The keywords of `recall`, `list` and `forget`, and the requests and filters they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, cast, get_args

from memorist.errors import InvalidInput
from memorist.model import (
    Filter,
    Filters,
    Ids,
    Kind,
    RecallOptions,
    RecallRequest,
    Situation,
    Tier,
    Verbosity,
    at_least,
    condition_of,
    instant,
    member,
    refuse_unknown,
    time_zone,
    within,
)
from memorist.model.arguments import check_argument

ANYTHING = "*"
"""At the end of a scope: every scope that begins with what stands before it."""
DOCUMENTED = {"dayOfWeek": "day_of_week"}
"""Names of a situation in abmind's document, and ours."""
LONGEST_SESSION = 1000
"""Characters of the name of a session: it is recorded with each memory that the session is shown."""


def recall_request(query: str, options: RecallOptions, now: datetime) -> RecallRequest:
    """The request that `recall(query, **options)` makes at a moment."""
    if not isinstance(query, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidInput(f"The query is a {type(query).__name__}", remedy="Pass a string.")
    max_tokens = options.get("max_tokens")
    return RecallRequest(
        query=query,
        now=now,
        limit=at_least("limit", options.get("limit", 10), 1),
        where=listing_filter(options, now),
        entity_hints=tuple(options.get("entity_hints", ())),
        speaker=options.get("speaker"),
        session=_session(options.get("session")),
        fresh=options.get("fresh"),
        situation=_situation(options.get("situation")),
        translated=options.get("translated", False),
        max_tokens=None if max_tokens is None else at_least("max_tokens", max_tokens, 0),
        min_confidence=_probability(options.get("min_confidence")),
        track=options.get("track", True),
        verbosity=check_verbosity(options.get("verbosity", "summary")),
    )


def _session(name: str | None) -> str | None:
    if name is not None and len(name) > LONGEST_SESSION:
        raise InvalidInput(
            f"The name of the session has {len(name):,} characters, more than {LONGEST_SESSION:,}",
            remedy="Give the session a shorter name.",
        )
    return name


def _probability(value: float | None) -> float | None:
    if value is not None:
        check_argument("min_confidence", value, float)
        within("min_confidence", value, 0, 1)
    return value


def check_verbosity(value: str) -> Verbosity:
    """A verbosity by its name."""
    if value not in get_args(Verbosity):
        raise InvalidInput(f"Unknown verbosity: {value!r}", remedy="Choose summary or detailed.")
    return cast("Verbosity", value)


def listing_filter(options: Filters, now: datetime) -> Filter:
    """The filter of `recall` and `list`: by default what is valid or planned, and known now, up to classification 2."""
    as_of, known_at = options.get("as_of"), options.get("known_at")
    return replace(
        _labels(options),
        as_of=now if as_of is None else instant(as_of),
        known_at=now if known_at is None else instant(known_at),
        planned=as_of is None,
        max_classification=_classification(options.get("max_classification", 2)),
    )


def forget_filters(id: str | Ids | None, filters: Filters) -> Filters:
    """The filters of a `forget` that are set, empty if an id is given; refuses both, and neither.

    A filter that is None or an empty mapping is not set: a caller that passes every keyword must not erase everything.
    Nor does `include_expired` select anything by itself.
    """
    given = cast("Filters", {name: value for name, value in filters.items() if value is not None and value != {}})
    if (id is None) == (not given.keys() - {"include_expired"}):
        raise InvalidInput("`forget` needs either an id or filters, not both", remedy="Pass exactly one of them.")
    return given


def erasure_filter(options: Filters) -> Filter:
    """The memories that `forget` erases: everything the filters select, whatever its time or classification."""
    as_of, known_at = options.get("as_of"), options.get("known_at")
    return replace(
        _labels(options),
        as_of=None if as_of is None else instant(as_of),
        known_at=None if known_at is None else instant(known_at),
    )


def _labels(options: Filters) -> Filter:
    tier, since, until = options.get("tier"), options.get("since"), options.get("until")
    kinds, scopes = _several(options, "kinds"), _several(options, "scope")
    return Filter(
        scopes=scopes and tuple(scope for scope in scopes if not scope.endswith(ANYTHING)),
        kinds=None if kinds is None else tuple(member(Kind, "kind", kind) for kind in kinds),
        topic=options.get("topic"),
        tier=None if tier is None else member(Tier, "tier", tier),
        since=None if since is None else instant(since),
        until=None if until is None else instant(until),
        max_classification=_classification(options.get("max_classification", 3)),
        include_expired=options.get("include_expired", False),
        scope_prefixes=tuple(_prefix(scope) for scope in scopes or () if scope.endswith(ANYTHING)),
        conditions=condition_of(options.get("where") or {}),
    )


def _prefix(scope: str) -> str:
    """What the scopes begin with that a wildcard stands for."""
    if scope == ANYTHING:
        raise InvalidInput("scope is * alone", remedy="Leave scope out to admit every scope, or write one as team/*.")
    return scope.removesuffix(ANYTHING)


def _several(options: Filters, name: Literal["kinds", "scope"]) -> tuple[str, ...] | None:
    value = options.get(name)
    if value is None:
        return None
    several = (value,) if isinstance(value, str) else tuple(value)
    check_argument(name, several, Iterable[str])  # an iterator is read here for the first time
    return several


def _situation(given: Mapping[str, Any] | None) -> Situation | None:
    if given is None:
        return None
    given = {DOCUMENTED.get(name, name): value for name, value in given.items()}
    refuse_unknown(given, Situation, "situation")
    for name, most in (("hour", 23), ("weekday", 6), ("day_of_week", 6)):
        if (value := given.get(name)) is not None:
            within(name, at_least(name, value, 0), 0, most)
    situation = _from_monday(Situation(**given))
    if situation.zone is not None:
        check_argument("zone", situation.zone, str)
        time_zone(situation.zone)
    return situation


def _from_monday(given: Situation) -> Situation:
    """A situation whose day is counted from Monday."""
    if given.day_of_week is None:
        return given
    if given.weekday is not None:
        raise InvalidInput("situation has two days of the week", remedy="Pass weekday (0 is Monday) or day_of_week.")
    return replace(given, weekday=(given.day_of_week - 1) % 7, day_of_week=None)


def _classification(value: int) -> int:
    within("max_classification", at_least("max_classification", value, 0), 0, 3)
    return value

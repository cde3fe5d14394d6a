"""What is kept: memories as small frozen values, links between them, entities they speak of."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, get_type_hints

from memorist.errors import InvalidInput

RECALL_TIMES_KEPT = 20
When = str | date | datetime
"""A moment as callers give it; `instant` makes it exact."""
E = TypeVar("E", bound=StrEnum)


class Kind(StrEnum):
    """What sort of thing a memory is."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    SUBGOAL = "subgoal"
    TAG = "tag"
    INTENT = "intent"
    SOURCE = "source"
    NOTE = "note"


class Tier(StrEnum):
    """How close to the centre of attention a memory lives."""

    CORE = "core"
    WORKING = "working"
    PERIPHERAL = "peripheral"


def member(enum: type[E], name: str, value: str) -> E:
    """A member of an enumeration by its value."""
    try:
        return enum(value)
    except ValueError:
        raise InvalidInput(f"{name} {value!r} is unknown", remedy=f"Choose one of {', '.join(enum)}.") from None


def instant(value: When) -> datetime:
    """A UTC moment from ISO 8601 text, a date (its start) or a datetime (naive means UTC)."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(
                f"{value!r} is not a time",
                remedy="Write it as ISO 8601, such as 2024-06-03 or 2024-06-03T14:30:00Z.",
            ) from None
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{value} lies outside the calendar in UTC", remedy="Use a year from 1 to 9999.") from None


def isoformat(moment: datetime) -> str:
    """A UTC moment as ISO 8601 text ending in Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def fingerprint(*parts: object) -> str:
    """A stable 128-bit id of its parts, the same in every process and on every store."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def refuse_unknown(given: Iterable[str], known: type, verb: str) -> None:
    """Refuse keywords that a verb does not have; `known` is the TypedDict or dataclass that lists its keywords."""
    from difflib import get_close_matches

    names = _keywords(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise InvalidInput(f"{verb} has no keyword {name!r}", remedy=f"{hint}The keywords are {', '.join(names)}.")


@cache
def _keywords(known: type) -> tuple[str, ...]:
    return tuple(get_type_hints(known))


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside its range, NaN included."""
    if not low <= value <= high:
        raise InvalidInput(f"{name} {value} is out of range", remedy=f"Give {name} a value from {low:g} to {high:g}.")


@dataclass(frozen=True, slots=True)
class Times:
    """Two clocks: when it was true (valid_*), and when we knew it.

    Known from `ingested_at` on; its end, `valid_to`, from `expired_at` on; taken back at `retracted_at`.
    """

    valid_from: datetime
    ingested_at: datetime
    valid_to: datetime | None = None
    expired_at: datetime | None = None
    expires_at: datetime | None = None
    retracted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Worth:
    """How much a memory counts, and how far it is to be believed."""

    importance: float = 0.5
    confidence: float = 1.0
    salience: float = 0.0
    trust: int = 3
    credibility: int = 6
    classification: int = 1
    emotion: float = 0.0
    emotion_tags: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    relevance: float = 0.0

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:  # one comparison: a recall reads dozens of these
                within(name, value, low, high)


RANGES: Mapping[str, tuple[float, float]] = {
    "importance": (0, 1),
    "confidence": (0, 1),
    "salience": (0, 1),
    "trust": (0, 3),
    "credibility": (1, 6),
    "classification": (0, 3),
    "emotion": (-5, 5),
    "relevance": (-math.inf, math.inf),
}


@dataclass(frozen=True, slots=True)
class Usage:
    """How often and when a memory was recalled, and how well that went."""

    recalls: int = 0
    last_recall: datetime | None = None
    recall_times: tuple[datetime, ...] = ()
    reward_count: int = 0
    reward_total: float = 0.0

    @property
    def mean_reward(self) -> float | None:
        """The mean of all rewards, or None with no history."""
        return self.reward_total / self.reward_count if self.reward_count else None

    def recalled(self, at: datetime) -> Usage:
        """This usage with one more recall."""
        times = (*self.recall_times, at)[-RECALL_TIMES_KEPT:]
        return replace(self, recalls=self.recalls + 1, last_recall=at, recall_times=times)

    def rewarded(self, rewards: Sequence[float]) -> Usage:
        """This usage with more rewards."""
        total = math.fsum([self.reward_total, *rewards])
        return replace(self, reward_count=self.reward_count + len(rewards), reward_total=total)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory came from."""

    source: str | None = None
    session: str | None = None
    position: int | None = None
    speaker: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A date named in a memory's text, resolved: start inclusive, end exclusive."""

    text: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """What a memory states, as subject, relation and object."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing remembered."""

    id: str
    text: str
    times: Times
    kind: Kind = Kind.EPISODIC
    scope: str = "global"
    tier: Tier = Tier.WORKING
    topic: str | None = None
    original: str | None = None
    keywords: tuple[str, ...] = ()
    worth: Worth = Worth()
    usage: Usage | None = Usage()
    origin: Origin = Origin()
    mentions: tuple[Mention, ...] = ()
    fact: Fact | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    version: int = 1
    version_of: str | None = None
    superseded_by: str | None = None

    def archived(self, successor: Memory) -> Memory:
        """This version as history: closed on both clocks, under its own id, pointing at its successor."""
        times = replace(self.times, valid_to=successor.times.valid_from, expired_at=successor.times.ingested_at)
        return replace(
            self,
            id=fingerprint("version", self.id, self.version),
            times=times,
            version_of=self.id,
            superseded_by=self.id,
        )


def memory_id(
    text: str,
    *,
    scope: str,
    key: str | None = None,
    source: str | None = None,
    session: str | None = None,
    position: int | None = None,
    at: datetime | None = None,
) -> str:
    """The id of a memory: by its key within its scope, else by what was said, where and when."""
    if key is not None:
        return fingerprint("key", scope, key)
    return fingerprint("text", scope, source, session, position, text, isoformat(at) if at else None)


def new_or_changed(memories: Iterable[Memory], known: Mapping[str, Memory]) -> list[Memory]:
    """The memories that `known` lacks, or has with another text: a store has nothing to do for any other."""
    return [one for one in memories if one.id not in known or known[one.id].text != one.text]


STATES, DENIES = "states", "denies"
"""Relations of the links from a memory to the facts that it states, and to those it says hold no longer."""
CITES = "cites"
"""The relation of the links from a note to the memories it was made of."""
MEMBERSHIP = "membership"
"""The relation of the links from a semantic memory to its tags."""
HIERARCHY = "hierarchy"
"""The relation of the links from a procedure to its intent, and from a step to its subgoal."""
PROVENANCE = "provenance"
"""The relation of the links from a lesson to the steps it was learnt from, and from a step to its session."""
SIBLING = "sibling"
"""The relation of the links from a subgoal to the next subgoal of its session."""


@dataclass(frozen=True, slots=True)
class Link:
    """A relation between two memories, or a memory and an entity, by their ids."""

    source: str
    relation: str
    target: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that memories speak of."""

    id: str
    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()

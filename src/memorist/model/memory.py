"""What is stored: memories, links between them, and the entities they mention."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, TypedDict

from memorist.model.arguments import When, within
from memorist.model.fields import Default, Doc, Flat, Range, keywords_for, ranges_of
from memorist.model.identity import CLAIMS, MOST_CLASSIFIED, USUAL_CLASSIFICATION, fingerprint, read_by_rules

RECALL_TIMES_KEPT = 20
Ids = list[str] | tuple[str, ...]
"""Several ids, where one would be a string."""


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
    """How close to the centre of attention a memory is; a pinned one is at the head of every context."""

    PINNED = "pinned"
    CORE = "core"
    WORKING = "working"
    PERIPHERAL = "peripheral"

    @classmethod
    def _missing_(cls, value: object) -> Tier | None:
        """abmind's name for what is not core."""
        return cls.WORKING if value == "general" else None


INSTRUCTIONS = "instructions"
"""The flag of a memory that gives orders to a model."""
NOISE = "noise"
"""The flag of a text that says nothing, such as a greeting."""
DOUBTED = "doubted"
"""The flag of a memory that feedback called wrong, which lowered its confidence."""
EXACT = "exact"
"""The flag of a memory that is kept exactly as given or not at all, for adapters of key-value stores.

A secret in it is refused, never masked; other metadata under its key makes a new version, as another text does.
"""
AGENT_TRUST = 2
"""The least trust of a text that may be pinned when it is written, or count as a wish: the agent's own."""


class Outcome(StrEnum):
    """What became of a text that was given to be remembered."""

    KEPT = "kept"
    KNOWN = "known"
    MERGED = "merged"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Times:
    """Two clocks: when a memory was true (valid_*), and when we knew it.

    It is known from `ingested_at` on; its end, `valid_to`, is known from `expired_at` on; `retracted_at` takes it back.
    """

    valid_from: Annotated[datetime, Doc("When it was said or became true.")]
    ingested_at: Annotated[datetime, Doc("When it became known.")]
    valid_to: Annotated[datetime | None, Doc("When it stopped being true.")] = None
    expired_at: Annotated[datetime | None, Doc("When it became known that it is no longer true.")] = None
    expires_at: Annotated[datetime | None, Doc("When it stops being true.")] = None
    retracted_at: Annotated[datetime | None, Doc("When it was taken back.")] = None

    def end_known_at(self, moment: datetime | None) -> datetime | None:
        """`valid_to`, unless it became known only after this moment."""
        learnt_later = moment is not None and self.expired_at is not None and self.expired_at > moment
        return None if learnt_later else self.valid_to

    def planned(self, now: datetime) -> str:
        """`planned for 2024-09-12` if it begins after now, else empty."""
        return f"planned for {self.valid_from.date()}" if self.valid_from > now else ""


@dataclass(frozen=True, slots=True)
class Worth:
    """How much a memory matters, and how far to believe it."""

    importance: Annotated[float, Range(0, 1), Doc("How much it matters, from 0 to 1.")] = 0.5
    confidence: Annotated[float, Range(0, 1), Doc("How certain it is, from 0 to 1.")] = 1.0
    salience: Annotated[float, Range(0, 1), Doc("How much it stands out, from 0 to 1.")] = 0.0
    trust: Annotated[int, Range(0, 3), Doc("Who says it: 3 owner, 2 the agent itself, 1 peer, 0 untrusted.")] = 3
    credibility: Annotated[int, Range(1, 6), Doc("How credible it is: 1 is best, 5 worst, 6 cannot be judged.")] = 6
    classification: Annotated[
        int, Range(0, MOST_CLASSIFIED), Doc("How secret it is, from 0 to 3; recall shows up to 2.")
    ] = USUAL_CLASSIFICATION
    emotion: Annotated[float, Range(-5, 5), Doc("How it felt, from -5 to 5.")] = 0.0
    emotion_tags: Annotated[tuple[str, ...], Doc("Words for how it felt.")] = ()
    flags: Annotated[tuple[str, ...], Doc("Marks of your own.")] = ()
    relevance: Annotated[float, Range(-math.inf, math.inf), Doc("How far feedback moved its ranking.")] = 0.0

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:  # no call for a valid value: a recall reads dozens
                within(name, value, low, high)


RANGES: Mapping[str, tuple[float, float]] = ranges_of(Worth)
"""The smallest and largest value of each number of a memory's worth."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How often and when a memory was recalled, and the rewards it earned."""

    recalls: int = 0
    last_recall: datetime | None = None
    recall_times: tuple[datetime, ...] = ()
    reward_count: int = 0
    reward_total: float = 0.0

    @property
    def mean_reward(self) -> float | None:
        """The mean of all rewards; None without any."""
        return self.reward_total / self.reward_count if self.reward_count else None

    def recalled(self, *at: datetime) -> Usage:
        """This usage with more recalls, some perhaps earlier ones that waited to be counted."""
        times = tuple(sorted((*self.recall_times, *at))[-RECALL_TIMES_KEPT:])
        last = max(*at, self.last_recall or at[0])
        return replace(self, recalls=self.recalls + len(at), last_recall=last, recall_times=times)

    def rewarded(self, rewards: Sequence[float]) -> Usage:
        """This usage with more rewards."""
        total = math.fsum([self.reward_total, *rewards])
        return replace(self, reward_count=self.reward_count + len(rewards), reward_total=total)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory came from."""

    source: Annotated[str | None, Doc("The file, page or person it comes from.")] = None
    session: Annotated[str | None, Doc("The conversation or run it belongs to.")] = None
    position: Annotated[int | None, Doc("Its place in that session.")] = None
    speaker: Annotated[str | None, Doc("Who said it.")] = None
    key: Annotated[str | None, Doc("A name for it; another text under the same name becomes its new version.")] = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A date in a memory's text, resolved to an interval: start inclusive, end exclusive."""

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
    text: Annotated[str, Doc("The text to keep, word for word.")]
    times: Annotated[Times, Flat()]
    kind: Annotated[Kind, Doc("What sort of thing it is.")] = Kind.EPISODIC
    scope: Annotated[str, Doc("Whom or what it concerns, such as user:ann.")] = "global"
    tier: Annotated[Tier, Doc("How close to the centre of attention it lives.")] = Tier.WORKING
    topic: Annotated[str | None, Doc("What it is about.")] = None
    original: Annotated[str | None, Doc("What was said, if the text is a translation of it.")] = None
    keywords: Annotated[tuple[str, ...], Doc("More words to find it by.")] = ()
    worth: Annotated[Worth, Flat()] = Worth()
    usage: Annotated[Usage | None, Doc("How often and when it was recalled, and the rewards it earned.")] = Usage()
    origin: Annotated[Origin, Flat()] = Origin()
    mentions: Annotated[tuple[Mention, ...], Doc("The dates that the text names.")] = ()
    fact: Annotated[Fact | None, Doc("What it states.")] = None
    metadata: Annotated[Mapping[str, Any], Doc("Anything else, as a JSON object; `where` filters by it.")] = field(
        default_factory=dict[str, Any]
    )
    version: Annotated[int, Doc("Its version, counted from 1.")] = 1
    version_of: Annotated[str | None, Doc("The id of the memory that this is an old version of.")] = None
    superseded_by: Annotated[str | None, Doc("The id of the memory that replaced it.")] = None

    def as_known_at(self, moment: datetime | None) -> Memory:
        """This memory without an end that became known only after this moment."""
        if self.times.end_known_at(moment) == self.times.valid_to:
            return self
        return replace(self, times=replace(self.times, valid_to=None, expired_at=None), superseded_by=None)

    @property
    def worded(self) -> tuple[str, ...]:
        """The texts that keywords are found in, apart from the original."""
        return self.text, *self.keywords, *(() if self.fact is None else (self.fact.relation,))

    @property
    def is_folded(self) -> bool:
        """Whether it is a fact that rules read in stored texts: it is found through them, and is no result itself."""
        return self.fact is not None and read_by_rules(self.metadata.get(CLAIMS, ()))

    def archived(self, successor: Memory) -> Memory:
        """This version as history: ended on both clocks, with an id of its own, and linked to its successor."""
        times, then = self.times, successor.times  # a clock may have gone back
        times = replace(
            times,
            valid_to=max(times.valid_from, then.valid_from),
            expired_at=max(times.ingested_at, then.ingested_at),
        )
        return replace(
            self,
            id=fingerprint("version", self.id, self.version),
            times=times,
            version_of=self.id,
            superseded_by=self.id,
        )


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What a gate decided about a text. It says which kind of secret was masked, never the secret."""

    gate: Annotated[str, Doc("secrets, duplicates, loops, noise or instructions.")]
    decision: Annotated[str, Doc("mask: a secret was replaced; mark: it was flagged; skip: it was not written.")]
    reason: Annotated[str, Doc("What the gate found, such as: holds password.")]
    entry: Annotated[str | None, Doc("The journal's entry, if `undo` can take the decision back.")] = None

    def __str__(self) -> str:
        done = _DECIDED.get(self.decision) or f"marked as {self.gate}"
        return f"{done}: it {self.reason}"


_DECIDED = {"mask": "masked", "skip": "not stored"}


_values_of = attrgetter(*(field.name for field in fields(Memory)))
"""The values of all fields of a memory."""


@dataclass(frozen=True, slots=True)
class Remembered(Memory):
    """The memory that answers for a text, and what became of the text."""

    outcome: Annotated[
        Outcome,
        Doc(
            "kept: a new memory; known: it was there already, and nothing was written; merged: it is the new version "
            "of a memory that was there; withheld: a gate held it back, and no memory was written."
        ),
    ] = Outcome.KEPT

    gates: Annotated[
        tuple[GateDecision, ...], Doc("What gates decided about the text; none if they let it pass as it was.")
    ] = ()

    @classmethod
    def of(cls, memory: Memory, outcome: Outcome, gates: Iterable[GateDecision] = ()) -> Remembered:
        """A memory with what became of the text that it answers for."""
        return cls(*_values_of(memory), outcome=outcome, gates=tuple(gates))

    @property
    def memory(self) -> Memory:
        """The memory alone, equal to the one that `get` returns."""
        return Memory(*_values_of(self))


@keywords_for(Memory)
class Fields(TypedDict, total=False):
    """The keywords of `remember`; each is described by the field of `Memory` with its name."""

    at: Annotated[When | None, Doc("When it was said or happened; now if left out.")]
    ingested_at: Annotated[When | None, Doc("When it became known; now if left out.")]
    kind: str
    scope: str
    topic: str | None
    tier: str
    pinned: Annotated[bool, Doc("Keep it at the head of every context; the same as the tier pinned."), Default(False)]
    importance: float
    confidence: float
    salience: float
    trust: int
    credibility: int
    classification: int
    emotion: float
    emotion_tags: Iterable[str]
    flags: Iterable[str]
    keywords: Iterable[str]
    original: str | None
    source: str | None
    session: str | None
    position: int | None
    speaker: str | None
    expires_at: When | None
    key: str | None
    metadata: Mapping[str, Any] | None


@keywords_for(Memory)
class FactFields(TypedDict, total=False):
    """The keywords of `relate`."""

    valid_from: Annotated[When | None, Doc("When it became true; now if left out.")]
    valid_to: When | None
    ingested_at: Annotated[When | None, Doc("When it became known; now if left out.")]
    source: str | None
    scope: str
    trust: int
    classification: int


@keywords_for(Memory)
class Changes(TypedDict, total=False):
    """The keywords of `update`; a field that is not given stays as it is."""

    at: Annotated[When | None, Doc("When the new text was said or became true; now if left out.")]
    topic: str | None
    tier: str
    importance: float
    confidence: float
    salience: float
    trust: int
    credibility: int
    emotion: float
    emotion_tags: Iterable[str]
    flags: Iterable[str]
    keywords: Iterable[str]
    original: str | None
    speaker: str | None
    expires_at: When | None
    metadata: Mapping[str, Any] | None
    clear: Annotated[Iterable[str], Doc("The names of fields to empty, such as topic or expires_at.")]


def new_or_changed(memories: Iterable[Memory], known: Mapping[str, Memory]) -> list[Memory]:
    """The memories that `known` lacks, or that are news about those it has; others need no write."""
    return [memory for memory in memories if memory.id not in known or _is_news(known[memory.id], memory)]


def follows(known: Memory, given: Memory) -> bool:
    """Whether a memory is a new version of the known one: an edit, another text or, of an exact one, other metadata."""
    changed = EXACT in given.worth.flags and given.metadata != known.metadata
    return given.version > known.version or given.text != known.text or changed


def _is_news(known: Memory, given: Memory) -> bool:
    """Whether it follows, and is not the text that an edit replaced, read again from the same place or time."""
    edited = given.version < known.version and given.origin.key is None
    again = given.origin.position is not None or given.times.valid_from <= known.times.valid_from
    return follows(known, given) and not (edited and again)


STATES, DENIES = "states", "denies"
"""The relations of links from a memory to the facts that it states, and to those that it denies."""
CITES = "cites"
"""The relation of links from a note to the memories it is based on."""
MEMBERSHIP = "membership"
"""The relation of links from a semantic memory to its tags."""
HIERARCHY = "hierarchy"
"""The relation of links from a procedure to its intent, and from a step to its subgoal."""
PROVENANCE = "provenance"
"""The relation of links from a lesson to the steps it was learnt from, and from a step to its session."""
SIBLING = "sibling"
"""The relation of links from a subgoal to the next subgoal of its session."""


@dataclass(frozen=True, slots=True)
class Link:
    """A relation between two memories, or a memory and an entity, by their ids."""

    source: str
    relation: str
    target: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Entity:
    """A person or thing that memories mention."""

    id: str
    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()

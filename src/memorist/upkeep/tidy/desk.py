"""A tidying under way: its rules, its changes so far."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from memorist.model import Filter, Hidden, Kind, Link, Memory
from memorist.ports import Store
from memorist.remember.fact_rows import CLAIMS
from memorist.remember.fact_updates import difference
from memorist.remember.sessions.run import HIERARCHY, MEMBERSHIP, PROVENANCE

Rule = Literal["expire", "revive", "merge", "ground", "decay", "tier", "orphan"]


@dataclass(frozen=True, slots=True)
class TidyRules:
    """The thresholds: mnemosyne-graph's for nodes that were learnt, mnemo's for tiers."""

    merge_above: float = 0.85
    decay_below: float = 0.1
    no_source: float = 0.3
    far_source: float = 0.1
    far_below: float = 0.3
    """A node whose best source has a cosine below this loses `far_source` of its reward."""
    idle_days: float = 60.0
    """How long a working memory may stay unasked for before it goes to the edge."""


@dataclass(frozen=True, slots=True)
class TidyChange:
    """One thing that tidying does: to which memory, by which rule and why."""

    IN_JSON: ClassVar = ("changes",)

    rule: Rule
    id: str
    reason: str
    pairs: Annotated[tuple[tuple[Memory, Memory], ...], Hidden(tuple)]
    """Each memory it changes, before and after."""
    linked: Annotated[tuple[Link, ...], Hidden(tuple)] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """The memories it changes, its own first."""
        return tuple(dict.fromkeys((self.id, *(after.id for _, after in self.pairs))))

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of each memory that change, by its id."""
        return {after.id: difference(before, after) for before, after in self.pairs}


@dataclass(frozen=True, slots=True)
class Tidying:
    """What tidying would change, or has changed; `run` is what `undo` takes, None for a dry run."""

    IN_JSON: ClassVar = ("counts",)

    at: datetime
    changes: tuple[TidyChange, ...]
    run: str | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many changes there are by rule."""
        return Counter(change.rule for change in self.changes)


LEARNT = {Kind.SEMANTIC: "proposition/", Kind.PROCEDURAL: "procedure/"}
"""Kinds of nodes that are derived, and how their keys begin; a memory of these kinds without one is verbatim."""
LABELS = {Kind.TAG: MEMBERSHIP, Kind.INTENT: HIERARCHY}
"""Kinds that only lead to others, and the relation by which."""
PAGE = 1000


class Desk:
    """The part of a store that tidying may change, and the changes so far; each sees the ones before it."""

    def __init__(self, store: Store, now: datetime, rules: TidyRules) -> None:
        self.store, self.now, self.rules = store, now, rules
        self._seen_now = Filter(as_of=now, known_at=now)
        self.learnt: dict[str, Memory] = {}
        self.labels: dict[str, Memory] = {}
        self.expiring: dict[str, Memory] = {}
        self.changes: list[TidyChange] = []
        for memory in _everything(store):
            self._lay_out(memory)
        self._links = defaultdict[str, dict[Link, None]](dict)
        for link in _distinct(store, [*self.learnt, *self.labels]):
            self._links[link.source][link] = None

    def _lay_out(self, memory: Memory) -> None:
        if memory.version_of is not None:
            return
        if is_learnt(memory):
            self.learnt[memory.id] = memory
        elif memory.kind in LABELS and memory.metadata.get("by"):
            self.labels[memory.id] = memory
        expires = memory.times.expires_at
        if expires is not None and expires <= self.now and not _closed(memory) and CLAIMS not in memory.metadata:
            self.expiring[memory.id] = memory

    def alive(self, *kinds: Kind) -> list[Memory]:
        """The learnt nodes of some kinds that a recall may give now, in the order written."""
        return [one for one in self.learnt.values() if self.is_alive(one) and (not kinds or one.kind in kinds)]

    def is_alive(self, memory: Memory) -> bool:
        """Whether a recall may give it now."""
        return self._seen_now.admits(memory)

    def links(self, id: str, *relations: str) -> list[Link]:
        """The links of some relations that start at a node."""
        return [link for link in self._links[id] if link.relation in relations]

    def sources(self, id: str) -> list[str]:
        """What a node was learnt from."""
        return [link.target for link in self.links(id, PROVENANCE)]

    def leading(self) -> set[str]:
        """The labels by which something that is alive can be reached."""
        return {link.target for node in self.alive() for link in self.links(node.id, *LABELS.values())}

    def change(self, rule: Rule, reason: str, *after: Memory, links: Iterable[Link] = ()) -> None:
        """Do something to memories; the first is the one that it is about."""
        new = tuple(link for link in links if link not in self._links[link.source])
        for link in new:
            self._links[link.source][link] = None
        self.changes.append(
            TidyChange(rule, after[0].id, reason, tuple((self._known(one.id), one) for one in after), new)
        )
        for one in after:
            for place in (self.learnt, self.labels, self.expiring):
                if one.id in place:
                    place[one.id] = one

    def _known(self, id: str) -> Memory:
        return self.learnt.get(id) or self.labels.get(id) or self.expiring[id]


def is_learnt(memory: Memory) -> bool:
    """Whether a memory was derived from a session's steps; facts that rest on claims are settled by their own rules."""
    prefix = LEARNT.get(memory.kind)
    return (
        prefix is not None
        and memory.fact is None
        and bool(memory.metadata.get("by"))
        and (memory.origin.key or "").startswith(prefix)
    )


def ended(memory: Memory, at: datetime, now: datetime, flag: str | None = None) -> Memory:
    """A memory that ended at a moment, as known from now on; `include_expired` still finds it."""
    times = replace(memory.times, valid_to=max(at, memory.times.valid_from), expired_at=now)
    return with_flag(replace(memory, times=times), flag) if flag else replace(memory, times=times)


def with_flag(memory: Memory, flag: str) -> Memory:
    """A memory with one more flag."""
    return replace(memory, worth=replace(memory.worth, flags=tuple(dict.fromkeys((*memory.worth.flags, flag)))))


def _closed(memory: Memory) -> bool:
    return memory.times.valid_to is not None or memory.times.retracted_at is not None


def _everything(store: Store) -> Iterator[Memory]:
    cursor = None
    while True:
        page = store.scan(Filter(), PAGE, cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def _distinct(store: Store, ids: Sequence[str]) -> dict[Link, None]:
    links: dict[Link, None] = {}
    for start in range(0, len(ids), PAGE):
        links |= dict.fromkeys(store.links(ids[start : start + PAGE]))
    return links

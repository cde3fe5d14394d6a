"""The plan of a tidying: the memories it may change, and the changes so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from memorist.model import PROVENANCE, Filter, Kind, Link, Memory, Tier
from memorist.ports import Store
from memorist.recall.factors import Weibull, age_hours
from memorist.recall.prepare import ROUTING
from memorist.remember.derived import LABELS, is_label
from memorist.remember.fact_rows import CLAIMS
from memorist.results.upkeep import Change
from memorist.upkeep.change import every_page

RuleName = Literal["expire", "revive", "merge", "ground", "decay", "tier", "orphan"]
LEARNT = {Kind.SEMANTIC: "proposition/", Kind.PROCEDURAL: "procedure/"}
"""Kinds of derived nodes and the prefixes of their keys; a memory of these kinds without the prefix is verbatim."""
PAGE = 1000


class TidyPlan:
    """The part of a store that tidying may change, and the changes so far; each rule sees the earlier changes."""

    def __init__(self, store: Store, now: datetime) -> None:
        self.store, self.now = store, now
        self._seen_now = Filter(as_of=now, known_at=now)
        self.learnt: dict[str, Memory] = {}
        self.labels: dict[str, Memory] = {}
        self.expiring: dict[str, Memory] = {}
        self.moving: dict[str, Memory] = {}
        self.changes: list[Change] = []
        for page in every_page(store, Filter(), PAGE):
            for memory in page:
                self._sort(memory)
        self._links = defaultdict[str, dict[Link, None]](dict)
        nodes = [*self.learnt, *self.labels]
        for start in range(0, len(nodes), PAGE):
            for link in store.links(nodes[start : start + PAGE]):
                self._links[link.source][link] = None

    def _sort(self, memory: Memory) -> None:
        if memory.version_of is not None:
            return
        times = memory.times
        if is_learnt(memory):
            self.learnt[memory.id] = memory
        elif is_label(memory):
            self.labels[memory.id] = memory
        closed = times.valid_to is not None or times.retracted_at is not None
        expired = times.expires_at is not None and times.expires_at <= self.now
        if has_own_tier(memory) and self.is_alive(memory) and tier_for(memory, self.now) is not memory.tier:
            self.moving[memory.id] = memory
        if expired and not closed and CLAIMS not in memory.metadata:
            self.expiring[memory.id] = memory

    def alive(self, *kinds: Kind) -> list[Memory]:
        """The learnt nodes of these kinds, or of all, that a recall may return now, in the order written."""
        return [
            memory for memory in self.learnt.values() if self.is_alive(memory) and (not kinds or memory.kind in kinds)
        ]

    def is_alive(self, memory: Memory) -> bool:
        """Whether a recall may return the memory now."""
        return self._seen_now.admits(memory)

    def links(self, id: str, *relations: str) -> list[Link]:
        """The links of these relations that start at a node."""
        return [link for link in self._links[id] if link.relation in relations]

    def sources(self, id: str) -> list[str]:
        """The ids of the memories that a node was learnt from."""
        return [link.target for link in self.links(id, PROVENANCE)]

    def used_labels(self) -> set[str]:
        """The ids of the labels of learnt nodes that are alive, and of texts and facts, which tidying leaves alone."""
        users = [id for id in self._links if id not in self.learnt or self.is_alive(self.learnt[id])]
        return {link.target for id in users for link in self.links(id, *LABELS.values())}

    def change(self, rule: RuleName, reason: str, *after: Memory, links: Iterable[Link] = ()) -> None:
        """Plan a change of memories and new links; it is about the first memory."""
        new = tuple(link for link in links if link not in self._links[link.source])
        for link in new:
            self._links[link.source][link] = None
        pairs = tuple((self._known(memory.id), memory) for memory in after)
        self.changes.append(Change(rule, after[0].id, reason, pairs, new))
        for memory in after:
            for group in (self.learnt, self.labels, self.expiring, self.moving):
                if memory.id in group:
                    group[memory.id] = memory

    def _known(self, id: str) -> Memory:
        return self.learnt.get(id) or self.labels.get(id) or self.expiring.get(id) or self.moving[id]


def is_learnt(memory: Memory) -> bool:
    """Whether a memory was derived from the steps of a session; facts that rest on claims have their own rules."""
    prefix = LEARNT.get(memory.kind)
    return (
        prefix is not None
        and memory.fact is None
        and bool(memory.metadata.get("by"))
        and (memory.origin.key or "").startswith(prefix)
    )


IDLE_DAYS = 60.0
"""Days without a recall after which a working memory becomes peripheral, as in mnemo."""


def has_own_tier(memory: Memory) -> bool:
    """Whether a remembered text moves between tiers.

    Facts are written anew from their claims, and routing nodes are not recalled by themselves. What a gate or a person
    flagged stays where that put it. So does a core memory: it was put there by hand, or by ten recalls, which are more
    than the three below which mnemo would move it down.
    """
    is_text = not is_learnt(memory) and memory.fact is None and memory.kind not in ROUTING
    return is_text and memory.tier is not Tier.CORE and not memory.worth.flags


def tier_for(memory: Memory, now: datetime) -> Tier:
    """peripheral→working ≥ 3 recalls and 0.4; working→core ≥ 10, 0.7 and importance 0.8; down below 0.15, or idle.

    A pinned memory stays pinned.
    """
    recalls = memory.usage.recalls if memory.usage else 0
    composite = Weibull().composite(memory, now)
    if memory.tier is Tier.PINNED:
        return memory.tier
    if memory.tier is Tier.PERIPHERAL:
        return Tier.WORKING if recalls >= 3 and composite >= 0.4 else memory.tier
    if memory.tier is Tier.CORE:
        return Tier.WORKING if recalls < 3 and composite < 0.15 else memory.tier
    if recalls >= 10 and composite >= 0.7 and memory.worth.importance >= 0.8:
        return Tier.CORE
    idle = recalls < 3 and age_hours(memory, now, "access") >= 24 * IDLE_DAYS
    return Tier.PERIPHERAL if idle or composite < 0.15 else memory.tier

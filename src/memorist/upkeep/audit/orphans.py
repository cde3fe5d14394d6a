"""Orphans: what was derived of nothing that is left, labels that label nothing, links that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from re import compile as pattern

from memorist.model import DENIES, STATES, Kind, Link, Memory
from memorist.ports import Store
from memorist.remember.ledger import CLAIMS
from memorist.remember.sessions.links import HIERARCHY, MEMBERSHIP, PROVENANCE, SIBLING
from memorist.upkeep.audit.check import is_current
from memorist.upkeep.audit.fixes import DERIVED, Retire, Unlink
from memorist.upkeep.audit.model import Finding

BETWEEN_MEMORIES = frozenset((MEMBERSHIP, HIERARCHY, PROVENANCE, SIBLING, STATES, DENIES, "source"))
"""Relations that have a memory at both ends; others may lead to entities."""
LABELS = {Kind.TAG: MEMBERSHIP, Kind.INTENT: HIERARCHY}
"""Kinds that only point the way, and the relation that leads to them."""
_ID = pattern(r"[0-9a-f]{32}")


class Orphans:
    """Finds what has lost whatever it hung on."""

    kinds = ("orphan",)

    def __init__(self, store: Store, now: datetime) -> None:
        self._store = store
        self._now = now
        self._there: set[str] = set()
        self._links: list[Link] = []
        self._derived: dict[str, tuple[str, ...]] = {}
        self._labels: dict[str, None] = {}

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """Nothing yet."""
        self._there.update(memory.id for memory in page)
        links = self._store.links([memory.id for memory in page])
        self._links += [link for link in links if link.relation in BETWEEN_MEMORIES]
        for memory in page:
            if is_current(memory, self._now) and memory.kind in DERIVED:
                if memory.kind in LABELS:
                    self._labels[memory.id] = None
                elif sources := _sources(memory):
                    self._derived[memory.id] = sources
        return ()

    def close(self) -> Iterator[Finding]:
        """What is left without its other end."""
        used = {link.target for link in self._links if link.source in self._there}
        for id, sources in self._derived.items():
            if self._there.isdisjoint(sources):
                yield Finding("orphan", (id,), "was derived from memories that are gone", "medium", Retire(id))
        for id in self._labels:
            if id not in used:
                yield Finding("orphan", (id,), "is a label of nothing", "low", Retire(id))
        yield from self._nowhere()

    def _nowhere(self) -> Iterator[Finding]:
        lost = {link for link in self._links if not {link.source, link.target} <= self._there}
        by_source = attrgetter("source")
        for source, links in groupby(
            sorted(lost, key=lambda link: (link.source, link.relation, link.target)), by_source
        ):
            gone = tuple(links)
            ids = tuple(sorted({end for link in gone for end in (link.source, link.target)} & self._there))
            reason = f"has {len(gone)} links that lead nowhere" if source in self._there else "is linked from nowhere"
            yield Finding("orphan", ids, reason, "low", Unlink(gone))


def _sources(memory: Memory) -> tuple[str, ...]:
    """The memories that it says it was derived from; those it was told directly have none."""
    claims = memory.metadata.get(CLAIMS)
    named = [memory.origin.source] if claims is None else [claim.get("source") for claim in claims]
    return () if None in named else tuple(one for one in named if one and _ID.fullmatch(one))

"""The checks of an audit, each on its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from re import compile as pattern
from typing import TYPE_CHECKING, Protocol

from memorist.model import DENIES, HIERARCHY, MEMBERSHIP, PROVENANCE, SIBLING, STATES, Kind, Link, Memory, Tier
from memorist.ports import Store
from memorist.remember.derived import DERIVED
from memorist.remember.fact_rows import CLAIMS, one_valued
from memorist.remember.gates import GateContext, Policy
from memorist.remember.gates.checks import LOOP_FLAG as LOOP
from memorist.remember.gates.checks import describe_copies, form_of, instructions, is_loop, kinds_in, noise
from memorist.remember.gates.verdict import spoken
from memorist.remember.timeline import folded
from memorist.text.gist import Copies, copies, denials, pieces_of
from memorist.text.tokens import sentences
from memorist.upkeep.audit.fixes import Close, Demote, Mark, Mask, Rebuild, Retire, Unlink
from memorist.upkeep.audit.model import Finding, Fix

if TYPE_CHECKING:
    from memorist.ports import Vectors


CONTENT = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.NOTE)
"""Kinds that say something of their own."""


class Check(Protocol):
    """Looks for faults of its kinds."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what it finds."""
        ...

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """What these memories show, with all seen before them."""
        ...

    def close(self) -> Iterable[Finding]:
        """What only shows at the end."""
        ...


def is_current(memory: Memory, now: datetime) -> bool:
    """Whether a recall at this moment may give it."""
    times = memory.times
    return (
        memory.version_of is None
        and times.retracted_at is None
        and (times.valid_to is None or times.valid_to > now)
        and (times.expires_at is None or times.expires_at > now)
    )


FLAG = "contradicted"


@dataclass(frozen=True, slots=True)
class _Stated:
    """Who states something, since when; `alone` if it states nothing else."""

    id: str
    since: datetime
    value: str
    alone: bool


class Contradictions:
    """Finds current facts of one slot with different values, and what one speaker both says and denies."""

    kinds = ("contradiction",)

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._values = defaultdict[tuple[str, str, str], list[_Stated]](list)
        self._statements = defaultdict[bytes, list[_Stated]](list)

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """Nothing yet."""
        for memory in page:
            if memory.kind in CONTENT and is_current(memory, self._now):
                self._add_value(memory)
                self._add_statements(memory)
        return ()

    def close(self) -> Iterator[Finding]:
        """A finding for each older statement that a newer one contradicts."""
        for (_, subject, relation), stated in self._values.items():
            yield from _superseded(stated, f"{subject} has another {relation.replace('_', ' ')} by now:")
        for stated in self._statements.values():
            yield from _superseded(stated, "is denied by")

    def _add_value(self, memory: Memory) -> None:
        fact = memory.fact
        if fact is not None and one_valued(fact.relation):
            slot = (memory.scope, folded(fact.subject), fact.relation)
            self._values[slot].append(_Stated(memory.id, memory.times.valid_from, folded(fact.object), True))

    def _add_statements(self, memory: Memory) -> None:
        if memory.fact is not None or memory.kind is Kind.NOTE or FLAG in memory.worth.flags:
            return
        said = spoken(memory)
        alone = len(sentences(said)) == 1
        for stems, denied in denials(said):
            key = repr((memory.scope, memory.origin.speaker, stems)).encode("utf-8", "surrogatepass")
            stated = _Stated(memory.id, memory.times.valid_from, "denied" if denied else "stated", alone)
            self._statements[blake2b(key, digest_size=12).digest()].append(stated)


def _superseded(stated: Sequence[_Stated], how: str) -> Iterator[Finding]:
    """What the newest contradicts; of a kind with it, nothing."""
    newest = max(stated, key=lambda one: (one.since, one.id))
    for one in stated:
        if one.value != newest.value and one.id != newest.id:
            fix = Close(one.id, newest.since, newest.id) if one.alone else Mark(one.id, FLAG)
            yield Finding("contradiction", (one.id, newest.id), f"{how} {newest.id}", "high", fix)


_WORDS = "words of their text"
"""What a store says of memories whose words do not match."""
CHUNK = 500


class Drift:
    """Finds memories without vectors, or with vectors that point nowhere, and whatever the store itself finds."""

    kinds = ("drift",)

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids: list[str] = []
        self._lacking: list[str] = []
        self._unsound: list[str] = []

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """Nothing yet."""
        self._ids += [memory.id for memory in page]
        if self._store.embedding is not None:
            ids = [memory.id for memory in page if memory.kind is not Kind.SOURCE]
            embedded = self._store.embedded(ids)
            self._lacking += [id for id in ids if id not in embedded]
            self._unsound += [id for id, views in self._store.vectors(ids).items() if not _sound(views)]
        return ()

    def close(self) -> Iterator[Finding]:
        """What is not searched as it is stored."""
        yield from _told(self._lacking, "have no vectors of the store's embedding")
        yield from _told(self._unsound, "have vectors without a direction")
        integrity: Callable[[], list[str]] = getattr(self._store, "integrity", list[str])
        for problem in integrity():
            ids = tuple(self._ids) if _WORDS in problem else ()
            yield Finding("drift", (), problem, "high", Rebuild(ids, vectors=False) if ids else None)


def _told(ids: Sequence[str], what: str) -> Iterator[Finding]:
    for start in range(0, len(ids), CHUNK):
        some = tuple(ids[start : start + CHUNK])
        yield Finding("drift", some, f"{len(some)} memories {what}", "high", Rebuild(some, vectors=True))


def _sound(views: Vectors) -> bool:
    import numpy as np

    return all(bool(np.isfinite(vector).all()) and bool(vector.any()) for vector in views.values())


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


OLD = timedelta(days=180)
"""Age from which on a memory that was never recalled is told."""
LITTLE = 0.2
"""Importance times confidence up to which an old one is stale."""


class Stale:
    """Finds what has ended without being closed, and what nobody has asked for."""

    kinds = ("stale", "never_recalled")

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._begins: dict[str, datetime] = {}
        self._superseded: dict[str, str] = {}
        self._unasked: list[Memory] = []
        self._in_use = False

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """What has expired."""
        for memory in page:
            self._in_use = self._in_use or bool(memory.usage and memory.usage.recalls)
            times = memory.times
            if memory.version_of is not None or times.retracted_at is not None or times.valid_to is not None:
                continue
            self._begins[memory.id] = times.valid_from
            if memory.superseded_by is not None:
                self._superseded[memory.id] = memory.superseded_by
            elif times.expires_at is not None and times.expires_at <= self._now:
                fix = Close(memory.id, times.expires_at)
                yield Finding("stale", (memory.id,), f"expired on {times.expires_at.date()}", "low", fix)
            elif self._is_unasked(memory):
                self._unasked.append(memory)

    def close(self) -> Iterable[Finding]:
        """What was superseded and still stands; and, in a memory that is used, what was never recalled."""
        for id, successor in self._superseded.items():
            at = self._begins.get(successor, self._now)
            reason = f"was superseded by {successor} and still stands"
            yield Finding("stale", (id,), reason, "medium", Close(id, at, successor))
        if self._in_use:
            yield from map(self._never_recalled, self._unasked)

    def _is_unasked(self, memory: Memory) -> bool:
        """Old, and not once recalled; what stands at the edge already, or at the core, is where it belongs."""
        usage = memory.usage
        return (
            memory.kind in CONTENT
            and memory.tier is Tier.WORKING
            and usage is not None
            and usage.recalls == 0
            and self._now - memory.times.ingested_at >= OLD
            and is_current(memory, self._now)
        )

    def _never_recalled(self, memory: Memory) -> Finding:
        days = (self._now - memory.times.ingested_at).days
        worth = memory.worth.importance * memory.worth.confidence
        if worth > LITTLE:
            return Finding("never_recalled", (memory.id,), f"not recalled in {days} days", "low", Demote(memory.id))
        fix: Fix = Retire(memory.id) if memory.kind in DERIVED else Demote(memory.id)
        reason = f"not recalled in {days} days and worth {worth:.2f}"
        return Finding("stale", (memory.id,), reason, "low", fix)


MOST_HOLDERS = 8
"""Memories remembered for one sentence; what more of them say is a phrase."""


class Texts:
    """What the gates for secrets, instructions and noise would have said."""

    kinds = ("secret", "instructions", "noise")

    def __init__(self, store: Store, now: datetime) -> None:
        self._now = now
        self._context = GateContext(Policy(), store)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """Secrets wherever they stand, history included; the rest in what is current."""
        for memory in page:
            if kinds := kinds_in(memory):
                yield Finding("secret", (memory.id,), f"holds {', '.join(kinds)}", "high", Mask(memory.id))
            if not is_current(memory, self._now):
                continue
            if (order := instructions(memory, self._context)) is not None:
                yield Finding("instructions", (memory.id,), order.reason, "high", Mark(memory.id, "instructions"))
            if (empty := noise(memory, self._context)) is not None:
                yield Finding("noise", (memory.id,), empty.reason, "low", Mark(memory.id, "noise"))

    def close(self) -> Iterable[Finding]:
        """Nothing more."""
        return ()


class Loops:
    """Recalled context that was kept as if it were new."""

    kinds = ("loop",)

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._where = defaultdict[str, list[str]](list)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """What repeats memories written before it."""
        for memory in page:
            if not is_current(memory, self._now) or memory.kind is not Kind.EPISODIC or LOOP in memory.worth.flags:
                continue
            pieces = pieces_of(memory.text)
            keys = [_key(memory.scope, piece) for piece in pieces]
            found = self._found(pieces, keys)
            reason = form_of(memory.text) or (describe_copies(found) if is_loop(found) else None)
            if reason is not None:
                yield Finding("loop", (memory.id, *found.sources), reason, "medium", Retire(memory.id))
                continue
            for key in keys:
                if len(self._where[key]) < MOST_HOLDERS:
                    self._where[key].append(memory.id)

    def close(self) -> Iterable[Finding]:
        """Nothing more."""
        return ()

    def _found(self, pieces: Sequence[str], keys: Sequence[str]) -> Copies:
        there = {piece: self._where[key] for piece, key in zip(pieces, keys, strict=True) if key in self._where}
        return copies(pieces, there)


def _key(scope: str, piece: str) -> str:
    return blake2b(f"{scope}\0{piece}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

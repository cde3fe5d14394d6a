"""The checks of an audit: search data, links, age, texts and loops. Duplicates and contradictions are apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from memorist.model import DENIES, HIERARCHY, MEMBERSHIP, PROVENANCE, SIBLING, STATES, Kind, Link, Memory, Tier
from memorist.ports import Damage, Store
from memorist.remember.derived import DERIVED, is_label
from memorist.remember.fact_rows import sources_of
from memorist.remember.gates import GateContext, Policy
from memorist.remember.gates.checks import LOOP_FLAG as LOOP
from memorist.remember.gates.checks import describe_copies, form_of, instructions, is_loop, noise
from memorist.remember.gates.verdict import pieces_in
from memorist.remember.redaction import kinds_in
from memorist.results.upkeep import Finding
from memorist.text.gist import Copies, copies, pieces_of
from memorist.upkeep.audit.fixes import damage_repair, demote, end, flag, mask, rebuild, retire, unlink

if TYPE_CHECKING:
    from memorist.ports import Vectors


CONTENT = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.NOTE)
"""Kinds with content of their own, unlike labels and sources."""


class Check:
    """Looks for findings of its kinds: it is shown every page of memories, then closed."""

    kinds: ClassVar[tuple[str, ...]]

    def __init__(self, store: Store, now: datetime) -> None:
        self.store = store
        self.now = now

    def see(self, page: Sequence[Memory]) -> Iterable[Finding] | None:
        """The findings that these memories, together with all earlier ones, give rise to."""

    def close(self) -> Iterable[Finding] | None:
        """The findings that are known only at the end."""


def is_current(memory: Memory, now: datetime) -> bool:
    """Whether a recall at this moment may return the memory."""
    times = memory.times
    return (
        memory.version_of is None
        and times.retracted_at is None
        and (times.valid_to is None or times.valid_to > now)
        and (times.expires_at is None or times.expires_at > now)
    )


CHUNK = 500
"""Memories per finding about vectors."""


class Drift(Check):
    """Finds memories with missing or invalid vectors, and the integrity problems that the store itself reports."""

    kinds = ("drift",)

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._ids: list[str] = []
        self._lacking: list[str] = []
        self._unsound: list[str] = []

    def see(self, page: Sequence[Memory]) -> None:
        """No findings yet."""
        self._ids += [memory.id for memory in page]
        if self.store.embedding is not None:
            ids = [memory.id for memory in page if memory.kind is not Kind.SOURCE]
            embedded = self.store.embedded(ids)
            self._lacking += [id for id in ids if id not in embedded]
            vectors = self.store.vectors(ids)
            self._unsound += [id for id in ids if id in embedded and not _sound(vectors.get(id, {}))]

    def close(self) -> Iterator[Finding]:
        """Memories whose search data does not match what is stored."""
        yield from _vector_findings(self._lacking, "have no vectors of the store's embedding")
        yield from _vector_findings(self._unsound, "have vectors without a direction")
        yield from damage_findings(self.store, self._ids)


def damage_findings(store: Store, ids: Iterable[str]) -> Iterator[Finding]:
    """What a store itself reports as damaged; a part of a store reports nothing. `ids` are those of its memories."""
    integrity: Callable[[], list[Damage]] = getattr(store, "integrity", list[Damage])
    can_repair = hasattr(store, "repair")
    for damage in integrity():
        torn = tuple(ids) if damage.of_words else ()
        fix = rebuild(torn, vectors=False) if torn else damage_repair(damage.problem) if can_repair else None
        yield Finding("drift", (), damage.problem, "high", fix)


def _vector_findings(ids: Sequence[str], problem: str) -> Iterator[Finding]:
    for start in range(0, len(ids), CHUNK):
        some = tuple(ids[start : start + CHUNK])
        yield Finding("drift", some, f"{len(some)} memories {problem}", "high", rebuild(some, vectors=True))


def _sound(views: Vectors) -> bool:
    import numpy as np

    return bool(views) and all(bool(np.isfinite(vector).all()) and bool(vector.any()) for vector in views.values())


BETWEEN_MEMORIES = frozenset((MEMBERSHIP, HIERARCHY, PROVENANCE, SIBLING, STATES, DENIES))
"""Relations with a memory at both ends; others may lead to entities."""


class Orphans(Check):
    """Finds memories whose sources are gone, labels without members, and dangling links."""

    kinds = ("orphan",)

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._there: set[str] = set()
        self._links: list[Link] = []
        self._derived: dict[str, tuple[str, ...]] = {}
        self._labels: dict[str, None] = {}

    def see(self, page: Sequence[Memory]) -> None:
        """No findings yet."""
        self._there.update(memory.id for memory in page)
        links = self.store.links([memory.id for memory in page])
        self._links += [link for link in links if link.relation in BETWEEN_MEMORIES]
        for memory in page:
            if is_current(memory, self.now) and memory.kind in DERIVED:
                if is_label(memory):
                    self._labels[memory.id] = None
                elif sources := sources_of(memory):
                    self._derived[memory.id] = sources

    def close(self) -> Iterator[Finding]:
        """Everything whose other end is missing."""
        used = {link.target for link in self._links if link.source in self._there}
        for id, sources in self._derived.items():
            if self._there.isdisjoint(sources):
                yield Finding("orphan", (id,), "was derived from memories that are gone", "medium", retire(id))
        for id in self._labels:
            if id not in used:
                yield Finding("orphan", (id,), "labels no memory", "low", retire(id))
        yield from self._dangling()

    def _dangling(self) -> Iterator[Finding]:
        lost = {link for link in self._links if not {link.source, link.target} <= self._there}
        in_order = sorted(lost, key=lambda link: (link.source, link.relation, link.target))
        for source, links in groupby(in_order, lambda link: link.source):
            gone = tuple(links)
            ids = tuple(sorted({end for link in gone for end in (link.source, link.target)} & self._there))
            reason = f"has dangling links: {len(gone)}" if source in self._there else "is linked from a missing memory"
            yield Finding("orphan", ids, reason, "low", unlink(gone))


OLD = timedelta(days=180)
"""Age from which a memory that was never recalled is reported."""
LITTLE = 0.2
"""An old memory with importance × confidence up to this is stale."""


class Stale(Check):
    """Finds memories that expired or were superseded without being ended, and old ones that were never recalled."""

    kinds = ("stale", "never_recalled")

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._begins: dict[str, datetime] = {}
        self._superseded: dict[str, str] = {}
        self._unasked: list[Memory] = []
        self._in_use = False

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """Expired memories."""
        for memory in page:
            self._in_use = self._in_use or bool(memory.usage and memory.usage.recalls)
            times = memory.times
            if memory.version_of is not None or times.retracted_at is not None or times.valid_to is not None:
                continue
            self._begins[memory.id] = times.valid_from
            if memory.superseded_by is not None:
                self._superseded[memory.id] = memory.superseded_by
            elif times.expires_at is not None and times.expires_at <= self.now:
                fix = end(memory.id, times.expires_at)
                yield Finding("stale", (memory.id,), f"expired on {times.expires_at.date()}", "low", fix)
            elif self._is_unasked(memory):
                self._unasked.append(memory)

    def close(self) -> Iterable[Finding]:
        """Superseded memories that were not ended; and, if this memory is used at all, those never recalled."""
        for id, successor in self._superseded.items():
            at = self._begins.get(successor, self.now)
            reason = f"was superseded by {successor} and has not ended"
            yield Finding("stale", (id,), reason, "medium", end(id, at, successor))
        if self._in_use:
            yield from map(self._never_recalled, self._unasked)

    def _is_unasked(self, memory: Memory) -> bool:
        """Whether the memory is old, current, never recalled and in the working tier; other tiers were chosen."""
        usage = memory.usage
        return (
            memory.kind in CONTENT
            and memory.tier is Tier.WORKING
            and usage is not None
            and usage.recalls == 0
            and self.now - memory.times.ingested_at >= OLD
            and is_current(memory, self.now)
        )

    def _never_recalled(self, memory: Memory) -> Finding:
        days = (self.now - memory.times.ingested_at).days
        worth = memory.worth.importance * memory.worth.confidence
        if worth > LITTLE:
            return Finding("never_recalled", (memory.id,), f"not recalled in {days} days", "low", demote(memory.id))
        fix = retire(memory.id) if memory.kind in DERIVED else demote(memory.id)
        reason = f"not recalled in {days} days and worth {worth:.2f}"
        return Finding("stale", (memory.id,), reason, "low", fix)


MOST_HOLDERS = 8
"""Memories kept per sentence; a sentence that more of them contain is a set phrase."""


class GateCheck(Check):
    """Applies the write gates for secrets, instructions and noise to what is stored."""

    kinds = ("secret", "instructions", "noise")

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._context = GateContext(Policy(), store)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """Secrets in every version, history included; instructions and noise in current memories."""
        for memory in page:
            if kinds := kinds_in(memory):
                yield Finding("secret", (memory.id,), f"holds {', '.join(kinds)}", "high", mask(memory.id))
            if not is_current(memory, self.now):
                continue
            if (order := instructions(memory, self._context)) is not None:
                yield Finding("instructions", (memory.id,), order.reason, "high", flag(memory.id, "instructions"))
            if (empty := noise(memory, self._context)) is not None:
                yield Finding("noise", (memory.id,), empty.reason, "low", flag(memory.id, "noise"))


class Loops(Check):
    """Finds recalled context that was stored again as if it were new."""

    kinds = ("loop",)

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._where = defaultdict[str, list[str]](list)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """Memories that repeat earlier ones."""
        for memory in page:
            if not is_current(memory, self.now) or memory.kind is not Kind.EPISODIC or LOOP in memory.worth.flags:
                continue
            pieces = pieces_of(memory.text)
            keys = [_key(memory.scope, piece) for piece in pieces]
            found = self._found(pieces, keys)
            reason = form_of(memory.text) or (describe_copies(found) if is_loop(found) else None)
            if reason is not None:
                yield Finding("loop", (memory.id, *found.sources), reason, "medium", retire(memory.id))
                continue
            for key in (_key(memory.scope, piece) for piece in pieces_in(memory)):
                if len(self._where[key]) < MOST_HOLDERS:
                    self._where[key].append(memory.id)

    def _found(self, pieces: Sequence[str], keys: Sequence[str]) -> Copies:
        there = {piece: self._where[key] for piece, key in zip(pieces, keys, strict=True) if key in self._where}
        return copies(pieces, there)


def _key(scope: str, piece: str) -> str:
    return blake2b(f"{scope}\0{piece}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

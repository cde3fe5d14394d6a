"""Listing memories by filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from numpy.typing import NDArray

from memorist.model import Entity, Filter, Link, Memory, Showing
from memorist.ports import Entry, Job, Kept, Record, StoreStats, Vectors
from memorist.stores.common import Adopted
from memorist.stores.index import micros

Value = str | int | list[str]


class SqlClause(NamedTuple):
    """A condition on the columns of `memories`, and its named parameters."""

    sql: str
    values: dict[str, Value]


class SqlDialect(NamedTuple):
    """How a database writes a named parameter, and a column that is one of a list of texts."""

    parameter: Callable[[str], str]
    among: Callable[[str, str], str]

    def clause(self, where: Filter) -> SqlClause:
        """The condition that admits what the filter admits."""
        return SqlClause(" AND ".join(_conditions(where, self)), dict(_values(where)))


def _conditions(where: Filter, dialect: SqlDialect) -> Iterator[str]:
    at = dialect.parameter
    yield f"classification <= {at('max_classification')}"
    for column, name in (("scope", "scopes"), ("kind", "kinds")):
        if getattr(where, name) is not None:
            yield dialect.among(column, at(name))
    for name in ("topic", "tier"):
        if getattr(where, name) is not None:
            yield f"{name} = {at(name)}"
    if where.since is not None:
        yield f"valid_from >= {at('since')}"
    if where.until is not None:
        yield f"valid_from <= {at('until')}"
    if where.known_at is not None:
        yield f"ingested_at <= {at('known_at')}"
        yield f"(retracted_at IS NULL OR retracted_at > {at('known_at')})"
    if where.as_of is not None:
        yield f"valid_from <= {at('as_of')}"
        if not where.include_expired:
            yield f"(expires_at IS NULL OR expires_at > {at('as_of')})"
            yield _still_true(where, at)


def _still_true(where: Filter, at: Callable[[str], str]) -> str:
    unknown = "" if where.known_at is None else f" OR expired_at > {at('known_at')}"
    return f"(valid_to IS NULL OR valid_to > {at('as_of')}{unknown})"


def _values(where: Filter) -> Iterator[tuple[str, Value]]:
    yield "max_classification", where.max_classification
    for name in ("scopes", "kinds"):
        labels: tuple[str, ...] | None = getattr(where, name)
        if labels is not None:
            yield name, [str(label) for label in labels]
    for name in ("topic", "tier"):
        label: str | None = getattr(where, name)
        if label is not None:
            yield name, str(label)
    for name in ("since", "until", "known_at", "as_of"):
        at: datetime | None = getattr(where, name)
        if at is not None:
            yield name, micros(at)


Held = tuple[Memory, Mapping[str, NDArray[Any]]]
"""A memory and its vectors by view."""


def around(held: Sequence[Memory], centre: Memory, before: int, after: int) -> list[Memory]:
    """The memories around one in its session, by position and then by the order they are given in."""
    beside = [memory for memory in held if memory is centre or _beside(memory, centre)]
    beside.sort(key=lambda memory: memory.origin.position or 0)
    at = beside.index(centre)
    return beside[max(0, at - max(0, before)) : at + max(0, after) + 1]


def _beside(memory: Memory, other: Memory) -> bool:
    """Whether a memory is current, and has a place in the other one's session."""
    mine, theirs = memory.origin, other.origin
    placed = mine.position is not None and theirs.position is not None and mine.session is not None
    return placed and mine.session == theirs.session and memory.version_of is None


def said(held: Sequence[Memory], session: str, first: int, last: int) -> list[Memory]:
    """The current memories of a session from one position to another, by position and then in the order given."""
    placed = [
        (memory.origin.position, memory)
        for memory in held
        if memory.origin.session == session and memory.origin.position is not None and memory.version_of is None
    ]
    return [memory for at, memory in sorted(placed, key=lambda one: one[0]) if first <= at <= last]


def counted(
    space: str, held: Sequence[Held], links: int, entities: int, generation: int, adopted: Adopted | None
) -> StoreStats:
    """How much there is; bytes count texts and vectors."""
    current = [memory for memory, _ in held if memory.version_of is None]
    return StoreStats(
        space=space,
        memories=len(current),
        versions=len(held) - len(current),
        links=links,
        entities=entities,
        bytes=sum(_size(*one) for one in held),
        generation=generation,
        embedding=adopted and adopted[0],
        kinds=Counter(str(memory.kind) for memory in current),
        scopes=Counter(memory.scope for memory in current),
        dimension=adopted and adopted[1],
    )


def _size(memory: Memory, vectors: Mapping[str, NDArray[Any]]) -> int:
    return len(memory.text.encode("utf-8", "surrogatepass")) + sum(view.nbytes for view in vectors.values())


def dumped(
    held: Sequence[Memory],
    vectors: Mapping[str, Vectors],
    entities: Mapping[str, Entity],
    links: Mapping[tuple[str, str, str], Link],
    jobs: Sequence[Job],
    journal: Sequence[Entry],
    shown: Mapping[str, Mapping[str, datetime]],
) -> Iterator[Record]:
    """Memories in the order given, each with its vectors and jobs; everything else by its name or time."""
    by_subject = _grouped(jobs)
    for memory in held:
        yield Kept(memory, vectors.get(memory.id, {}), tuple(by_subject.pop(memory.id, ())))
    yield from (entities[id] for id in sorted(entities))
    yield from (links[key] for key in sorted(links))
    yield from sorted((job for left in by_subject.values() for job in left), key=lambda job: (job.task, job.subject))
    yield from journal
    showings = [Showing(session, id, at) for session, seen in shown.items() for id, at in seen.items()]
    yield from sorted(showings, key=lambda one: (one.at, one.session, one.id))


def _grouped(jobs: Sequence[Job]) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: job.task):
        found.setdefault(job.subject, []).append(job)
    return found

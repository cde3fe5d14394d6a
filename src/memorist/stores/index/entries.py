"""Index entries: a memory as the index sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memorist.model import Link, Memory
from memorist.text.words import analyse

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class IndexEntry(NamedTuple):
    """One memory as stores keep it for searching; times are microseconds since the epoch, UTC."""

    id: str
    kind: str
    scope: str
    tier: str
    topic: str | None
    classification: int
    valid_from: int
    ingested_at: int
    valid_to: int | None
    expired_at: int | None
    expires_at: int | None
    retracted_at: int | None
    words: str
    original: str | None
    vectors: Mapping[str, NDArray[np.float16]]
    mentions: tuple[tuple[int, int], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Entities that the memory relates, by their ids."""


def entry_of(memory: Memory, vectors: Mapping[str, NDArray[Any]], links: Sequence[Link] = ()) -> IndexEntry:
    """A memory, its vectors by view name, and its links to entities, as the index sees them."""
    times = memory.times
    relation = () if memory.fact is None else (memory.fact.relation,)
    return IndexEntry(
        id=memory.id,
        kind=memory.kind.value,
        scope=memory.scope,
        tier=memory.tier.value,
        topic=memory.topic,
        classification=memory.worth.classification,
        valid_from=micros(times.valid_from),
        ingested_at=micros(times.ingested_at),
        valid_to=_micros_or_none(times.valid_to),
        expired_at=_micros_or_none(times.expired_at),
        expires_at=_micros_or_none(times.expires_at),
        retracted_at=_micros_or_none(times.retracted_at),
        words=analyse(memory.text, *memory.keywords, *relation),
        original=None if memory.original is None else analyse(memory.original),
        vectors={view: half_precision(vector) for view, vector in vectors.items()},
        mentions=tuple((micros(one.start), micros(one.end)) for one in memory.mentions),
        pairs=related_pairs((link.relation, link.target) for link in links),
    )


def related_pairs(links: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs of entities that a memory's links relate.

    The subject and the object; the subject, or else the first one mentioned, and every other one mentioned.
    """
    found: dict[str, list[str]] = {"subject": [], "object": [], "mentions": []}
    for relation, entity in links:
        if relation in found:
            found[relation].append(entity)
    ends = [*found["subject"], *found["object"], *sorted(found["mentions"])]
    others = dict.fromkeys(entity for entity in ends[1:] if entity != ends[0])
    return tuple((ends[0], other) for other in others)


HALF_PRECISION = 2**-11
"""The largest relative error of rounding to float16, and so of the length of a rounded vector."""


def half_precision(vector: NDArray[Any]) -> NDArray[np.float16]:
    """A vector of length 1 as float16; one without a direction (zero, NaN) keeps what it has.

    What has been half_precision before stays as it is, bit for bit, so that vectors can be moved.
    """
    wide = np.asarray(vector, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.linalg.norm(wide))
        half = wide.astype(np.float16)
        if abs(length - 1) <= HALF_PRECISION and np.array_equal(half, wide):
            return half
        if np.isfinite(length) and length > 0:
            wide = wide / length
        return wide.astype(np.float16)


def micros(moment: datetime) -> int:
    """Microseconds from the epoch to a moment; a naive one is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The UTC moment so many microseconds after the epoch; the inverse of `micros`."""
    return EPOCH + micros * MICROSECOND


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)

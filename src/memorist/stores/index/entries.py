"""Index entries: a memory as the index sees it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memorist.model import CLAIMS, Link, Memory, bare_name, read_by_rules
from memorist.text.words import analyse

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class IndexEntry(NamedTuple):
    """A memory as the index needs it; times are microseconds since the epoch, UTC."""

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
    relation: str | None
    """Of a fact that joins two entities, which are then its first pair."""
    speaker: str | None
    session: str | None
    source: str | None
    emotion: float
    emotion_tags: str
    """As JSON."""
    metadata: str | None
    """As JSON."""
    words: str
    original: str | None
    vectors: Mapping[str, NDArray[np.float16]]
    mentions: tuple[tuple[int, int], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Pairs of entities that the memory relates, by id."""

    @property
    def folded(self) -> bool:
        """Whether it is a fact that rules read in stored texts, which stand for it in every search."""
        if self.relation is None or self.metadata is None:
            return False
        claims = value_in(self.metadata, CLAIMS)
        return isinstance(claims, list) and read_by_rules(cast("list[Mapping[str, Any]]", claims))


def entry_of(memory: Memory, vectors: Mapping[str, NDArray[Any]], links: Sequence[Link] = ()) -> IndexEntry:
    """The index entry of a memory, its vectors by view name, and its links to entities."""
    times, roles = memory.times, [(link.relation, link.target) for link in links]
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
        relation=None if memory.fact is None or not joins(roles) else memory.fact.relation,
        speaker=memory.origin.speaker,
        session=memory.origin.session,
        source=memory.origin.source,
        emotion=memory.worth.emotion,
        emotion_tags=json.dumps(memory.worth.emotion_tags),
        metadata=_json(memory.metadata),
        words=analyse(*memory.worded),
        original=None if memory.original is None else analyse(memory.original),
        vectors={view: half_precision(vector) for view, vector in vectors.items()},
        mentions=tuple((micros(mention.start), micros(mention.end)) for mention in memory.mentions),
        pairs=related_pairs(roles),
    )


def read_metadata(text: str | None) -> Mapping[str, object]:
    """The metadata of a memory; empty if it is damaged."""
    try:
        read: object = {} if text is None or text == "{}" else json.loads(text)
    except ValueError:
        return {}
    return cast("Mapping[str, object]", read) if isinstance(read, dict) else {}


def read_felt(cell: object) -> object:
    """An emotion, or its tags from JSON; None if there are none, or if they are damaged."""
    if not isinstance(cell, str):
        return cell
    try:
        read: object = json.loads(cell)
    except ValueError:
        return None
    return None if read == [] else read


def value_in(text: str, key: str) -> object:
    """The value of metadata under a key; a text without the key is not read, which is most of the work."""
    return read_metadata(text).get(key) if json.dumps(key, ensure_ascii=False) in text else None


def _json(metadata: Mapping[str, Any]) -> str | None:
    """Metadata as JSON; None if it cannot be written so, which only a store without rows keeps."""
    try:
        return json.dumps(dict(metadata), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


def related_pairs(links: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs of entities that a memory's links relate.

    The first entity (the subject, or else the first one mentioned) is paired with the object and with every other
    mentioned entity. An entity has one node, whatever the classifications of the memories that mention it.
    """
    found: dict[str, list[str]] = {"subject": [], "object": [], "mentions": []}
    for relation, entity in links:
        if relation in found:
            found[relation].append(bare_name(entity))
    ends = [*found["subject"], *found["object"], *sorted(found["mentions"])]
    others = dict.fromkeys(entity for entity in ends[1:] if entity != ends[0])
    return tuple((ends[0], other) for other in others)


def joins(links: Iterable[tuple[str, str]]) -> bool:
    """Whether a fact's links name a subject and another object."""
    ends = {relation: bare_name(entity) for relation, entity in links}
    return "subject" in ends and ends.get("object", ends["subject"]) != ends["subject"]


HALF_PRECISION = 2**-11
"""The largest relative error of rounding to float16, and thus of the length of a rounded vector."""


def half_precision(vector: NDArray[Any]) -> NDArray[np.float16]:
    """A vector normalized to length 1, as float16; one without a direction (zero, NaN) is only rounded.

    Idempotent: a vector that was rounded before keeps every bit, so vectors can be moved between stores.
    """
    wide = np.asarray(vector, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        length = math.sqrt(wide.dot(wide))
        half = wide.astype(np.float16)
        if abs(length - 1) <= HALF_PRECISION and bool((half == wide).all()):
            return half
        return (wide / length if 0 < length < math.inf else wide).astype(np.float16)


def micros(moment: datetime) -> int:
    """Microseconds from the epoch to a moment; a naive datetime means UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The UTC moment at a number of microseconds after the epoch; the inverse of `micros`."""
    return EPOCH + micros * MICROSECOND


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)

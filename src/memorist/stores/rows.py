"""Memories as rows and back, the same columns in every database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from memorist.errors import InvalidInput
from memorist.model import Fact, Kind, Memory, Mention, Origin, Tier, Times, Usage, Worth
from memorist.stores.index import IndexEntry, micros, moment

COLUMNS = (
    "version",
    "id",
    "text",
    "original",
    "keywords",
    "kind",
    "scope",
    "tier",
    "topic",
    "valid_from",
    "ingested_at",
    "valid_to",
    "expired_at",
    "expires_at",
    "retracted_at",
    "importance",
    "confidence",
    "salience",
    "trust",
    "credibility",
    "classification",
    "emotion",
    "emotion_tags",
    "flags",
    "relevance",
    "source",
    "session",
    "position",
    "speaker",
    "key",
    "mentions",
    "subject",
    "relation",
    "object",
    "metadata",
    "version_of",
    "superseded_by",
)
USAGE_COLUMNS = ("recalls", "last_recall", "recall_times", "reward_count", "reward_total")
Row = tuple[Any, ...]
_KINDS = {kind.value: kind for kind in Kind}
_TIERS = {tier.value: tier for tier in Tier}
_NEVER_RECALLED = Usage()


class Stored(NamedTuple):
    """A memory with the number of its row."""

    row: int
    memory: Memory


def columns_of(memory: Memory, entry: IndexEntry) -> Row:
    """The values of `COLUMNS` and of the two word columns."""
    worth, origin, fact = memory.worth, memory.origin, memory.fact
    return (
        memory.version,
        memory.id,
        memory.text,
        memory.original,
        _listed(memory.keywords),
        entry.kind,
        memory.scope,
        entry.tier,
        memory.topic,
        entry.valid_from,
        entry.ingested_at,
        entry.valid_to,
        entry.expired_at,
        entry.expires_at,
        entry.retracted_at,
        worth.importance,
        worth.confidence,
        worth.salience,
        worth.trust,
        worth.credibility,
        worth.classification,
        worth.emotion,
        _listed(worth.emotion_tags),
        _listed(worth.flags),
        worth.relevance,
        origin.source,
        origin.session,
        origin.position,
        origin.speaker,
        origin.key,
        _listed([(mention.text, micros(mention.start), micros(mention.end)) for mention in memory.mentions]),
        None if fact is None else fact.subject,
        None if fact is None else fact.relation,
        None if fact is None else fact.object,
        _metadata(memory),
        memory.version_of,
        memory.superseded_by,
        entry.words,
        entry.original,
    )


def read(row: Sequence[Any]) -> Stored:
    """A memory from a row: its number, `COLUMNS`, the id of its usage if there is one, and `USAGE_COLUMNS`."""
    # fmt: off
    (
        number, version, id, text, original, keywords, kind, scope, tier, topic,
        valid_from, ingested_at, valid_to, expired_at, expires_at, retracted_at,
        importance, confidence, salience, trust, credibility, classification,
        emotion, emotion_tags, flags, relevance,
        source, session, position, speaker, key, mentions,
        subject, relation, object, metadata, version_of, superseded_by,
        *usage,
    ) = row
    times = Times(
        moment(valid_from), moment(ingested_at),
        _moment(valid_to), _moment(expired_at), _moment(expires_at), _moment(retracted_at),
    )
    worth = _worth(
        importance, confidence, salience, trust, credibility, classification,
        emotion, emotion_tags, flags, relevance,
    )
    # fmt: on
    memory = Memory(
        id=id,
        text=text,
        times=times,
        kind=_KINDS[kind],
        scope=scope,
        tier=_TIERS[tier],
        topic=topic,
        original=original,
        keywords=_tuple(keywords),
        worth=worth,
        usage=read_usage(usage),
        origin=Origin(source, session, position, speaker, key),
        mentions=_tuple(mentions, _mention),
        fact=None if subject is None else Fact(subject, relation, object),
        metadata={} if metadata == "{}" else json.loads(metadata),
        version=version,
        version_of=version_of,
        superseded_by=superseded_by,
    )
    return Stored(number, memory)


@lru_cache(1024)
def _worth(*columns: Any) -> Worth:
    """A worth of its columns; most memories have the same, and a recall reads dozens."""
    *numbers, emotion_tags, flags, relevance = columns
    return Worth(*numbers, emotion_tags=_tuple(emotion_tags), flags=_tuple(flags), relevance=relevance)


def usage_row(id: str, usage: Usage | None) -> Row:
    """What a usage is kept as; None, which is not known, has no count."""
    if usage is None:
        return id, None, None, "[]", 0, 0.0
    last = None if usage.last_recall is None else micros(usage.last_recall)
    times = _listed([micros(at) for at in usage.recall_times])
    return id, usage.recalls, last, times, usage.reward_count, usage.reward_total


def read_usage(row: Sequence[Any]) -> Usage | None:
    """A usage from its row; no row means never recalled."""
    id, recalls, last, times, reward_count, reward_total = row
    if id is None:
        return _NEVER_RECALLED
    if recalls is None:
        return None
    return Usage(recalls, _moment(last), _tuple(times, moment), reward_count, reward_total)


def _listed(values: Sequence[Any]) -> str:
    return json.dumps(values, ensure_ascii=False) if values else "[]"


def _tuple(text: str, read: Callable[[Any], Any] | None = None) -> tuple[Any, ...]:
    if text == "[]":
        return ()
    values: Iterable[Any] = json.loads(text)
    return tuple(values if read is None else map(read, values))


def _mention(value: tuple[str, int, int]) -> Mention:
    text, start, end = value
    return Mention(text, moment(start), moment(end))


def _moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def _metadata(memory: Memory) -> str:
    metadata: Mapping[str, Any] = memory.metadata
    if not metadata:
        return "{}"
    try:
        return json.dumps(dict(metadata), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the metadata of {memory.id} cannot be kept as JSON ({error})",
            remedy="Use texts, numbers, booleans, None, lists and dictionaries with text keys.",
        ) from error

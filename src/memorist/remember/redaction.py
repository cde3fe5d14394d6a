"""Redaction: secrets masked in every text field of a memory, or of anything else that a store holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from memorist.model import Entity, Fact, Link, Memory, Noise, Showing
from memorist.ports import Entry, Job, Kept, Record
from memorist.remember.fact_rows import CLAIMS, slot_of
from memorist.text.secrets import masked, secrets_in

SHORTEST = 7
"""A shorter text has no room for a secret and the word that introduces it."""
_QUOTES = "'\"`“”‘’"
_AFTER = ".,;:?"
"""Punctuation that ends a sentence and may have been read as the end of a secret."""
T = TypeVar("T")


def kinds_in(memory: Memory) -> list[str]:
    """The kinds of secrets in any text field of a memory."""
    return list(dict.fromkeys(_secrets(_texts(memory)).values()))


def without_secrets(memory: Memory) -> Memory:
    """The memory with its secrets masked in every field; a secret found in one field is masked in all of them."""
    found = _secrets(_texts(memory))
    return _redacted_memory(memory, found) if found else memory


def text_without_secrets(text: str) -> str:
    """A text with its secrets masked."""
    return _redacted(text, _secrets([text]))


def secrets_of(record: Record) -> dict[str, str]:
    """The secrets in anything that a store holds, with their kinds."""
    return _secrets(_record_texts(record))


def record_without_secrets(record: Record, found: Mapping[str, str]) -> Record:
    """Anything that a store holds, with secrets masked. Ids stay, so that links still lead to it."""
    match record:
        case Kept():
            jobs = tuple(_redacted_job(job, found) for job in record.jobs)
            return replace(record, memory=_redacted_memory(record.memory, found), jobs=jobs)
        case Entity():
            return Entity(
                record.id,
                _redacted(record.name, found),
                _redacted(record.kind, found),
                _redacted(record.aliases, found),
            )
        case Link():
            return replace(record, relation=_redacted(record.relation, found))
        case Job():
            return _redacted_job(record, found)
        case Entry():
            parts = {"verb": record.verb, "subjects": record.subjects, "data": record.data}
            return replace(record, **_redacted(parts, found))
        case Showing():
            return replace(record, session=_redacted(record.session, found))
        case Noise():
            return replace(record, text=_redacted(record.text, found))


def _redacted_memory(memory: Memory, found: Mapping[str, str]) -> Memory:
    origin, worth = memory.origin, memory.worth
    scope = _redacted(memory.scope, found)
    key = _redacted(origin.key, found)
    fact = memory.fact
    if fact is not None:
        fact = Fact(*(_redacted(part, found) for part in (fact.subject, fact.relation, fact.object)))
        if origin.key is not None and origin.key == _slot_key(memory):
            key = slot_of(fact, scope).key  # a fact's key holds its value without case, which no pattern would find
    return replace(
        memory,
        text=_redacted(memory.text, found),
        original=_redacted(memory.original, found),
        topic=_redacted(memory.topic, found),
        scope=scope,
        keywords=_redacted(memory.keywords, found),
        worth=replace(worth, emotion_tags=_redacted(worth.emotion_tags, found), flags=_redacted(worth.flags, found)),
        origin=replace(
            origin,
            source=_redacted(origin.source, found),
            session=_redacted(origin.session, found),
            speaker=_redacted(origin.speaker, found),
            key=key,
        ),
        mentions=tuple(replace(one, text=_redacted(one.text, found)) for one in memory.mentions),
        metadata=_redacted(memory.metadata, found),
        fact=fact,
    )


def _slot_key(memory: Memory) -> str | None:
    return None if memory.fact is None else slot_of(memory.fact, memory.scope).key


def _redacted_job(job: Job, found: Mapping[str, str]) -> Job:
    return replace(job, subject=_redacted(job.subject, found), error=_redacted(job.error, found))


def _texts(memory: Memory) -> Iterator[str]:
    origin, worth, fact = memory.origin, memory.worth, memory.fact
    labels = (memory.scope, origin.source, origin.session, origin.speaker, origin.key)
    yield from filter(None, (memory.text, memory.original, memory.topic, *memory.keywords, *labels))
    yield from (*worth.emotion_tags, *worth.flags)
    yield from _strings(memory.metadata)
    if fact is not None:
        yield from (fact.subject, fact.relation, fact.object)
        claims = cast("Sequence[Mapping[str, Any]]", memory.metadata.get(CLAIMS, ()))
        for value in (fact.object, *(str(claim.get("value")) for claim in claims)):
            yield f"{fact.relation}: {value}"  # so that `relate(…, "password", …)` is recognised


def _record_texts(record: Record) -> Iterator[str]:
    match record:
        case Kept():
            yield from _texts(record.memory)
            for job in record.jobs:
                yield from _record_texts(job)
        case Entity():
            yield from (record.name, record.kind or "", *record.aliases)
        case Link():
            yield record.relation
        case Job():
            yield from (record.subject, record.error or "")
        case Entry():
            yield from (record.verb, *record.subjects, *_strings(record.data))
            slot, claim = (cast("Mapping[str, Any]", record.data.get(name) or {}) for name in ("slot", "claim"))
            yield f"{slot.get('relation')}: {claim.get('value')}"
        case Showing():
            yield record.session
        case Noise():
            yield record.text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in cast("Mapping[str, object]", value).items():
            yield from _pair(name, one)
    elif isinstance(value, list | tuple):
        for one in cast("Sequence[object]", value):
            yield from _strings(one)


def _pair(name: str, value: object) -> Iterator[str]:
    """A named value as text, so that `{"password": "…"}` is recognised; `key` alone names our own keys."""
    if isinstance(value, str) and name != "key":
        yield f"{name}: {value}"
    else:
        yield name
        yield from _strings(value)
        if name == "fact" and isinstance(value, list) and len(cast("list[object]", value)) == 3:
            yield f"{value[1]}: {value[2]}"


def _secrets(texts: Iterable[str]) -> dict[str, str]:
    """The secrets in some texts with their kinds, each as it stands and without quotes and a full stop."""
    found: dict[str, str] = {}
    for text in texts:
        for one in secrets_in(text) if len(text) >= SHORTEST else ():
            secret = text[one.start : one.end]
            for form in (secret, secret.strip(_QUOTES).rstrip(_AFTER)):
                found.setdefault(form, one.kind)
    return found


def _redacted(value: T, found: Mapping[str, str]) -> T:
    """A value with every secret in it masked, whether a pattern or another field shows that it is one."""
    return cast("T", _mask(value, found))


def _mask(value: object, found: Mapping[str, str]) -> object:
    if isinstance(value, str):
        text = masked(value)
        for secret in sorted(found, key=len, reverse=True):
            text = text.replace(secret, f"[secret: {found[secret]}]")
        return text
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return {cast("str", _mask(name, found)): _mask(one, found) for name, one in pairs}
    if isinstance(value, list | tuple):
        items = [_mask(one, found) for one in cast("Sequence[object]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value

"""Supermemory: lists of memories with their versions, and of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise

from memorist.model import Kind, Tier
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.values import (
    EPOCH,
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    first_name,
    first_time,
    with_places,
)
from memorist_import.carry import carry_document, carry_memory

NO_CONTENT = "a document without its text; list it with its content"
CHUNK = "a chunk of a document; list the document with its content"
NO_PART = "neither a memory nor a document"
_LISTS = ("documents", "memoryEntries", "memories", "chunks")
_STATES = ("isLatest", "isForgotten", "isStatic")
_USUAL = {
    **dict.fromkeys(("isForgotten", "isStatic", "isInference"), False),
    **dict.fromkeys(("version", "sourceCount"), 1),
    **{"isLatest": True, "status": "done", "dreamingStatus": "done"},
}


def is_supermemory(given: Object) -> bool:
    """Whether an object is a memory or document of Supermemory, or a page of them."""
    parts = (as_object(part) for name in _LISTS for part in as_list(given.get(name))[:1])
    return _is_part(given) or any(map(_is_part, parts))


def _is_part(given: Object) -> bool:
    return _is_memory(given) or _is_stored(given) or _is_chunk(given)


def _is_memory(given: Object) -> bool:
    return isinstance(given.get("memory"), str) and any(isinstance(given.get(name), bool) for name in _STATES)


def _is_stored(given: Object) -> bool:
    """Whether an object is a document, which has its state at the top or, since version 5, under `system`."""
    new = "dreamingStatus" in as_object(given.get("system"))
    old = all(isinstance(given.get(name), str) for name in ("status", "type", "createdAt", "updatedAt"))
    return as_name(given.get("id")) is not None and (new or old or isinstance(given.get("memoryEntries"), list))


def _is_chunk(given: Object) -> bool:
    return isinstance(given.get("documentId"), str) and isinstance(given.get("content"), str) and "position" in given


def supermemory_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The documents and memories of a page, or one of them."""
    if _is_memory(given):
        yield from _versions(given, where)
    elif _is_stored(given):
        yield from _stored(given, where)
    elif _is_chunk(given):
        yield Skipped(where, CHUNK)
    else:
        for name in _LISTS:
            for place, value in with_places(as_list(given.get(name)), where, name):
                part = as_object(value)
                yield from supermemory_drafts(part, place) if _is_part(part) else [Skipped(place, NO_PART)]


def _flat(given: Object) -> Object:
    return {**{key: value for key, value in given.items() if key != "system"}, **as_object(given.get("system"))}


def _versions(given: Object, where: str) -> Iterator[Found]:
    """A memory after its earlier versions, each of which ended when the next one was written."""
    scope, _ = _tags(given)
    history = [_flat(as_object(version)) for version in as_list(given.get("history"))]
    earlier = [{"containerTag": scope, **version, "isLatest": False} for version in history]
    earlier = [version for version in earlier if version.get("id") != given.get("id")]
    earlier.sort(key=lambda version: first_time(version, "createdAt") or EPOCH)
    for version, following in pairwise([*earlier, _flat(given)]):
        yield from _memory(version, where, until=first_time(following, "createdAt"))
    yield from _memory(_flat(given), where)


_TAGS = ("containerTag", "spaceContainerTag", "containerTags")


def _tags(given: Object) -> tuple[str | None, list[str]]:
    """The scope, which is the first container tag, and the other tags."""
    found = [first_name(given, *_TAGS[:2]), *map(as_name, as_list(given.get(_TAGS[2])))]
    tags = list(dict.fromkeys(tag for tag in found if tag))
    return (tags[0] if tags else None), tags[1:]


def _memory(given: Object, where: str, until: datetime | None = None) -> Iterator[Found]:
    """A memory. A forgotten one ended when it was last changed, and one with a newer version when that was written."""
    ended = until or given.get("isForgotten") is True or given.get("isLatest") is False
    scope, others = _tags(given)
    ours: Mapping[str, object] = {
        "key": _key(given),
        "kind": Kind.SEMANTIC,
        "scope": scope,
        "tier": Tier.CORE if given.get("isStatic") is True else None,
        "expires_at": until or (first_time(given, "updatedAt", "createdAt") if ended else None),
        "metadata": as_object(given.get("metadata")),
    }
    unchanged = given.get("updatedAt") == given.get("createdAt") or ended
    used = (
        *("id", "memory", "metadata", "history", "isStatic", "isLatest", "isForgotten", *_TAGS[:2]),
        *(("updatedAt",) if unchanged else ()),
    )
    row = {**given, "containerTags": others}
    table = {"createdAt": "at", "forgetAfter": "expires_at"}
    yield from carry_memory(as_text(given.get("memory")), row, table, where, ours=ours, used=used, usual=_USUAL)


def _stored(given: Object, where: str) -> Iterator[Found]:
    """A document by its content, or else its summary, and the memories that are listed with it."""
    row = _flat(given)
    content, summary = as_text(row.get("content")), as_text(row.get("summary"))
    scope, others = _tags(row)
    name = first_name(row, "customId", "id")
    ours: Mapping[str, object] = {
        "scope": scope,
        "topic": as_name(row.get("title")),
        "source": first_name(row, "url", "source") or name,
        "metadata": as_object(row.get("metadata")),
    }
    told = "customId" if as_name(row.get("customId")) else "id"
    used = (told, "title", "content", "url", "metadata", "chunks", "memories", "memoryEntries", *_TAGS[:2])
    given = {**row, "containerTags": others}
    table, usual = {"createdAt": "at"}, {**_USUAL, "updatedAt": row.get("createdAt")}
    if content.strip():
        key = f"supermemory:{name}"
        yield from carry_document(content, given, table, key, ours=ours, used=used, usual=usual, session=name)
    elif summary.strip():
        ours = {**ours, "key": _key(row, "customId"), "kind": Kind.SEMANTIC}
        yield from carry_memory(summary, given, table, where, ours=ours, used=(*used, "summary"), usual=usual)
    else:
        yield Skipped(where, NO_CONTENT)
    for place, value in with_places(
        (*as_list(row.get("memoryEntries")), *as_list(row.get("memories"))), where, "memory"
    ):
        if _is_memory(entry := as_object(value)):
            yield from _versions({"containerTag": scope, **entry}, place)
        else:
            yield Skipped(place, NO_PART)


def _key(given: Object, *names: str) -> str | None:
    return f"supermemory:{id}" if (id := first_name(given, *names, "id")) else None

"""A whole JSON document: a list of messages, memories or conversations, or one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memorist.remember.ingest.draft import Found
from memorist.remember.ingest.objects import Reader, unwrapped
from memorist.remember.ingest.values import Object, as_object


def document_drafts(document: object, name: str, format: str | None = None) -> Iterator[Found]:
    """The drafts of a document's values in order."""
    values = unwrapped(document)
    if len(values) == 1:
        yield from Reader(format).drafts(values[0], name)
        return
    yield from object_drafts(values, name, format)


def object_drafts(objects: Iterable[object], name: str | None = None, format: str | None = None) -> Iterator[Found]:
    """The drafts of objects as they come, from a file or from Python."""
    reader = Reader(format)
    before = f"{name}, " if name else ""
    for number, value in enumerate(objects, 1):
        where = f"{before}item {number}"
        yield from reader.drafts(value, where, unnamed=f"{name or 'talk'}#{number}")


def as_objects(given: Iterable[object] | Object) -> Iterable[object]:
    """What a caller gave in Python: objects one by one, or one that holds them."""
    return unwrapped(as_object(given)) if as_object(given) else given

"""Memories exported from mem0: a list of them, or `{"results": […]}`."""

from __future__ import annotations

from collections.abc import Iterator

from memorist.model import Kind
from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.fields import fields_of
from memorist.remember.ingest.model import Cleaned
from memorist.remember.ingest.moments import moment
from memorist.remember.ingest.values import Object, as_list, as_name, as_text

_OWNERS = ("user", "agent", "app")
_USED = ("memory", "id", "updated_at", "expiration_date", "categories", "run_id", "score", "event", "role", "kind")


def is_mem0(given: Object) -> bool:
    """Whether an object is a memory of mem0's."""
    return isinstance(given.get("memory"), str)


def mem0_memories(given: Object, where: str) -> Iterator[Found]:
    """The memory, in the scope of whom it is about, under mem0's own id; an update counts from when it was made."""
    fields, notes = fields_of(given, *_USED, *(f"{owner}_id" for owner in _OWNERS))
    yield from (Cleaned(where, note) for note in notes)
    metadata = dict(fields.get("metadata") or {})
    owners = {owner: name for owner in _OWNERS if (name := as_name(given.get(f"{owner}_id")))}
    for number, (owner, name) in enumerate(owners.items()):
        if number == 0:
            fields["scope"] = f"{owner}:{name}"
        else:
            metadata[f"{owner}_id"] = name
    if (created := fields.get("at")) and (updated := moment(given.get("updated_at"))) and updated != created:
        metadata["created_at"] = str(given.get("created_at"))
        fields["at"] = updated
    if expires := moment(given.get("expiration_date")):
        fields["expires_at"] = expires
    if categories := [name for one in as_list(given.get("categories")) if (name := as_name(one))]:
        fields["keywords"] = categories
    if id := as_name(given.get("id")):
        fields["key"] = f"mem0:{id}"
    fields["kind"] = Kind.SEMANTIC
    if metadata:
        fields["metadata"] = metadata
    yield Draft(as_text(given["memory"]), where, fields, as_name(given.get("run_id")), turn=False)

"""What a `forget` selects, and how it ends softly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from memorist.engine.classified_writer import ClassifiedWriter
from memorist.errors import NotFound, no_memory
from memorist.model import Filters, Ids, Memory, fingerprint
from memorist.model.request import erasure_filter
from memorist.ports import Entry, Store
from memorist.remember.forgetting import refuse_damaged, withheld_entries
from memorist.results.records import Receipt
from memorist.upkeep.change import every_page
from memorist.upkeep.ending import end_all, is_over, refuse_over

Selected = tuple[list[Memory], list[Entry]]
"""Memories, and the journal entries that hold texts which gates withheld."""


def select_by_id(store: Store, id: str | Ids) -> Selected:
    """What has one of these ids; if one of several is unknown, nothing is forgotten."""
    asked, one = ([id], id) if isinstance(id, str) else ([*dict.fromkeys(id)], None)
    there = store.get(asked)
    withheld = withheld_entries(lambda memory: memory.id in asked, store, one)
    known = {*there, *(entry.subjects[0] for entry in withheld)}
    if missing := [id for id in asked if id not in known]:
        raise no_memory(*missing)
    return list(there.values()), withheld


def select_by_filter(store: Store, filters: Filters) -> Selected:
    """What the filters select."""
    where = erasure_filter(filters)
    refuse_damaged(store)
    memories = [memory for page in every_page(store, where, 1000) for memory in page]
    return memories, withheld_entries(where.admits, store)


def refuse_ended(memories: Iterable[Memory], withheld: Iterable[Entry], now: datetime) -> None:
    """Refuse to end memories of which one has ended, or was withheld and never began."""
    for entry in withheld:
        raise NotFound(f"{entry.subjects[0]!r} was withheld, so it cannot end", remedy="Forget it for good.")
    for memory in memories:
        if is_over(memory, now):
            refuse_over(memory)


def end_softly(memories: Iterable[Memory], writers: Sequence[ClassifiedWriter], now: datetime) -> Receipt:
    """End those of the memories that are current."""
    current = [memory for memory in memories if not is_over(memory, now)]
    run = fingerprint("forget", now, [memory.id for memory in current])
    ids: list[str] = []
    for writer in writers:
        own = [memory.id for memory in current if memory.worth.classification == writer.classification]
        ids += end_all(writer.store, own, now, run) if own else ()
    return Receipt(tuple(sorted(ids)), now, run=run if ids else None)

"""Memories on their way in, and the batch that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from memorist.model import Entity, Link, Memory
from memorist.ports import Batch, Entry, Reader, Vectors
from memorist.remember.gates import Checked
from memorist.remember.journal import rename_entry
from memorist.remember.rereading import check_as_read, check_entries, check_names


@dataclass(frozen=True, slots=True)
class Incoming:
    """Checked memories on their way in, with everything computed that needs no lock."""

    checked: Checked
    memories: tuple[Memory, ...]
    """The new and the changed ones."""
    vectors: Mapping[str, Vectors] = field(default_factory=dict[str, Vectors])
    entities: Sequence[Entity] = ()
    links: Sequence[Link] = ()
    read: Sequence[Memory] = ()
    """The stored memories that all this was made from."""
    names: Sequence[Entity] = ()
    """The stored entities among its entities."""
    undone: Sequence[Entry] = ()
    """The stored entries that its entries replace."""

    def check(self, reader: Reader) -> None:
        """Refuse, inside the write, what was made from memories and names that were changed or forgotten since."""
        check_as_read(self.read, reader)
        check_names(self.names, reader)
        check_entries(self.undone, reader)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The decisions of the gates."""
        return self.checked.entries

    def batch(self) -> Batch:
        """All of it, to be written together."""
        return Batch(self.memories, self.vectors, self.links, self.entities, journal=self.entries)

    def batch_as(self, memory: Memory) -> Batch:
        """The batch of its only memory under another id, which the caller draws inside its write."""
        (before,) = self.memories
        views = self.vectors.get(before.id)
        links = [replace(link, source=memory.id) for link in self.links]
        entries = [rename_entry(entry, before.id, memory.id) for entry in self.entries]
        vectors = {memory.id: views} if views else {}
        return Batch([memory], vectors, links, self.entities, journal=entries)


def without(texts: Batch, ids: Set[str], entries: Sequence[Entry]) -> Batch:
    """The batch without memories that are known after all, and with the entries that say so."""
    if not ids:
        return texts
    return replace(
        texts,
        memories=[memory for memory in texts.memories if memory.id not in ids],
        vectors={id: views for id, views in texts.vectors.items() if id not in ids},
        links=[link for link in texts.links if link.source not in ids],
        jobs=[job for job in texts.jobs if job.subject not in ids],
        journal=[*(entry for entry in texts.journal if ids.isdisjoint(entry.subjects)), *entries],
    )


def with_followers(batch: Batch, reader: Reader) -> Batch:
    """The batch with stored turns that get new vectors because another turn now stands before them."""
    written = {memory.id for memory in (*batch.memories, *batch.revised)}
    followers = [id for id in batch.vectors if id not in written]
    if not followers:
        return batch
    kept = reader.get(followers)
    gone = batch.vectors.keys() - written - kept.keys()
    vectors = {id: views for id, views in batch.vectors.items() if id not in gone}
    return replace(batch, vectors=vectors, revised=[*batch.revised, *kept.values()])

"""One write of texts that arrived: each in place of what it replaces, with its links, names and past versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memorist.model import Entity, Link, Memory, Usage, fingerprint
from memorist.ports import Batch, Entry, Reader, Vectors
from memorist.remember.jobs import FACTS_TASK
from memorist_import.sync.records import OWN_LINKS, Text, is_settled
from memorist_import.sync.state import Shared


class TextBatch:
    """One write of texts."""

    def __init__(self, reader: Reader, shared: Shared) -> None:
        self._reader = reader
        self._shared = shared
        self._revised: dict[str, Memory] = {}
        self._vectors: dict[str, Vectors] = {}
        self._links: list[Link] = []
        self._unlinked: list[Link] = []
        self._entities: dict[str, Entity] = {}
        self._journal: list[Entry] = []
        self.moved: dict[str, str] = {}
        self.refused: list[str] = []
        self.unlinking: set[str] = set()
        """The keys of texts that lost links to memories which are not shared."""

    def add(self, text: Text, now: datetime) -> None:
        """Add a text, unless it would touch a memory that is not shared."""
        memory, reader = text.memory, self._reader
        ends = [memory.id, memory.version_of or memory.id, *(link.target for link in text.links)]
        known = reader.get(ends)
        own = [known[id] for id in ends[:2] if id in known]
        if any(not self._shared.admits(row) or is_settled(row) for row in own):
            self.refused.append(text.key)
            return
        old = known.get(memory.id)
        if old is not None:
            self._replace(old, text)
        self._revised[memory.id] = replace(memory, usage=Usage() if old is None else old.usage)
        if text.vectors:
            self._vectors[memory.id] = text.vectors
        links = [link for link in text.links if link.target not in known or self._shared.admits(known[link.target])]
        self._links += links
        if len(links) < len(text.links):
            self.unlinking.add(text.key)
        for entity in text.entities:
            there = self._entities.get(entity.id) or next(iter(reader.entities_by_id([entity.id])), None)
            self._entities[entity.id] = entity if there is None else _also_called(there, entity)
        if text.names:
            read = {"entities": [[name, kind or None, list(more)] for name, kind, *more in text.names]}
            data = {**read, "statements": []}
            self._journal.append(Entry(fingerprint(FACTS_TASK, "sync", memory.id), now, FACTS_TASK, (memory.id,), data))

    def _replace(self, old: Memory, text: Text) -> None:
        """Take back what follows from the old text; keep it as a past version if it is in nobody's history."""
        links = [link for link in self._reader.links([old.id]) if link.source == old.id]
        wanted = {(link.relation, link.target) for link in text.links}
        differs = old.text != text.memory.text
        lost = (link for link in links if (link.relation, link.target) not in wanted)
        self._unlinked += [link for link in lost if link.relation not in OWN_LINKS]
        if not differs or self._is_past(old):
            return
        current = old.version_of or old.id
        past = old.archived(text.memory) if old.version_of is None else old
        past = replace(past, id=fingerprint("version", current, old.version, old.text))
        self.moved[old.id] = past.id
        if past.id in self._revised or self._reader.get([past.id]):
            return  # another replica has kept it already
        self._revised[past.id] = past
        if views := self._reader.vectors([old.id]).get(old.id):
            self._vectors[past.id] = views
        self._links += [replace(link, source=past.id) for link in links if link.relation not in OWN_LINKS]

    def _is_past(self, old: Memory) -> bool:
        """Whether a version with this text is among the past ones already, as after an ordinary edit."""
        if old.version_of is not None:
            return False
        id = old.archived(old).id
        past = self._revised.get(id) or self._reader.get([id]).get(id)
        return past is not None and past.text == old.text

    def batch(self, entries: Sequence[Entry]) -> Batch:
        """The batch; decisions of the gates only about what it writes."""
        return Batch(
            revised=list(self._revised.values()),
            vectors=self._vectors,
            links=self._links,
            unlinked=self._unlinked,
            entities=list(self._entities.values()),
            journal=[*self._journal, *(entry for entry in entries if self._revised.keys() & set(entry.subjects))],
        )


def _also_called(known: Entity, other: Entity) -> Entity:
    """A known entity with the aliases and the kind that another replica knows; it stays spelt as it is."""
    more = (name for name in other.aliases if name.casefold() != known.name.casefold())
    return Entity(known.id, known.name, known.kind or other.kind, tuple(dict.fromkeys((*known.aliases, *more))))

"""New vectors for every memory: a generation is filled beside the one that is searched, and takes its place at once.

Killed half-way, recall stays on the old generation, and the next run goes on where this one ended. What others write
meanwhile has vectors of the old generation only; the store refuses to switch until it has been embedded too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memorist.model import HIERARCHY, Kind, Memory
from memorist.models.embedding_text import generation_of, preceding, readings
from memorist.ports import Embedded, Embedder, Progress, Store, Vectors
from memorist.remember.sessions.commit import INTENT_VIEW

LOOKED_UP = 4096
"""Memories asked for at once: finding those that lack vectors reads past those that have them."""
BATCH = 256
"""Memories embedded and written together: what a kill can lose."""


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What a run did: the generation now searched, the one before, and how many memories it embedded."""

    embedding: str
    dimension: int
    previous: str | None
    embedded: int
    memories: int


def reembed(store: Store, embedder: Embedder, progress: Progress | None = None) -> Reembedding:
    """Embed every memory in every form, then search by the new vectors; with the same embedder, fill what lacks."""
    name, previous, embedded = generation_of(embedder), store.embedding, 0
    store.prepare(name, embedder.dim)
    while not store.switch(name):
        for batch in _lacking(store, name):
            store.add_vectors(name, batch, _vectors(store, embedder, batch))
            embedded += len(batch)
            if progress is not None:
                progress(len(batch))
    stats = store.stats()
    return Reembedding(name, embedder.dim, previous, embedded, stats.memories + stats.versions)


def _lacking(store: Store, name: str) -> Iterator[Sequence[Memory]]:
    while found := store.lacking(name, LOOKED_UP):
        for start in range(0, len(found), BATCH):
            yield found[start : start + BATCH]


def _vectors(store: Store, embedder: Embedder, memories: Sequence[Memory]) -> dict[str, Vectors]:
    wanted = [(memory.id, view, text) for memory, view, text in _views(store, memories)]
    texts = list(dict.fromkeys(text for _, _, text in wanted))
    rows = dict(zip(texts, embedder.embed(texts, purpose="memory"), strict=True))
    made = {memory.id: Embedded(generation_of(embedder), {}) for memory in memories}
    for id, view, text in wanted:
        made[id][view] = rows[text]
    return dict(made)


def _views(store: Store, memories: Sequence[Memory]) -> Iterator[tuple[Memory, str, str]]:
    """The texts that each memory is found by: its views, and for a procedure what it is for."""
    texts = readings(memories, preceding(memories, store))
    yield from ((memory, view, text) for memory in memories for view, text in texts[memory.id].items())
    procedures = {memory.id: memory for memory in memories if memory.kind is Kind.PROCEDURAL}
    links = [link for link in store.links(list(procedures)) if link.relation == HIERARCHY] if procedures else []
    purposes = store.get([link.target for link in links if link.source in procedures])
    for link in links:
        purpose = purposes.get(link.target)
        if link.source in procedures and purpose is not None and purpose.kind is Kind.INTENT:
            yield procedures[link.source], INTENT_VIEW, purpose.text

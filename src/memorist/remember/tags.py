"""Tags: the names and concepts of memories, as labels that lead from one memory to others about the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memorist.model import MEMBERSHIP, Entity, Kind, Link, Memory
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Batch, Reader, Store, Vectors
from memorist.remember.entities import MENTIONS, Find, about
from memorist.remember.fact_updates import facts_stated_by
from memorist.remember.record import record
from memorist.text.phrases import phrases, without_labels

MOST_NAMES, MOST_CONCEPTS = 6, 3
"""Tags per text, without its topic and keywords."""
LONGEST = 60
"""A longer topic, keyword or value is a sentence and labels nothing else."""
TAGGED = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.NOTE)
BY = "rules"
Names = Mapping[str, Sequence[str]]
"""The names that each memory mentions, by its id."""


@dataclass(slots=True)
class MemoryTags:
    """The tags of some memories, and the links to them."""

    rows: dict[str, Memory] = field(default_factory=dict[str, Memory])
    links: list[Link] = field(default_factory=list[Link])


def tags_of(memories: Iterable[Memory], named: Names) -> MemoryTags:
    """The tags of memories; tags with the same label in the same scope are one."""
    made = MemoryTags()
    for memory in memories:
        for label in labels_of(memory, named.get(memory.id, ())):
            tag = _tag(label, memory)
            made.rows.setdefault(tag.id, tag)
            made.links.append(Link(memory.id, MEMBERSHIP, tag.id))
    return made


def with_tags(batch: Batch, vectors: Mapping[str, Vectors]) -> Batch:
    """A batch with the tags of its new texts and of the facts that it settles; `vectors` are those of new tags."""
    facts = [memory for memory in batch.revised if memory.fact is not None and memory.version_of is None]
    tags = tags_of([*batch.memories, *facts], names_in(batch.entities, batch.links))
    return replace(
        batch,
        memories=[*batch.memories, *tags.rows.values()],
        vectors={**batch.vectors, **{id: vectors[id] for id in tags.rows if id in vectors}},
        links=[*batch.links, *tags.links],
    )


def tag_known(memories: Sequence[Memory], store: Store, embedder: StoreEmbedder | None, find: Find) -> None:
    """Tag known memories that have no tags, because no recipe followed tags when they were written."""
    tagged = {link.source for link in store.links([memory.id for memory in memories], MEMBERSHIP)}
    bare = [memory for memory in memories if memory.id not in tagged]
    if not bare:
        return
    facts = facts_stated_by({memory.id for memory in bare}, store)
    tags = tags_of([*bare, *facts], names_in(*about(bare, store.entities_by_prefix, find)))
    rows = list(tags.rows.values())
    vectors = embedder.vectors(rows) if embedder and rows else {}

    def plan(reader: Reader) -> Batch:
        there = {id: one.text for id, one in reader.get([memory.id for memory in (*bare, *facts)]).items()}
        current = all(
            there.get(memory.id) == memory.text for memory in (*bare, *facts)
        )  # some may be forgotten meanwhile
        return Batch(rows, vectors, tags.links) if current else Batch()

    store.update(plan)


def names_in(entities: Iterable[Entity], links: Iterable[Link]) -> Names:
    """The names of the entities that memories mention."""
    names = {entity.id: entity.name for entity in entities}
    found = defaultdict[str, list[str]](list)
    for link in links:
        if link.relation == MENTIONS and link.target in names:
            found[link.source].append(names[link.target])
    return found


def labels_of(memory: Memory, names: Sequence[str] = ()) -> tuple[str, ...]:
    """The labels of a memory in lower case: its topic and keywords, then names and concepts of its text.

    The labels of a fact are its subject and object.
    """
    if memory.kind not in TAGGED:
        return ()
    if memory.fact is not None:
        return _labels([memory.fact.subject, memory.fact.object])
    given = _labels([*([memory.topic] if memory.topic else ()), *memory.keywords])
    named = _labels(names)[:MOST_NAMES]
    words = {word for name in named for word in name.split()}
    concepts = (
        phrase
        for phrase in phrases(without_labels(memory.text))
        if len(phrase.words) > 1 and words.isdisjoint(phrase.words)
    )
    return tuple(dict.fromkeys((*given, *named, *_labels(concept.text for concept in concepts)[:MOST_CONCEPTS])))


def _labels(texts: Iterable[str]) -> tuple[str, ...]:
    labels = (" ".join(text.lower().split()) for text in texts)
    return tuple(dict.fromkeys(label for label in labels if 0 < len(label) <= LONGEST))


def _tag(label: str, memory: Memory) -> Memory:
    times, worth = memory.times, memory.worth
    return record(
        label,
        times.ingested_at,
        kind=Kind.TAG,
        key=f"tag/{label}",
        scope=memory.scope,
        at=times.valid_from,
        trust=worth.trust,
        classification=worth.classification,
        metadata={"by": BY},
    )

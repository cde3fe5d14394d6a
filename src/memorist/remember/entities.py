"""The entities that memories mention, found by rules and by the names that the store knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from memorist.model import USUAL_CLASSIFICATION, Entity, Link, Memory, classification_of_name, fingerprint, mark_name
from memorist.remember.extract.dictionary import Dictionary
from memorist.remember.extract.names import Known, entities, name_runs
from memorist.remember.extract.objects import NamedSpan

Find = Callable[[str, Known], list[NamedSpan]]
"""Finds the names in a text: by rules, or by rules and a model."""
UNLINKED = frozenset(("date", "money", "measure"))
"""Kinds of names that are not worth linking: nobody asks for them by name."""
SUBJECT, OBJECT, MENTIONS = "subject", "object", "mentions"
"""Relations of the links from a memory to the entities that it mentions."""


@lru_cache(maxsize=4096)
def entity_named(name: str, classification: int = USUAL_CLASSIFICATION) -> Entity:
    """The entity with a name; names that differ only in case and spaces are the same entity.

    Each classification has its own: a name or an alias that only secret memories use is as secret as they are.
    """
    shown = " ".join(name.split())
    return Entity(mark_name(fingerprint("entity", shown.casefold()), classification), shown)


def names(text: str, known: Known) -> list[NamedSpan]:
    """The names in a text, by rules, without dates."""
    return entities(text, known, dates=())


def about(memories: Sequence[Memory], known: Known, find: Find = names) -> tuple[list[Entity], list[Link]]:
    """The entities that memories mention, and the links to them."""
    there = list(known(_written(memories)))
    spoken_of: dict[str, Entity] = {}
    links: dict[Link, None] = {}
    for classification in dict.fromkeys(memory.worth.classification for memory in memories):
        alike = [memory for memory in memories if memory.worth.classification == classification]
        dictionary = _dictionary(alike, there, classification)
        for memory in alike:
            for role, entity in [*_ends(memory, dictionary), *_mentioned(memory, dictionary, find)]:
                spoken_of.setdefault(entity.id, entity)
                links[Link(memory.id, role, entity.id)] = None
    return list(spoken_of.values()), list(links)


def _dictionary(memories: Sequence[Memory], known: Sequence[Entity], classification: int) -> Dictionary:
    """The names that memories of one classification may use."""
    there = [entity for entity in known if classification_of_name(entity.id) == classification]
    met = Dictionary(there)
    met.add([entity_named(name, classification) for name in _sure(memories) if met.find(name) is None])
    return met


def _written(memories: Sequence[Memory]) -> list[str]:
    """Every name that may refer to a known entity."""
    written = (run.text for memory in memories for run in name_runs(memory.text))
    ends = (name for memory in memories for _, name in _roles(memory))
    return list(dict.fromkeys((*written, *ends)))


def _sure(memories: Sequence[Memory]) -> list[str]:
    """The names that the spelling or a role makes certain; a capitalised first word may be anything."""
    written = (run.text for memory in memories for run in name_runs(memory.text) if not run.opens)
    ends = (name for memory in memories for _, name in _roles(memory))
    return list(dict.fromkeys((*written, *ends)))


def _mentioned(memory: Memory, dictionary: Dictionary, find: Find) -> Iterator[tuple[str, Entity]]:
    for span in find(memory.text, dictionary):
        if span.kind not in UNLINKED:
            named = entity_named(span.text, memory.worth.classification) if span.entity is None else span.entity
            yield MENTIONS, named if named.kind or span.kind == "name" else replace(named, kind=span.kind)


def _ends(memory: Memory, dictionary: Dictionary) -> Iterator[tuple[str, Entity]]:
    for role, name in _roles(memory):
        yield role, dictionary.find(name, misspelt=False) or entity_named(name, memory.worth.classification)


def _roles(memory: Memory) -> list[tuple[str, str]]:
    """A fact's subject and object; for any other memory the speaker as subject, as in the memoria recipe."""
    if memory.fact is not None:
        return [(SUBJECT, memory.fact.subject), (OBJECT, memory.fact.object)]
    return [(SUBJECT, memory.origin.speaker)] if memory.origin.speaker else []

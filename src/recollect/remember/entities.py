"""Whom and what a memory speaks of: entities found by rules and by the store's own dictionary of names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.model import Entity, Link, Memory, fingerprint
from recollect.remember.extract.entities import Known
from recollect.remember.extract.names import name_runs

SUBJECT, OBJECT, MENTIONS = "subject", "object", "mentions"
"""Relations of the links from a memory to the entities it speaks of."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names in a text: those that the spelling shows, and capitalised first words, which may be anything."""

    sure: tuple[str, ...]
    perhaps: tuple[str, ...]


def names_in(text: str) -> Names:
    """Runs of capitalised words; a single one at the beginning of a sentence is only perhaps a name."""
    runs = list(name_runs(text))
    sure = dict.fromkeys(run.text for run in runs if not run.opens)
    return Names(tuple(sure), tuple(dict.fromkeys(run.text for run in runs if run.opens and run.text not in sure)))


def entity_named(name: str) -> Entity:
    """The entity of a name; the same name, case and spaces aside, is the same entity."""
    shown = " ".join(name.split())
    return Entity(fingerprint("entity", shown.casefold()), shown)


def about(memories: Sequence[Memory], known: Known) -> tuple[list[Entity], list[Link]]:
    """The entities that memories speak of, and the links to them."""
    names = {memory.id: names_in(memory.text) for memory in memories}
    asked = [name for found in names.values() for name in (*found.sure, *found.perhaps)]
    spoken = [name for memory in memories for _, name in _ends(memory)]
    fresh = [entity_named(name) for found in names.values() for name in found.sure]
    fresh += [entity_named(name) for name in spoken]
    dictionary = _dictionary([*fresh, *known(list(dict.fromkeys([*asked, *spoken])))])
    entities: dict[str, Entity] = {}
    links: dict[Link, None] = {}
    for memory in memories:
        found = names[memory.id]
        mentioned = [*found.sure, *(name for name in found.perhaps if name.casefold() in dictionary)]
        for role, name in [*_ends(memory), *((MENTIONS, name) for name in mentioned)]:
            entity = dictionary.get(name.casefold()) or entity_named(name)
            entities[entity.id] = entity
            links[Link(memory.id, role, entity.id)] = None
    return list(entities.values()), list(links)


def _ends(memory: Memory) -> list[tuple[str, str]]:
    """A fact's subject and object; else the speaker, as memoria's page counts a memory without a triple."""
    if memory.fact is not None:
        return [(SUBJECT, memory.fact.subject), (OBJECT, memory.fact.object)]
    return [(SUBJECT, memory.origin.speaker)] if memory.origin.speaker else []


def _dictionary(entities: Iterable[Entity]) -> dict[str, Entity]:
    return {name.casefold(): entity for entity in entities for name in (*entity.aliases, entity.name)}

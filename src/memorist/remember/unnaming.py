"""The names that go with memories that are forgotten: entities and aliases that nothing else speaks of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from memorist.model import Entity, Link
from memorist.ports import Entry, Reader
from memorist.remember.entities import MENTIONS, OBJECT, SUBJECT

READ = "facts"
"""The verb of the journal's entries about what a model read in a memory, and the task that has it read."""
EVERY = 1_000_000


def unnamed(gone: Collection[str], added: Sequence[Link], reader: Reader) -> tuple[list[str], list[Entity]]:
    """Entities to be taken out because nothing but the forgotten spoke of them, or because only some names are left.

    The latter are given as they are to be again. `added` are links that are made with the same write.
    """
    ours = {entry.id: entry for id in gone for entry in reader.journal(READ, id)}
    read = reader.entities(_names(ours.values())) if ours else []
    others = [one for one in reader.journal(READ, limit=EVERY) if one.id not in ours] if read else []
    linked = {link.target for link in _speaking(gone, reader) if link.source in gone}
    held = {link.target for link in _speaking([*linked, *(one.id for one in read)], reader) if link.source not in gone}
    held |= {link.target for link in added}
    held |= {one.id for one in reader.entities(_names(others))}
    lost = set(_names(ours.values())).difference(_names(others))
    left = [one for one in read if one.id in held]
    fewer = [_without(one, lost) for one in left if lost.intersection(one.aliases)]
    return sorted((linked | {one.id for one in read}) - held | {one.id for one in fewer}), fewer


def _speaking(ids: Collection[str], reader: Reader) -> list[Link]:
    """Links by which memories speak of entities."""
    return [link for link in reader.links(sorted(ids)) if link.relation in (SUBJECT, OBJECT, MENTIONS)]


def _names(entries: Iterable[Entry]) -> list[str]:
    """Every name and alias that a model read."""
    read = [named for entry in entries for named in cast("list[Any]", entry.data.get("entities", ()))]
    return list(dict.fromkeys(name for main, _, aliases in read for name in (main, *aliases)))


def _without(entity: Entity, names: Collection[str]) -> Entity:
    return replace(entity, aliases=tuple(alias for alias in entity.aliases if alias not in names))

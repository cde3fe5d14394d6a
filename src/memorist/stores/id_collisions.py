"""Memories whose id another classification needs.

Ids tell classifications apart. A classified memory that was written before they did may have the very id that a memory
of the usual classification gets now. It moves to an id of its own, in the write that needs the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memorist.model import CLAIMS, DENIES, STATES, Memory, fingerprint
from memorist.ports import Batch, Reader


def move_collisions(batch: Batch, foreign: Sequence[Memory], reader: Reader) -> Batch:
    """The batch with other memories moved out of its way, with all they have but their journal."""
    rows = {row.id: row for memory in foreign for row in (*reader.history(memory.id), memory)}
    ids = {id: fingerprint("apart", id, row.worth.classification) for id, row in rows.items()}
    links = reader.links(list(ids))

    def name(id: str) -> str:
        return ids.get(id, id)

    stated = reader.get([link.target for link in links if link.relation in (STATES, DENIES)]).values()
    facts = reader.by_key([row.origin.key for row in stated if row.origin.key and row.id not in ids])
    moved = [_renamed(row, ids) for row in rows.values()]
    citing = [after for row in facts if row.id not in ids and (after := _recited(row, ids)) != row]
    return replace(
        batch,
        erased=[*batch.erased, *ids],
        revised=[*moved, *citing, *batch.revised],
        vectors={**{ids[id]: views for id, views in reader.vectors(list(ids)).items()}, **batch.vectors},
        links=[*(replace(link, source=name(link.source), target=name(link.target)) for link in links), *batch.links],
        usage={**{ids[id]: row.usage for id, row in rows.items() if row.usage is not None}, **batch.usage},
    )


def _renamed(row: Memory, ids: Mapping[str, str]) -> Memory:
    def name(id: str | None) -> str | None:
        return None if id is None else ids.get(id, id)

    return replace(row, id=ids[row.id], version_of=name(row.version_of), superseded_by=name(row.superseded_by))


def _recited(fact: Memory, ids: Mapping[str, str]) -> Memory:
    """A fact whose claims cite moved memories."""
    claims: Iterable[dict[str, Any]] = fact.metadata.get(CLAIMS, ())
    cited = [claim | {"source": ids[claim["source"]]} if claim.get("source") in ids else claim for claim in claims]
    source = fact.origin.source
    origin = replace(fact.origin, source=None if source is None else ids.get(source, source))
    return replace(fact, origin=origin, metadata={**fact.metadata, CLAIMS: cited})

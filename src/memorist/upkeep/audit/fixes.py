"""The fixes that repair findings. They are soft wherever something could be lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Literal

from memorist.model import CLAIMS, Link, Memory, Tier
from memorist.models.embedding_text import alone
from memorist.ports import Store, Vectors
from memorist.remember.fact_rows import claim_to_data
from memorist.remember.gates.checks import without_secrets
from memorist.remember.gates.verdict import distrust, quieten, with_flag
from memorist.remember.timeline import Claim
from memorist.results.upkeep import Change, Finding, Fix
from memorist.upkeep.change import PendingWrite, end_memory, retract_memory


def texts_of(fix: Fix, store: Store, now: datetime) -> list[str]:
    """The texts that a fix needs vectors for."""
    return [alone(fix.revise(memory, now)) for memory in store.get(fix.ids).values()] if fix.embeds else []


def change_of(
    finding: Finding, fix: Fix, pending: PendingWrite, now: datetime, fresh: Mapping[str, Vectors]
) -> Change | None:
    """The change that a fix writes, given vectors by text; None if there is nothing left to repair."""
    before = pending.get(fix.ids).values()
    pairs = tuple((memory, after) for memory in before if (after := fix.revise(memory, now)) != memory or fix.rewrites)
    if not pairs and not fix.unlinked:
        return None
    vectors = {after.id: fresh[alone(after)] for _, after in pairs if fix.embeds and alone(after) in fresh}
    about = finding.ids[0] if finding.ids else pairs[0][1].id
    return Change(finding.kind, about, finding.reason, pairs, (), fix.unlinked, vectors, fix.final)


def retire(id: str, survivor: str | None = None) -> Fix:
    """Retract a memory: it stays in the store and in its history, and no recall sees it."""

    def revise(memory: Memory, now: datetime) -> Memory:
        return memory if memory.times.retracted_at is not None else retract_memory(memory, now, survivor)

    return Fix(f"Retire {id}." if survivor is None else f"Retire {id} in favour of {survivor}.", (id,), revise)


def end(id: str, at: datetime, successor: str | None = None) -> Fix:
    """End a memory's validity at a moment, because something superseded it or it expired."""

    def revise(memory: Memory, now: datetime) -> Memory:
        if memory.times.valid_to is not None:
            return memory
        return end_memory(_denied(memory, at, now), at, now, successor)

    after = f", when {successor} came" if successor else ""
    return Fix(f"End {id} at {at.date()}{after}.", (id,), revise)


def _denied(memory: Memory, at: datetime, now: datetime) -> Memory:
    """A fact with the claim that it ended, so that its timeline says so too; any other memory as it is."""
    if memory.fact is None or CLAIMS not in memory.metadata:
        return memory
    worth = memory.worth
    claim = Claim(
        memory.fact.object, max(at, memory.times.valid_from), now, negated=True, text=memory.text, by="caller"
    )
    claim = replace(claim, trust=worth.trust, classification=worth.classification, confidence=worth.confidence)
    return replace(memory, metadata={**memory.metadata, CLAIMS: [*memory.metadata[CLAIMS], claim_to_data(claim)]})


def flag(id: str, name: Literal["noise", "instructions", "contradicted"]) -> Fix:
    """Flag a memory as the write gate would; noise also moves to the peripheral tier, instructions lose trust."""
    mark = {"noise": quieten, "instructions": distrust, "contradicted": with_flag}[name]

    def revise(memory: Memory, now: datetime) -> Memory:
        return memory if name in memory.worth.flags else mark(memory, name)

    return Fix(f"Flag {id} as {name}.", (id,), revise)


def demote(id: str) -> Fix:
    """Move a memory to the peripheral tier."""
    return Fix(f"Move {id} to the peripheral tier.", (id,), lambda memory, now: replace(memory, tier=Tier.PERIPHERAL))


def mask(id: str) -> Fix:
    """Mask the secrets of a memory, permanently."""
    return Fix(
        f"Mask the secrets of {id}, permanently.",
        (id,),
        lambda memory, now: without_secrets(memory),
        embeds=True,
        final="a masked secret is gone for good",
    )


def unlink(links: tuple[Link, ...]) -> Fix:
    """Remove dangling links."""
    return Fix(f"Remove dangling links: {len(links)}.", unlinked=links)


def rebuild(ids: tuple[str, ...], *, vectors: bool) -> Fix:
    """Write the search data of memories again: their words, and with `vectors` their vectors."""
    return Fix(
        f"{'Embed' if vectors else 'Write the words of'} {len(ids)} memories again.",
        ids,
        embeds=vectors,
        rewrites=True,
        final="search data was rebuilt from memories that did not change",
    )


def damage_repair(problem: str) -> Fix:
    """Repair what the store reports as damaged, as far as possible."""
    return Fix(
        "Repair the damage: replace what cannot be read.", damage=problem, final="what was damaged cannot be read again"
    )

"""Findings, the fixes that repair them, and the report of an audit. Fixes are soft wherever something could be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, ClassVar, Literal, get_args

from memorist.model import CLAIMS, Hidden, Link, Memory, Tier, fingerprint
from memorist.models.embedding_text import alone
from memorist.ports import Store, Vectors
from memorist.remember.fact_rows import claim_to_data
from memorist.remember.gates.checks import without_secrets
from memorist.remember.gates.verdict import distrust, quieten, with_flag
from memorist.remember.timeline import Claim
from memorist.upkeep.change import Change, PendingWrite, end_memory, retract_memory

Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
KINDS = (
    "duplicate",
    "near_duplicate",
    "contradiction",
    "wrong_fact",
    "orphan",
    "stale",
    "never_recalled",
    "secret",
    "loop",
    "noise",
    "instructions",
    "drift",
)
"""The kinds of findings."""


def _unchanged(memory: Memory, now: datetime) -> Memory:
    return memory


@dataclass(frozen=True, slots=True)
class Fix:
    """Repairs a finding. It is computed from the memories as they are when it is applied."""

    description: str
    ids: tuple[str, ...] = ()
    """The memories it revises."""
    revise: Callable[[Memory, datetime], Memory] = field(default=_unchanged, compare=False)
    unlinked: tuple[Link, ...] = ()
    embeds: bool = False
    """Whether its memories need new vectors."""
    rewrites: bool = False
    """Whether memories that do not change are written again."""
    final: str | None = None
    """Why it cannot be undone, if it cannot."""
    damage: str | None = None
    """The problem that the store itself reports and repairs, if this is one."""

    def texts(self, store: Store, now: datetime) -> list[str]:
        """The texts that it needs vectors for."""
        return [alone(self.revise(one, now)) for one in store.get(self.ids).values()] if self.embeds else []

    def change(
        self, finding: Finding, pending: PendingWrite, now: datetime, fresh: Mapping[str, Vectors]
    ) -> Change | None:
        """The change to write, given vectors by text; None if there is nothing left to repair."""
        before = pending.get(self.ids).values()
        pairs = tuple((one, after) for one in before if (after := self.revise(one, now)) != one or self.rewrites)
        if not pairs and not self.unlinked:
            return None
        vectors = {after.id: fresh[alone(after)] for _, after in pairs if self.embeds and alone(after) in fresh}
        about = finding.ids[0] if finding.ids else pairs[0][1].id
        return Change(finding.kind, about, finding.reason, pairs, (), self.unlinked, vectors, self.final)


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


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: with which memories, why, how severe it is, and the repair if there is one."""

    IN_JSON: ClassVar = ("id", "fix", "undoable")

    kind: str
    ids: tuple[str, ...]
    reason: str
    severity: Severity
    repair: Annotated[Fix | None, Hidden()] = None
    fixed: str | None = None
    """The journal entry of the repair, if it was applied."""

    @property
    def id(self) -> str:
        """Stable across audits: the same kind of finding about the same memories has the same id."""
        damage = self.repair and self.repair.damage
        return fingerprint("finding", self.kind, self.ids, *([damage] if damage else []))

    @property
    def fix(self) -> str | None:
        """What the repair does, if there is one."""
        return self.repair and self.repair.description

    @property
    def undoable(self) -> bool:
        """Whether there is a repair that can be undone."""
        return self.repair is not None and self.repair.final is None


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of an audit."""

    IN_JSON: ClassVar = ("counts",)

    at: datetime
    checked: int
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, parts: Sequence[Report]) -> Report:
        """The reports on each classification as one, most severe first, then by kind; ties keep their order."""
        findings = (finding for one in parts for finding in one.findings)
        order = sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), KINDS.index(one.kind)))
        return cls(parts[0].at, sum(one.checked for one in parts), tuple(order))

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings per kind."""
        found = Counter(finding.kind for finding in self.findings)
        return {kind: found[kind] for kind in KINDS if found[kind]}

    @property
    def fixed(self) -> dict[str, str]:
        """The journal entry of each fixed finding, by the finding's id."""
        return {finding.id: finding.fixed for finding in self.findings if finding.fixed is not None}

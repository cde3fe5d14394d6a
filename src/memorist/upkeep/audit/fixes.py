"""The fixes: small changes, soft wherever something could be lost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from memorist.model import Link, Memory, Tier
from memorist.models.embedding_text import alone
from memorist.ports import Vectors
from memorist.remember.gates.checks import without_secrets
from memorist.remember.gates.verdict import distrusted, flagged, quietened
from memorist.upkeep.audit.model import AuditChange, AuditedRows


@dataclass(frozen=True, slots=True)
class _Soft(ABC):
    """A fix that can be undone and needs no vectors."""

    id: str

    @property
    def final(self) -> str | None:
        """It can be undone."""
        return None

    def texts(self, known: AuditedRows) -> Sequence[str]:
        """None."""
        return ()

    def change(self, known: AuditedRows, now: datetime, fresh: Mapping[str, Vectors]) -> AuditChange:
        """The memory as it shall be, if it is there and is not so already."""
        memory = known.get([self.id]).get(self.id)
        if memory is None or (after := self.mended(memory, now)) == memory:
            return AuditChange()
        return AuditChange(revised=[after])

    @abstractmethod
    def mended(self, memory: Memory, now: datetime) -> Memory:
        """The memory as it shall be."""


@dataclass(frozen=True, slots=True)
class Retire(_Soft):
    """Take a memory back: it stays in the file and in its history, and no recall sees it."""

    survivor: str | None = None

    def told(self) -> str:
        """What it does, in a sentence."""
        return f"Retire {self.id}." if self.survivor is None else f"Retire {self.id} in favour of {self.survivor}."

    def mended(self, memory: Memory, now: datetime) -> Memory:
        """Taken back now."""
        if memory.times.retracted_at is not None:
            return memory
        times = replace(memory.times, retracted_at=now)
        return replace(memory, times=times, superseded_by=self.survivor or memory.superseded_by)


@dataclass(frozen=True, slots=True)
class Close(_Soft):
    """End a memory's truth at a moment, because something came after it."""

    at: datetime
    successor: str | None = None

    def told(self) -> str:
        """What it does, in a sentence."""
        after = f", when {self.successor} came" if self.successor else ""
        return f"End {self.id} at {self.at.date()}{after}."

    def mended(self, memory: Memory, now: datetime) -> Memory:
        """Ended, as known from now on."""
        if memory.times.valid_to is not None:
            return memory
        end = max(self.at, memory.times.valid_from)
        times = replace(memory.times, valid_to=end, expired_at=now)
        return replace(memory, times=times, superseded_by=self.successor or memory.superseded_by)


@dataclass(frozen=True, slots=True)
class Mark(_Soft):
    """Flag a memory; noise and loops also go to the edge of attention, instructions also lose trust."""

    flag: Literal["noise", "loop", "instructions", "contradicted"]

    def told(self) -> str:
        """What it does, in a sentence."""
        return f"Flag {self.id} as {self.flag}."

    def mended(self, memory: Memory, now: datetime) -> Memory:
        """Marked as its gate would have."""
        if self.flag in memory.worth.flags:
            return memory
        if self.flag == "instructions":
            return distrusted(memory, self.flag)
        return flagged(memory, self.flag) if self.flag == "contradicted" else quietened(memory, self.flag)


@dataclass(frozen=True, slots=True)
class Demote(_Soft):
    """Move a memory to the edge of attention."""

    def told(self) -> str:
        """What it does, in a sentence."""
        return f"Move {self.id} to the peripheral tier."

    def mended(self, memory: Memory, now: datetime) -> Memory:
        """In the peripheral tier."""
        return replace(memory, tier=Tier.PERIPHERAL)


@dataclass(frozen=True, slots=True)
class Mask:
    """Mask a memory's secrets where they stand, for good."""

    id: str
    final = "a masked secret is gone for good"

    def told(self) -> str:
        """What it does, in a sentence."""
        return f"Mask the secrets of {self.id}, for good."

    def texts(self, known: AuditedRows) -> Sequence[str]:
        """The masked text."""
        return [alone(without_secrets(memory)) for memory in known.get([self.id]).values()]

    def change(self, known: AuditedRows, now: datetime, fresh: Mapping[str, Vectors]) -> AuditChange:
        """The memory without its secrets, under the vectors of what is left."""
        memory = known.get([self.id]).get(self.id)
        if memory is None or (after := without_secrets(memory)) == memory:
            return AuditChange()
        return AuditChange(revised=[after], vectors={after.id: fresh[read]} if (read := alone(after)) in fresh else {})


@dataclass(frozen=True, slots=True)
class Unlink:
    """Take out links that lead nowhere."""

    links: tuple[Link, ...]
    final = None

    def told(self) -> str:
        """What it does, in a sentence."""
        return f"Take out {len(self.links)} links that lead nowhere."

    def texts(self, known: AuditedRows) -> Sequence[str]:
        """None."""
        return ()

    def change(self, known: AuditedRows, now: datetime, fresh: Mapping[str, Vectors]) -> AuditChange:
        """The links."""
        return AuditChange(unlinked=self.links)


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Derive again what is searched: the words of memories, and the vectors that they lack."""

    ids: tuple[str, ...]
    vectors: bool
    final = "what is searched was made anew from what is stored, which is unchanged"

    def told(self) -> str:
        """What it does, in a sentence."""
        what = "Embed" if self.vectors else "Write the words of"
        return f"{what} {len(self.ids)} memories again."

    def texts(self, known: AuditedRows) -> Sequence[str]:
        """Their texts, if vectors are wanted."""
        return [alone(memory) for memory in known.get(self.ids).values()] if self.vectors else ()

    def change(self, known: AuditedRows, now: datetime, fresh: Mapping[str, Vectors]) -> AuditChange:
        """The memories as they are, written again."""
        memories = list(known.get(self.ids).values())
        return AuditChange(memories, vectors={one.id: fresh[alone(one)] for one in memories if alone(one) in fresh})

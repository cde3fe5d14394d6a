"""Everything on its way in passes the gates; what they decide is told, recorded and can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorist.errors import InvalidInput
from memorist.model import Memory, fingerprint
from memorist.ports import Clock, Entry, Store
from memorist.remember.fact_updates import FINAL, changes
from memorist.remember.gates.checks import duplicates, instructions, loops, noise, secrets, size
from memorist.remember.gates.verdict import Gate, GateContext, Policy, Verdict, flagged, held

VERB = "gate"
"""The verb of the journal's entries about gates."""
IN_ORDER: tuple[Gate, ...] = (size, secrets, loops, duplicates, noise, instructions)
"""Secrets come before anything that is recorded."""
NOT_KEPT = "not kept"
"""The flag of a memory that a gate kept back, as the caller gets it."""
Given = tuple[Memory, Verdict]
"""A memory as it came to a gate, and what the gate decided."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What passed the gates, in order and perhaps changed; what did not; and every decision, for the journal."""

    memories: tuple[Memory, ...]
    entries: tuple[Entry, ...] = ()
    refusal: Verdict | None = None
    outcomes: tuple[tuple[str, Memory], ...] = ()
    """For each memory given: the id that answers for it, and itself."""

    @classmethod
    def unseen(cls, memories: Sequence[Memory]) -> Checked:
        """Memories that need not pass the gates."""
        return cls(tuple(memories), outcomes=tuple((memory.id, memory) for memory in memories))

    @property
    def known(self) -> list[str]:
        """The ids that answer for what was not kept."""
        kept = {memory.id for memory in self.memories}
        return [id for id, _ in self.outcomes if id not in kept]

    def answers(self, there: Mapping[str, Memory]) -> list[Memory]:
        """What the caller gets for each memory: as it is kept, the one that it repeats, or itself, flagged."""
        return [there[id] if id in there else flagged(memory, NOT_KEPT) for id, memory in self.outcomes]

    def require(self) -> None:
        """Raise what a refused text is told; nothing of its batch is to be written."""
        if (refused := self.refusal) is not None:
            raise InvalidInput(f"A text was refused: it {refused.reason}", remedy=_REMEDIES[refused.gate])


_REMEDIES = {
    "size": "Split it into several memories, or raise the setting `longest_text`.",
    "secrets": "Take the secret out, or set secrets = 'mask'.",
    "instructions": "Set instructions = 'mark' to keep such text as untrusted.",
}


class Gates:
    """The gates of one store, by a policy; thread-safe."""

    def __init__(self, policy: Policy, clock: Clock) -> None:
        self.policy = policy
        self._clock = clock

    def check(self, memories: Sequence[Memory], store: Store) -> Checked:
        """Pass memories through all gates; what is already there, word for word, passes by."""
        context = GateContext(self.policy, store)
        known = store.get([memory.id for memory in memories])
        kept: dict[str, Memory] = {}
        given: list[Given] = []
        outcomes: list[tuple[str, Memory]] = []
        for memory in memories:
            there = memory.id in known and known[memory.id].text == memory.text
            verdicts = [] if there else list(_through(memory, context))
            given += verdicts
            last = verdicts[-1][1] if verdicts else None
            if last is not None and last.decision == "refuse":
                return Checked((), self._entries(given), last)
            if last is not None and last.decision == "skip":
                outcomes.append((last.about[0] if last.gate == "duplicates" else memory.id, last.memory))
                continue
            passed = last.memory if last is not None else memory
            kept[passed.id] = passed
            outcomes.append((passed.id, passed))
            context.passed(passed)
        return Checked(tuple(kept.values()), self._entries(given), None, tuple(outcomes))

    def _entries(self, given: Iterable[Given]) -> tuple[Entry, ...]:
        now = self._clock.now()
        return tuple(
            Entry(
                id=fingerprint(VERB, verdict.gate, verdict.decision, verdict.memory.id),
                at=now,
                verb=VERB,
                subjects=_subjects(verdict),
                data=_data(memory, verdict),
            )
            for memory, verdict in given
        )


def _through(memory: Memory, context: GateContext) -> Iterable[Given]:
    for gate in IN_ORDER:
        verdict = gate(memory, context)
        if verdict is not None:
            yield memory, verdict
            if verdict.decision in ("skip", "refuse"):
                return
            memory = verdict.memory


def _subjects(verdict: Verdict) -> tuple[str, ...]:
    """Whom an entry is about: when one of them is erased, it goes too."""
    return () if verdict.decision == "refuse" else (verdict.memory.id, *verdict.about)


def _data(memory: Memory, verdict: Verdict) -> dict[str, Any]:
    data: dict[str, Any] = {"gate": verdict.gate, "decision": verdict.decision, "reason": verdict.reason}
    data["scope"] = memory.scope
    if verdict.final is not None:
        data[FINAL] = verdict.final
    elif verdict.decision == "skip":
        data["memory"] = held(memory)
    else:
        data |= changes([(memory, verdict.memory)])
    return data

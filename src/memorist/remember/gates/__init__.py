"""Write gates: every text passes them on its way in; what they decide is journaled and can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from memorist.errors import InvalidInput
from memorist.model import INSTRUCTIONS, NOISE, GateDecision, Memory, fingerprint, mark_name, new_or_changed
from memorist.ports import Clock, Entry, Reader, Record, Store
from memorist.remember.gates.checks import (
    LOOP_FLAG,
    NEVER_WRITTEN,
    SECRET_GATE,
    duplicates,
    instructions,
    loops,
    noise,
    secrets,
    size,
    with_own_id,
)
from memorist.remember.gates.verdict import Gate, GateContext, Verdict, has_own_place
from memorist.remember.journal import FINAL, WITHHELD, changes, withheld_to_data
from memorist.remember.policy import CHOICES, Policy
from memorist.remember.redaction import MOST, kinds_in, redact, secrets_of, text_without_secrets

__all__ = ["CHOICES", "CONTENT", "VERB", "Checked", "Gate", "GateContext", "GateResult", "Gates", "Policy", "Verdict"]

VERB = "gate"
"""The verb of the journal's entries about gates."""
IN_ORDER: tuple[Gate, ...] = (size, secrets, loops, duplicates, noise, instructions)
"""Secrets are masked before anything is recorded."""
CONTENT: tuple[Gate, ...] = (size, secrets, instructions)
"""The gates for texts that have a place of their own, such as steps, facts and notes: these are never repeats."""
EDITS: tuple[Gate, ...] = tuple(gate for gate in IN_ORDER if gate is not duplicates)
"""The gates for a new version of a memory: it may say what another one says."""
BY_GATES = (INSTRUCTIONS, LOOP_FLAG, NOISE)
"""The flags that gates set."""
TELLING = 6
"""Characters of a secret that is looked for in other records too; shorter ones occur in ordinary words."""
Decided = tuple[Memory, Verdict]
"""A memory as it came to a gate, and the gate's verdict."""


class GateResult(NamedTuple):
    """What answers for a memory given: the id of the memory that does, and the given one as the gates left it."""

    id: str
    memory: Memory
    withheld: bool = False
    """Whether a gate held it back, so that no memory answers for it."""
    decisions: tuple[GateDecision, ...] = ()
    """What the gates decided about it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The memories that passed the gates, in order and perhaps changed, and every decision, for the journal."""

    memories: tuple[Memory, ...]
    entries: tuple[Entry, ...] = ()
    refusal: InvalidInput | None = None
    """Why a text was refused; nothing of its batch may be written then."""
    answers: tuple[GateResult, ...] = ()
    """One for each memory given."""
    known: Mapping[str, Memory | None] = field(default_factory=dict[str, "Memory | None"])
    """What the store had under the ids of the memories given, if it was asked."""

    @classmethod
    def ungated(cls, memory: Memory, entry: Entry) -> Checked:
        """A memory that need not pass the gates, because the entry that withheld it is undone."""
        return cls((memory,), (entry,), answers=(GateResult(memory.id, memory),))


_REMEDIES = {
    "size": "Split it into several memories, or raise the setting `longest_text`.",
    "secrets": "Take the secret out, or set secrets = 'mask' ('keep' for exact memories); split what holds hundreds.",
    "instructions": "Set instructions = 'mark' to keep such text as untrusted.",
}


def _refusal(gate: str, reason: str) -> InvalidInput:
    return InvalidInput(f"A text was refused: it {reason}", remedy=_REMEDIES[gate])


class Gates:
    """The gates of one store, by a policy; thread-safe."""

    def __init__(self, policy: Policy, clock: Clock) -> None:
        self.policy = policy
        self._clock = clock

    def never_refusing(self) -> Gates:
        """The same gates for what is derived from stored texts: masked or marked where others are refused."""
        policy = self.policy
        secrets = "mask" if policy.secrets == "refuse" else policy.secrets
        instructions = "mark" if policy.instructions == "refuse" else policy.instructions
        return Gates(replace(policy, secrets=secrets, instructions=instructions, longest_text=0), self._clock)

    def check(self, memories: Sequence[Memory], store: Store, gates: Sequence[Gate] = IN_ORDER) -> Checked:
        """Pass memories through gates, by default all of them; one that is stored already passes unchecked."""
        known = store.get([memory.id for memory in memories])
        if duplicates in gates:
            memories, known = _set_apart(memories, known, store)
        checked = self._check(memories, GateContext(self.policy, store), known, gates)
        return replace(checked, known={memory.id: known.get(memory.id) for memory in memories})

    def check_again(self, memories: Sequence[Memory], reader: Reader) -> Checked:
        """Look, inside a write, for texts that another process has written since the check."""
        known = reader.get([memory.id for memory in memories])
        return self._check(memories, GateContext(self.policy, cast("Store", reader)), known, (duplicates,))

    def _check(
        self, memories: Sequence[Memory], context: GateContext, known: Mapping[str, Memory], gates: Sequence[Gate]
    ) -> Checked:
        new = {memory.id for memory in new_or_changed(memories, known)}
        if duplicates in gates and self.policy.duplicates != "keep":
            context.expect([memory for memory in memories if memory.id in new and not has_own_place(memory)])
        kept: dict[str, Memory] = {}
        decided: list[Decided] = []
        answers: list[GateResult] = []
        for memory in memories:
            checks = gates if memory.id in new or memory.fact is not None else ()  # a known fact takes more claims
            verdicts = list(_through(memory, context, checks))
            decisions = tuple(_decision(verdict) for _, verdict in verdicts)
            last = verdicts[-1][1] if verdicts else None
            if last is not None and last.decision == "refuse":
                return Checked((), self._entries([*decided, *verdicts]), _refusal(last.gate, last.reason))
            if last is not None and last.decision == "skip":
                decided += verdicts
                same = last.about[0] if last.gate == "duplicates" else None
                answers.append(GateResult(same or memory.id, last.memory, same is None, decisions))
                continue
            passed = last.memory if last is not None else memory
            if verdicts and (passed.fact is not None or not context.is_stored(passed)):
                decided += verdicts  # else it is a repeat, and the journal has them already
            kept[passed.id] = passed
            answers.append(GateResult(passed.id, passed, decisions=decisions))
            context.passed(passed)
        return Checked(tuple(kept.values()), self._entries(decided), None, tuple(answers))

    def text(self, text: str) -> str:
        """A text that is stored beside memories, such as a question, as the policy on secrets leaves it."""
        found = {} if self.policy.secrets == "keep" else secrets_of(text)
        if found and (self.policy.secrets == "refuse" or len(found) > MOST):
            raise _refusal(SECRET_GATE, "holds a secret")
        return redact(text, found) if found else text

    def record(self, record: Record, known: dict[str, str] | None = None) -> Record:
        """Anything that a store holds, as the policy on secrets leaves it.

        `known` collects the secrets of records that belong together: one that is found in any is masked in the rest.
        """
        if self.policy.secrets == "keep":
            return record
        found = secrets_of(record)
        if (found and self.policy.secrets == "refuse") or len(found) > MOST:
            raise _refusal(SECRET_GATE, f"holds {', '.join(dict.fromkeys(found.values()))}")
        if known is not None:
            known |= {secret: kind for secret, kind in found.items() if len(secret) >= TELLING}
            for oldest in list(known)[:-MOST]:
                del known[oldest]
            found |= known
        return redact(record, found) if found else record

    def masking(self, before: Memory, after: Memory) -> Entry:
        """The journal's entry about a memory from another store whose secrets were masked."""
        reason = f"holds {', '.join(kinds_in(before))}"
        return self._entries([(before, Verdict(SECRET_GATE, "mask", reason, after, final=NEVER_WRITTEN))])[0]

    def _entries(self, decided: Iterable[Decided]) -> tuple[Entry, ...]:
        now = self._clock.now()
        return tuple(
            Entry(
                id=_entry_id(verdict),
                at=now,
                verb=VERB,
                subjects=_subjects(verdict),
                data=_data(memory, verdict),
            )
            for memory, verdict in decided
        )


def _set_apart(
    memories: Sequence[Memory], known: Mapping[str, Memory], reader: Reader
) -> tuple[list[Memory], Mapping[str, Memory]]:
    """The memories, each under an id that no other memory has, and those that are known by these ids."""
    apart, waiting = dict(enumerate(memories)), dict(enumerate(memories))
    while waiting:
        moved = {place: with_own_id(memory, known.get(memory.id)) for place, memory in waiting.items()}
        waiting = {place: memory for place, memory in moved.items() if memory.id != waiting[place].id}
        apart |= waiting
        if waiting:
            known = {**known, **reader.get([memory.id for memory in waiting.values()])}
    return list(apart.values()), known


def _through(memory: Memory, context: GateContext, gates: Sequence[Gate]) -> Iterable[Decided]:
    for gate in gates:
        verdict = gate(memory, context)
        if verdict is not None:
            yield memory, verdict
            memory = verdict.memory
            repeated = verdict.decision == "mask" and memory.fact is None and context.is_stored(memory)
            if verdict.decision in ("skip", "refuse") or repeated:
                return


def _entry_id(verdict: Verdict) -> str:
    return fingerprint(VERB, verdict.gate, verdict.decision, verdict.memory.id)


def _decision(verdict: Verdict) -> GateDecision:
    """A verdict as its caller reads it."""
    entry = None if verdict.final is not None else mark_name(_entry_id(verdict), verdict.memory.worth.classification)
    return GateDecision(verdict.gate, verdict.decision, verdict.reason, entry)


def _subjects(verdict: Verdict) -> tuple[str, ...]:
    """The memories an entry is about; it is erased with any of them."""
    return () if verdict.decision == "refuse" else (verdict.memory.id, *verdict.about)


def _data(memory: Memory, verdict: Verdict) -> dict[str, Any]:
    data: dict[str, Any] = {"gate": verdict.gate, "decision": verdict.decision, "reason": verdict.reason}
    scope = verdict.memory.scope
    data["scope"] = text_without_secrets(scope) if verdict.decision == "refuse" else scope
    if verdict.final is not None:
        data[FINAL] = verdict.final
    elif verdict.decision == "skip":
        data[WITHHELD] = withheld_to_data(memory)
    else:
        data |= changes([(memory, verdict.memory)])
    return data

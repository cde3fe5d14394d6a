"""The gate for repeats: what is already there, said again without a place of its own."""

from __future__ import annotations

from memorist.model import Memory
from memorist.remember.gates.verdict import Context, Verdict, has_own_place
from memorist.text.gist import gist, repeats

GATE = "duplicates"


def duplicates(memory: Memory, context: Context) -> Verdict | None:
    """Skip what a memory of the same scope, session and kind says already; an update is never a repeat."""
    if context.policy.duplicates == "keep" or has_own_place(memory):
        return None
    new = gist(memory.text)
    for known, said in context.nearest(memory):
        if known.id != memory.id and _beside(memory, known) and repeats(new, said):
            how = "the same as" if known.text == memory.text else "nothing beyond"
            return Verdict(GATE, "skip", f"says {how} {known.id}", memory, about=(known.id,))
    return None


def _beside(memory: Memory, known: Memory) -> bool:
    """Whether a known memory still stands, and was told in the same place by the same one."""
    times, now = known.times, memory.times.ingested_at
    current = (
        times.retracted_at is None
        and (times.valid_to is None or times.valid_to > now)
        and (times.expires_at is None or times.expires_at > now)
    )
    return (
        current
        and known.kind == memory.kind
        and known.origin.session == memory.origin.session
        and known.origin.speaker == memory.origin.speaker
        and known.original == memory.original
    )

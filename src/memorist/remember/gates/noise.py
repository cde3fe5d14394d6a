"""The gate for noise: greetings, denials and talk about memory itself."""

from __future__ import annotations

from memorist.model import Kind, Memory
from memorist.remember.gates.verdict import Context, Verdict, quietened, spoken
from memorist.text.chatter import bare, says_nothing

GATE, FLAG = "noise", "noise"


def noise(memory: Memory, context: Context) -> Verdict | None:
    """Mark or skip what says nothing: by its phrases, or because the bank has learnt that very text."""
    if context.policy.noise == "keep" or not may_be_noise(memory):
        return None
    said = spoken(memory)
    if says_nothing(said):
        return verdict(memory, context.policy.noise, "is a phrase of courtesy or of knowing nothing")
    if context.learnt and bare(said) in {bare(text) for text in context.learnt}:
        return verdict(memory, context.policy.noise, "is in the noise bank")
    return None


def may_be_noise(memory: Memory) -> bool:
    """Whether it was said, and is not known as noise yet."""
    return memory.kind is Kind.EPISODIC and FLAG not in memory.worth.flags


def verdict(memory: Memory, policy: str, reason: str) -> Verdict:
    """What is done with noise."""
    if policy == "skip":
        return Verdict(GATE, "skip", reason, memory)
    return Verdict(GATE, "mark", reason, quietened(memory, FLAG))

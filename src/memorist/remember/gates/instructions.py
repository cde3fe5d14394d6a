"""The gate for text that speaks to the model: kept, for it was said, but not trusted."""

from __future__ import annotations

from memorist.model import Memory
from memorist.remember.gates.verdict import Context, Verdict, distrusted
from memorist.text.injection import instructions_in

GATE, FLAG = "instructions", "instructions"


def instructions(memory: Memory, context: Context) -> Verdict | None:
    """Mark or refuse orders to the model, role markers, imitated calls of tools and requests to leak."""
    if context.policy.instructions == "keep" or FLAG in memory.worth.flags:
        return None
    reasons = instructions_in(memory.text) + (instructions_in(memory.original) if memory.original else [])
    if not reasons:
        return None
    reason = "; ".join(dict.fromkeys(reasons))
    if context.policy.instructions == "refuse":
        return Verdict(GATE, "refuse", reason, memory, final="nothing was written")
    return Verdict(GATE, "mark", reason, distrusted(memory, FLAG))

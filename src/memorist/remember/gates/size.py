"""The gate for size: a text too long to be found by is refused, not cut."""

from __future__ import annotations

from memorist.model import Memory
from memorist.remember.gates.verdict import Context, Verdict

GATE = "size"


def size(memory: Memory, context: Context) -> Verdict | None:
    """Refuse a text of more characters than the policy allows."""
    longest = context.policy.longest_text
    length = max(len(memory.text), len(memory.original or ""))
    if not longest or length <= longest:
        return None
    reason = f"has {length:,} characters, more than {longest:,}"
    return Verdict(GATE, "refuse", reason, memory, final="nothing was written")

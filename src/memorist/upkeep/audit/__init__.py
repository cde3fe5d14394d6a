"""The audit of a memory: what is wrong with it, and how to fix it."""

from memorist.upkeep.audit.run import VERB, apply_fixes, audit, audit_whole, check_kinds

__all__ = ["VERB", "apply_fixes", "audit", "audit_whole", "check_kinds"]

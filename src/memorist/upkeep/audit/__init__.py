"""The audit of a memory: what is wrong with it, and what mends that."""

from memorist.upkeep.audit.model import KINDS, Finding, Fix, Report
from memorist.upkeep.audit.run import VERB, audit, checked_kinds, mend

__all__ = ["KINDS", "VERB", "Finding", "Fix", "Report", "audit", "checked_kinds", "mend"]

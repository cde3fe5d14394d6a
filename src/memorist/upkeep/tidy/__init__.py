"""Tidy what was learnt: tiers, decay, merges, orphans and expiry. A dry run plans, a run applies, `undo` takes back."""

from memorist.upkeep.tidy.rules import VERB, tidy

__all__ = ["VERB", "tidy"]

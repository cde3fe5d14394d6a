"""Tidy what was learnt: tiers, decay, merges, orphans and expiry; planned first, applied if asked, undone after."""

from memorist.upkeep.tidy.desk import TidyChange, Tidying, TidyRules
from memorist.upkeep.tidy.run import VERB, tidy

__all__ = ["VERB", "TidyChange", "TidyRules", "Tidying", "tidy"]

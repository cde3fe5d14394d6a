"""Tidy what was learnt: tiers, decay, merges, orphans and expiry; planned first, applied if asked, undone after."""

from recollect.upkeep.tidy.model import Change, Rules, Tidying
from recollect.upkeep.tidy.run import VERB, tidy

__all__ = ["VERB", "Change", "Rules", "Tidying", "tidy"]

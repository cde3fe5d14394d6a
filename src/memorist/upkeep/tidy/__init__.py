"""Tidy what was learnt: tiers, decay, merges, orphans and expiry; planned first, applied if asked, undone after."""

from memorist.upkeep.tidy.model import Change, Rules, Tidying
from memorist.upkeep.tidy.run import VERB, tidy

__all__ = ["VERB", "Change", "Rules", "Tidying", "tidy"]

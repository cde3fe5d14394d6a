"""Consolidate: write daily, weekly and quarterly notes about memories, as files and as memories."""

from memorist.upkeep.consolidate.notebook import Notebook
from memorist.upkeep.consolidate.notes import PERIODS, VERB

__all__ = ["PERIODS", "VERB", "Notebook"]

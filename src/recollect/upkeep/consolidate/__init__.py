"""Consolidate: daily, weekly and quarterly notes on what was remembered, as files and as memories."""

from recollect.upkeep.consolidate.model import PERIODS, VERB, Consolidation, WrittenNote
from recollect.upkeep.consolidate.notebook import Notebook

__all__ = ["PERIODS", "VERB", "Consolidation", "Notebook", "WrittenNote"]

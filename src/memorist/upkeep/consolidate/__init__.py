"""Consolidate: daily, weekly and quarterly notes on what was remembered, as files and as memories."""

from memorist.upkeep.consolidate.model import PERIODS, VERB, Consolidation, WrittenNote
from memorist.upkeep.consolidate.notebook import Notebook

__all__ = ["PERIODS", "VERB", "Consolidation", "Notebook", "WrittenNote"]

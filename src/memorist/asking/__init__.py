"""Ask a language model: fenced data in, a checked answer out, within a budget. Whoever asks has a rule as well."""

from memorist.asking.asker import Asker, Askers, Budget, BudgetSpent, Limits, Models
from memorist.asking.query import Source
from memorist.asking.wording import STEPS

__all__ = ["STEPS", "Asker", "Askers", "Budget", "BudgetSpent", "Limits", "Models", "Source"]

"""Ask a language model: fenced data in, a checked answer out, within a budget. Whoever asks has a rule as well."""

from recollect.asking.asker import Asker, Askers, Models
from recollect.asking.budget import Budget, BudgetSpent, Limits
from recollect.asking.source import Source
from recollect.asking.wording import STEPS

__all__ = ["STEPS", "Asker", "Askers", "Budget", "BudgetSpent", "Limits", "Models", "Source"]

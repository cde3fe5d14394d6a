"""Ask a language model: fenced data in, a checked answer out, within a budget. Every caller can fall back to rules."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from memorist.asking.askers import Askers
from memorist.asking.limits import STEPS, BudgetSpent, Limits, Models, require_steps

if TYPE_CHECKING:
    from memorist.asking.asker import Budget, LLMAsker
    from memorist.asking.query import Source

__all__ = ["STEPS", "Askers", "Budget", "BudgetSpent", "LLMAsker", "Limits", "Models", "Source", "require_steps"]

_LAZY = {"LLMAsker": "memorist.asking.asker", "Budget": "memorist.asking.asker", "Source": "memorist.asking.query"}


def __getattr__(name: str) -> Any:
    """Import the machinery on first use: without a language model it is never needed."""
    if name in _LAZY:
        return getattr(_import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'memorist.asking' has no attribute {name!r}")

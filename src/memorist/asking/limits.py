"""Which language model does which step, and how much one operation may ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.ports import LLM

STEPS = (
    "mode",
    "tags",
    "expand",
    "bridge",
    "read",
    "reason",
    "annotate",
    "propositions",
    "instructions",
    "facts",
    "note",
)
"""The steps that a language model can do; each has a prompt of the same name."""


def require_steps(names: Iterable[str], where: str) -> None:
    """Refuse names that are not steps."""
    for name in names:
        if name not in STEPS:
            raise InvalidInput(f"{where} names an unknown step: {name!r}", remedy=f"Known steps: {', '.join(STEPS)}.")


class BudgetSpent(ModelUnavailable):
    """An operation has used its budget; rules do the rest."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"The budget of {limit} is spent", remedy="Raise that limit in the settings.")


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum number of calls and tokens of one operation."""

    calls: int
    tokens: int


RECALL = Limits(calls=12, tokens=60_000)
EXTRACTION = Limits(calls=40, tokens=400_000)


@dataclass(frozen=True, slots=True)
class Models:
    """The default language model, and per step another model, or None for the rules."""

    default: LLM | None = None
    steps: Mapping[str, LLM | None] = field(default_factory=dict[str, LLM | None])

    def __post_init__(self) -> None:
        require_steps(self.steps, "The table of models per step")

    def of(self, step: str) -> LLM | None:
        """The model that does a step, if any."""
        return self.steps.get(step, self.default)

    def __bool__(self) -> bool:
        return any(model is not None for model in (self.default, *self.steps.values()))

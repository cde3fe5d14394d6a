"""One asker per operation, made from the configured models; without a model there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memorist.asking.limits import EXTRACTION, RECALL, Limits, Models, require_steps

if TYPE_CHECKING:
    from memorist.asking.asker import LLMAsker


@dataclass(frozen=True, slots=True)
class Askers:
    """Creates one asker per operation, from the models, the instructions that a profile adds, and the limits."""

    models: Models = field(default_factory=Models)
    context: str = ""
    overlays: Mapping[str, str] = field(default_factory=dict[str, str])
    recall: Limits = RECALL
    extraction: Limits = EXTRACTION

    def __post_init__(self) -> None:
        require_steps(self.overlays, "The profile")

    def for_recall(self) -> LLMAsker | None:
        """The asker of one recall; None without a model."""
        return self._asker(self.recall)

    def for_extraction(self) -> LLMAsker | None:
        """The asker of one extraction from a session, trajectory or batch of texts; None without a model."""
        return self._asker(self.extraction)

    def _asker(self, limits: Limits) -> LLMAsker | None:
        if not self.models:
            return None
        from memorist.asking.asker import Budget, LLMAsker

        return LLMAsker(self.models, Budget(limits), context=self.context, overlays=self.overlays)

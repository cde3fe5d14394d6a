"""Steps that ask a language model if there is one, and rules otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from memorist.asking import Asker
from memorist.errors import ModelUnavailable
from memorist.recall.stage import Env, Stage

By = Literal["auto", "rules", "llm"]
"""`auto`: the model where one is configured, else the rules; `llm`: the same, but a recall without one is refused."""
T = TypeVar("T")


class LlmOrRules(Stage):
    """A stage that a language model or rules can do. Where the model gives no answer, the rules stand in."""

    __slots__ = ()
    by: By

    def required(self) -> tuple[str, ...]:
        """Its needs, and a language model if `by` demands one."""
        return (*self.needs, "llm") if self.by == "llm" else self.needs

    def judged(self, step: str, env: Env, ask: Callable[[Asker], T], rule: Callable[[], T]) -> tuple[T, str]:
        """The answer, and for the trace who gave it: a model by its name, or `rules` and why it was not the model."""
        asker = None if self.by == "rules" else env.llm
        model = None if asker is None else asker.model_for(step)
        if asker is None or model is None:
            return rule(), "rules"
        try:
            return ask(asker), model
        except ModelUnavailable as error:
            return rule(), f"rules: {error.problem}"

"""One question to a language model: asked within a budget, checked, and answered or given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TypeVar

from memorist.asking.limits import BudgetSpent, Limits, Models
from memorist.asking.wording import LONGEST_ANSWER, Broken, Schema, clip, fence, read, system_message
from memorist.errors import ModelUnavailable
from memorist.model import Spent
from memorist.ports import LLM, Completion
from memorist.text.tokens import count_tokens

T = TypeVar("T")
Messages = list[dict[str, str]]

ATTEMPTS = 2
"""How often to ask for an answer that fits its schema."""
PATIENCE = 2
"""After this many failed calls, an operation does not ask the model again."""


class LLMAsker:
    """Asks on behalf of one operation. Thread-safe.

    It stays within the budget, asks the same question only once, and gives up on a model that does not answer.
    """

    def __init__(
        self, models: Models, budget: Budget, *, context: str = "", overlays: Mapping[str, str] | None = None
    ) -> None:
        self._models = models
        self._budget = budget
        self._context = context
        self._overlays = overlays or {}
        self._answers: dict[tuple[str, str], Any] = {}
        self._failures: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def spent(self) -> Spent:
        """The calls and tokens that this operation has used so far."""
        return self._budget.spent

    def model_for(self, step: str) -> str | None:
        """The name of the model that does a step, if any."""
        model = self._models.of(step)
        return None if model is None else model.name

    def ask(self, step: str, data: Mapping[str, Any], schema: Schema, make: Callable[[Any], T]) -> T:
        """The result of `make` for the answer. If the answer breaks the schema, or `make` raises Broken, ask once more.

        Raises ModelUnavailable if there is no model, no answer, or no valid answer.
        """
        question = fence(data)
        key = step, question
        if key not in self._answers:
            answer = self._ask(step, question, schema, make)
            with self._lock:
                self._answers[key] = answer
        return self._answers[key]

    def _ask(self, step: str, question: str, schema: Schema, make: Callable[[Any], T]) -> T:
        model = self._models.of(step)
        if model is None:
            raise ModelUnavailable(
                f"No language model is set for the step {step!r}", remedy="Set llm, or that step in llm_steps."
            )
        asked = [_message("system", system_message(step, self._context, self._overlays)), _message("user", question)]
        messages, complaint = asked, ""
        for _ in range(ATTEMPTS):
            text = self._complete(model, messages, schema)
            try:
                return make(read(text, schema))
            except Broken as broken:
                complaint = str(broken)
                messages = [*asked, *_correction(text, complaint)]
        raise ModelUnavailable(
            f"{model.name} gave no usable answer to {step!r}: {complaint}",
            remedy="Choose another model for that step in llm_steps.",
        )

    def _complete(self, model: LLM, messages: Messages, schema: Schema) -> str:
        if self._failures[model.name] >= PATIENCE:
            raise ModelUnavailable(
                f"{model.name} did not answer before and was not asked again", remedy="See the previous notes."
            )
        estimate = sum(count_tokens(message["content"]) for message in messages)
        self._budget.reserve(estimate)
        try:
            completion = _completion(model, messages, schema)
        except ModelUnavailable:
            with self._lock:
                self._failures[model.name] += 1
            raise
        self._budget.settle(estimate, completion)
        return completion.text


def _completion(model: LLM, messages: Messages, schema: Schema) -> Completion:
    """The answer of the model. Any exception of an adapter becomes ModelUnavailable."""
    try:
        given = model.complete(messages, schema=schema)
        return Completion(given.text[: LONGEST_ANSWER + 1], given.tokens_in, given.tokens_out)
    except ModelUnavailable:
        raise
    except Exception as error:
        raise ModelUnavailable(
            f"{model.name} failed with {type(error).__name__}: {clip(str(error), 200)}",
            remedy="Check the model or its adapter.",
        ) from error


def _correction(text: str, complaint: str) -> Messages:
    said = clip(text.strip(), 2000) or "(nothing)"
    again = f"That answer cannot be used: {complaint}. Answer again, with the JSON object and nothing else."
    return [_message("assistant", said), _message("user", again)]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


class Budget:
    """The calls and tokens that one operation has left. A failed call counts, with its estimated tokens."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._spent = Spent()
        self._lock = Lock()

    @property
    def spent(self) -> Spent:
        """The calls and tokens used so far, including calls in progress."""
        with self._lock:
            return self._spent

    def reserve(self, estimate: int) -> None:
        """Count one call and its estimated tokens, before the call; raises BudgetSpent if they exceed the limits."""
        with self._lock:
            if self._spent.calls >= self.limits.calls:
                raise BudgetSpent(f"{self.limits.calls} call{'' if self.limits.calls == 1 else 's'}")
            if self._spent.tokens_in + self._spent.tokens_out + estimate > self.limits.tokens:
                raise BudgetSpent(f"{self.limits.tokens:,} tokens")
            self._spent = self._spent.plus(Spent(1, estimate, 0))

    def settle(self, estimate: int, completion: Completion) -> None:
        """Replace the estimate by the tokens that the vendor reports, if it reports any."""
        read = completion.tokens_in or estimate
        written = completion.tokens_out or count_tokens(completion.text)
        with self._lock:
            self._spent = self._spent.plus(Spent(0, read - estimate, written))

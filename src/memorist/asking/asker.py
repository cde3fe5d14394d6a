"""Who is asked, and how: one asker per operation, with its own budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from memorist.asking.answer import LONGEST_ANSWER, Broken, read
from memorist.asking.budget import EXTRACTION, RECALL, Budget, Limits
from memorist.asking.fence import clipped, fenced
from memorist.asking.shape import Schema
from memorist.asking.wording import require_steps, system_message
from memorist.errors import ModelUnavailable
from memorist.model import Spent
from memorist.ports import LLM, Completion
from memorist.text.tokens import count_tokens

ATTEMPTS = 2
"""An answer that breaks its schema is asked for once more."""
PATIENCE = 2
"""After so many calls without an answer, a model is not waited for again in the same operation."""

T = TypeVar("T")
Messages = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Models:
    """The language model in use, and another one, or None for the rules, for single steps."""

    default: LLM | None = None
    steps: Mapping[str, LLM | None] = field(default_factory=dict[str, LLM | None])

    def __post_init__(self) -> None:
        require_steps(self.steps, "The table of models per step")

    def of(self, step: str) -> LLM | None:
        """The model that does a step, if any."""
        return self.steps.get(step, self.default)

    def __bool__(self) -> bool:
        return any(model is not None for model in (self.default, *self.steps.values()))


class Asker:
    """Asks for one operation: within its budget, the same question once, a silent model not for long. Thread-safe."""

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
        """What this operation has asked so far."""
        return self._budget.spent

    def model_for(self, step: str) -> str | None:
        """The name of the model that does a step, if any."""
        model = self._models.of(step)
        return None if model is None else model.name

    def ask(self, step: str, data: Mapping[str, Any], schema: Schema, make: Callable[[Any], T]) -> T:
        """What `make` makes of the answer; it may raise Broken, as the schema may be, and the model is told why.

        Raises ModelUnavailable when there is no model, no answer, or no answer that fits.
        """
        question = fenced(data)
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
                f"no language model is set for {step!r}", remedy="Set llm, or that step in llm_steps."
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
                f"{model.name} did not answer before and was not asked again", remedy="See the notes before."
            )
        with self._budget.call(sum(count_tokens(message["content"]) for message in messages)) as call:
            try:
                completion = _completion(model, messages, schema)
            except ModelUnavailable:
                with self._lock:
                    self._failures[model.name] += 1
                raise
            call.brought(completion)
            return completion.text


@dataclass(frozen=True, slots=True)
class Askers:
    """Makes the asker of each operation: the models, what a profile adds to their instructions, and the limits."""

    models: Models = field(default_factory=Models)
    context: str = ""
    overlays: Mapping[str, str] = field(default_factory=dict[str, str])
    recall: Limits = RECALL
    extraction: Limits = EXTRACTION

    def __post_init__(self) -> None:
        require_steps(self.overlays, "The profile")

    def for_recall(self) -> Asker | None:
        """An asker for one recall; None without any model."""
        return self._asker(self.recall)

    def for_extraction(self) -> Asker | None:
        """An asker for what is made of one session, trajectory or batch of texts; None without any model."""
        return self._asker(self.extraction)

    def _asker(self, limits: Limits) -> Asker | None:
        if not self.models:
            return None
        return Asker(self.models, Budget(limits), context=self.context, overlays=self.overlays)


def _completion(model: LLM, messages: Messages, schema: Schema) -> Completion:
    """The model's answer; whatever an adapter raises means that there is none."""
    try:
        given = model.complete(messages, schema=schema)
        return Completion(given.text[: LONGEST_ANSWER + 1], given.tokens_in, given.tokens_out)
    except ModelUnavailable:
        raise
    except Exception as error:
        raise ModelUnavailable(
            f"{model.name} failed with {type(error).__name__}: {clipped(str(error), 200)}",
            remedy="Look at the model or at its adapter.",
        ) from error


def _correction(text: str, complaint: str) -> Messages:
    said = clipped(text.strip(), 2000) or "(nothing)"
    again = f"That answer cannot be used: {complaint}. Answer again, with the JSON object and nothing else."
    return [_message("assistant", said), _message("user", again)]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}

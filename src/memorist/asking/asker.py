"""One question to a language model: within a budget, checked, answered or given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from memorist.asking.wording import LONGEST_ANSWER, Broken, Schema, clipped, fenced, read, require_steps, system_message
from memorist.errors import ModelUnavailable
from memorist.model import Spent
from memorist.ports import LLM, Completion
from memorist.text.tokens import count_tokens


class BudgetSpent(ModelUnavailable):
    """An operation has asked as much as it may; what is left is done by rules."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"the budget of {limit} is spent", remedy="Raise that limit in the settings.")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one operation may ask at most."""

    calls: int
    tokens: int


RECALL = Limits(calls=12, tokens=60_000)
EXTRACTION = Limits(calls=40, tokens=400_000)


class LlmCall:
    """One call under way; told what it brought, it counts what that cost."""

    def __init__(self, estimate: int) -> None:
        self.tokens_in, self.tokens_out = estimate, 0

    def brought(self, completion: Completion) -> None:
        """Count as the vendor does, or estimate where it does not tell."""
        self.tokens_in = completion.tokens_in or self.tokens_in
        self.tokens_out = completion.tokens_out or count_tokens(completion.text)


class Budget:
    """The calls and tokens left to one operation. A call that fails counts; so do its estimated tokens."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._spent = Spent()
        self._lock = Lock()

    @property
    def spent(self) -> Spent:
        """What was spent so far, calls under way included."""
        with self._lock:
            return self._spent

    @contextmanager
    def call(self, estimate: int) -> Generator[LlmCall]:
        """Room for one call of about so many tokens, reserved until it is known what it cost."""
        self._reserve(estimate)
        call = LlmCall(estimate)
        try:
            yield call
        finally:
            with self._lock:
                self._spent = self._spent.plus(Spent(0, call.tokens_in - estimate, call.tokens_out))

    def _reserve(self, estimate: int) -> None:
        with self._lock:
            if self._spent.calls >= self.limits.calls:
                raise BudgetSpent(f"{self.limits.calls} call{'' if self.limits.calls == 1 else 's'}")
            if self._spent.tokens_in + self._spent.tokens_out + estimate > self.limits.tokens:
                raise BudgetSpent(f"{self.limits.tokens:,} tokens")
            self._spent = self._spent.plus(Spent(1, estimate, 0))


T = TypeVar("T")


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """What each call gives, in order; all run at once, the last in this thread.

    The others get threads of their own: one that waits for a model must not be one that searches wait for.
    """
    if len(calls) < 2:
        return [call() for call in calls]
    *others, last = calls
    with ThreadPoolExecutor(len(others), thread_name_prefix="memorist-asking") as pool:
        waiting = [pool.submit(call) for call in others]
        final = last()
        return [*(future.result() for future in waiting), final]


ATTEMPTS = 2
"""An answer that breaks its schema is asked for once more."""
PATIENCE = 2
"""After so many calls without an answer, a model is not waited for again in the same operation."""


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

"""A language model that answers from a script, by step."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorist.asking import STEPS, Budget, Limits, LLMAsker, Models
from memorist.asking.wording import CLOSE, OPEN, prompt
from memorist.errors import ModelUnavailable
from memorist.ports import Completion

NAME = "fake:model"
SILENT = ModelUnavailable(f"{NAME} did not answer within 20 seconds", remedy="Wait.")


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as the model saw it."""

    step: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any]

    @property
    def system(self) -> str:
        return self.messages[0]["content"]

    @property
    def data(self) -> Any:
        return json.loads(self.messages[1]["content"].removeprefix(OPEN).removesuffix(CLOSE))


class FakeLLM:
    """Answers each step as told: a mapping as JSON, a string as it is, an error raised, a function called.

    A list gives its members one after another, the last again and again.
    """

    def __init__(self, name: str = NAME, *, tokens: tuple[int, int] = (7, 3), **answers: Any) -> None:
        self.name = name
        self.tokens = tokens
        self.answers = answers
        self.asked: list[Asked] = []
        self._count: Counter[str] = Counter()

    def complete(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any] | None = None) -> Completion:
        assert schema is not None
        step = next(step for step in STEPS if messages[0]["content"].startswith(prompt(step)))
        asked = Asked(step, tuple(messages), schema)
        self.asked.append(asked)
        self._count[step] += 1
        answer = self.answers[step]
        if isinstance(answer, list):
            answer = answer[min(self._count[step], len(answer)) - 1]
        if isinstance(answer, Callable):
            answer = answer(asked)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer if isinstance(answer, str) else json.dumps(answer), *self.tokens)

    def steps(self) -> list[str]:
        return [question.step for question in self.asked]


def asker(
    llm: FakeLLM | None = None, *, calls: int = 100, tokens: int = 1_000_000, steps: Any = None, **answers: Any
) -> LLMAsker:
    """An asker of one fake model."""
    return LLMAsker(Models(llm or FakeLLM(**answers), steps or {}), Budget(Limits(calls, tokens)))

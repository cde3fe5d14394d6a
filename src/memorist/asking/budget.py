"""How much one operation may ask: calls and tokens, counted across its threads."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from memorist.errors import ModelUnavailable
from memorist.model import Spent
from memorist.ports import Completion
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


class Call:
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
    def call(self, estimate: int) -> Generator[Call]:
        """Room for one call of about so many tokens, reserved until it is known what it cost."""
        self._reserve(estimate)
        call = Call(estimate)
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

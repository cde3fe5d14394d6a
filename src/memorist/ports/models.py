"""What we need of a model and of a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memorist.ports.values import Progress

if TYPE_CHECKING:
    from memorist.ports.values import Vector


Purpose = Literal["query", "memory"]


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def generation(self) -> str:
        """Model name, checksum prefix and dimension: vectors of two generations are never compared."""
        ...

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One row per text, each of length 1; `progress` hears how many more are done."""
        ...


class Reranker(Protocol):
    """Reads a question and a text together."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A logit per text; larger is better."""
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """A language model's answer, and the tokens it cost where the vendor tells."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class LLM(Protocol):
    """A language model. Never a condition: every stage that uses one has a rule to fall back on."""

    @property
    def name(self) -> str:
        """Vendor and model, as the trace shows them."""
        ...

    def complete(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any] | None = None) -> Completion:
        """The answer to messages of `role` (system, user, assistant) and `content`, as JSON when a schema is given.

        Raises ModelUnavailable when there is none: no server, no key, refused, out of time, cut short.
        """
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current moment in UTC."""
        ...


class SystemClock:
    """UTC now; within a process it never goes backwards, or fresh memories would lie in the future."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """The current moment, or the latest one told if the clock was set back."""
        with self._lock:
            self._latest = max(self._latest, datetime.now(UTC))
            return self._latest

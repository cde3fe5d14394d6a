"""The ports for models and the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from memorist.model import Progress

if TYPE_CHECKING:
    from memorist.ports.values import Vector


Purpose = Literal["query", "memory"]


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def generation(self) -> str:
        """Model name, checksum prefix and dimension; vectors of different generations are never compared."""
        ...

    @property
    def dim(self) -> int:
        """The dimension of its vectors."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One unit vector per text, as rows; `progress` is called with the number of texts just done."""
        ...


class Reranker(Protocol):
    """Scores a question and a text together."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One logit per text; larger is better."""
        ...


class Reading(NamedTuple):
    """What a reranker says of a text: how well it fits the question, and whether it answers it; both as logits."""

    score: float
    answers: float | None = None


@runtime_checkable
class AnswerReranker(Reranker, Protocol):
    """A reranker that also judges whether a text answers the question: one that only fits may rank first."""

    def read(self, query: str, texts: Sequence[str]) -> Sequence[Reading]:
        """One reading per text."""
        ...


class ReadInList(NamedTuple):
    """What a reranker says of a text beside others: how well it fits, whether it answers, and whether a later one says
    otherwise; all as logits.
    """

    score: float
    answers: float
    outdated: float


class ListReading(NamedTuple):
    """What a reranker says of texts that it read together, and whether any of them answers, as a logit."""

    texts: Sequence[ReadInList]
    known: float


@runtime_checkable
class ListReranker(Reranker, Protocol):
    """A reranker that can also read a question with several texts together: which of them is the current one?"""

    def read_list(self, query: str, texts: Sequence[str]) -> ListReading | None:
        """One reading per text, for texts in the order of their times; None if its model cannot."""
        ...


def list_reading_of(reranker: Reranker, query: str, texts: Sequence[str]) -> ListReading | None:
    """What any reranker says of these texts together; None if it only reads them one by one."""
    return reranker.read_list(query, texts) if isinstance(reranker, ListReranker) else None


def readings_of(reranker: Reranker, query: str, texts: Sequence[str]) -> Sequence[Reading]:
    """What any reranker says of these texts."""
    if isinstance(reranker, AnswerReranker):
        return reranker.read(query, texts)
    return [Reading(score) for score in reranker.score(query, texts)]


@runtime_checkable
class Loadable(Protocol):
    """A model that can be loaded ahead of its first use, which otherwise loads it."""

    def load(self) -> None:
        """Load it; quick if it is loaded."""
        ...


def load_ahead(model: object) -> None:
    """Load a model, if it can be loaded, in a thread of the caller's; what goes wrong shows at its first use."""
    if isinstance(model, Loadable):
        with suppress(Exception):
            model.load()


@dataclass(frozen=True, slots=True)
class Completion:
    """A language model's answer, and its token counts if the vendor reports them."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class LLM(Protocol):
    """A language model. It is always optional: every stage that uses one can fall back on a rule."""

    @property
    def name(self) -> str:
        """Vendor and model, as shown in the trace."""
        ...

    def complete(self, messages: Sequence[Mapping[str, str]], *, schema: Mapping[str, Any] | None = None) -> Completion:
        """The answer to messages of `role` (system, user, assistant) and `content`, as JSON when a schema is given.

        Raises ModelUnavailable if there is no answer: no server, no key, a refusal, a timeout, a truncated answer.
        """
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current time in UTC."""
        ...


class SystemClock:
    """The system time in UTC; it never goes backwards within a process, so no memory lies in the future."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """The current time, or the latest time returned if the clock was set back."""
        with self._lock:
            self._latest = max(self._latest, datetime.now(UTC))
            return self._latest

"""What every verb of an engine does around its work: it says if the engine is closed, and is a span in a trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import getmembers, isfunction
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeVar

from memorist.errors import Closed, Error
from memorist.model import Recall, Step
from memorist.ports.notices import past_span, span

if TYPE_CHECKING:
    from opentelemetry.trace import Span

T = TypeVar("T")
UNGUARDED = ("close",)


def refuse_when_closed(engine: type[T]) -> type[T]:
    """A class whose public methods raise `Closed` once its attribute `closed` is true.

    A running verb finishes if it can. What fails under it because the store or the threads are gone is `Closed` too.
    In a program that traces, each call is a span.
    """
    for name, verb in getmembers(engine, isfunction):
        if not name.startswith("_") and name not in UNGUARDED:
            setattr(engine, name, _traced(name, _guarded(verb)))
    return engine


def _guarded(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.closed:
            raise _closed()
        try:
            return verb(self, *args, **kwargs)
        except Error:
            raise
        except Exception as error:
            if self.closed:
                raise _closed() from error
            raise

    return call


def _closed() -> Closed:
    return Closed("This memory is closed", remedy="Open it again.")


def _traced(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb whose calls are spans, if the program traces; a recall has one span per stage."""

    @wraps(verb)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with span(f"memorist.{name}") as recorded:
            answer = verb(self, *args, **kwargs)
            if recorded is not None and name == "recall":  # other verbs that recall call it
                _tell(recorded, answer)
            return answer

    return call


def _tell(recorded: Span, answer: Recall) -> None:
    """Say what a recall found, and add a span for each stage, and for each signal within the stage that searched."""
    recorded.set_attribute("memorist.recipe", answer.recipe)
    recorded.set_attribute("memorist.items", len(answer.items))
    recorded.set_attribute("memorist.abstained", answer.abstained)
    at = time_ns() - _nanoseconds(answer.trace.total_ms)
    stage: Span | None = None
    began = at
    for step in answer.trace.steps:
        if step.signal is not None:  # it ran while its stage did
            _record(step, began, stage)
        else:
            began, at = at, at + _nanoseconds(step.ms)
            stage = _record(step, began)


def _record(step: Step, began: int, inside: Span | None = None) -> Span:
    counts = {"memorist.before": step.before, "memorist.after": step.after, "memorist.skipped": bool(step.skipped)}
    return past_span(f"memorist.recall.{step.stage}", began, began + _nanoseconds(step.ms), counts, inside)


def _nanoseconds(milliseconds: float) -> int:
    return round(milliseconds * 1_000_000)

"""What the engine tells about its work: notices to one hook, and spans of OpenTelemetry for programs that trace.

Notices hold the texts of memories only if texts are enabled. Spans never do, nor a name, a key, or the message of an
error. Only the API of OpenTelemetry is used, and only if the program has imported it: until then, a span costs one look
at the loaded modules.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, Tracer

NoticeKind = Literal[
    "commit", "extraction_failed", "work_failed", "unembedded", "decay", "recall", "settings_ignored", "space_loaded"
]
logger = logging.getLogger("memorist")


@dataclass(frozen=True, slots=True)
class Notice:
    """An internal event: the ids it is about, counts by name, and the error if it failed.

    `texts` holds texts of memories or queries; it is empty unless texts were enabled.
    """

    kind: NoticeKind
    at: datetime
    subjects: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    error: str | None = None
    texts: tuple[str, ...] = ()


Hook = Callable[[Notice], object]


def log(notice: Notice) -> None:
    """Write a notice to the logger `memorist`: failures as warnings, everything else as information."""
    level = logging.INFO if notice.error is None else logging.WARNING
    if logger.isEnabledFor(level):
        counts = " ".join(f"{name}={count}" for name, count in notice.counts.items())
        parts = [notice.kind, " ".join(notice.subjects), counts, *map(repr, notice.texts), notice.error]
        logger.log(level, "%s", _on_one_line(" · ".join(part for part in parts if part)))


def _on_one_line(text: str) -> str:
    """A text with line breaks and control characters escaped, so that no name can forge a line of the log."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


@dataclass(frozen=True, slots=True)
class Notices:
    """Passes notices to a hook; an error in the hook goes no further.

    Texts are passed only if enabled, and each through `clean`, which masks secrets.
    """

    hook: Hook = log
    texts: bool = False
    clean: Callable[[str], str] = str

    def tell(self, notice: Notice) -> None:
        """Call the hook; its errors are logged."""
        try:
            texts = tuple(self.clean(text) for text in notice.texts) if self.texts else ()
            self.hook(replace(notice, texts=texts))
        except Exception:
            logger.warning("the hook for notices failed on %r", notice.kind, exc_info=True)


Attributes = Mapping[str, str | int | float | bool]
API = "opentelemetry.trace"
_OFF = nullcontext(None)


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: SpanKind | None = None,
    headers: Mapping[str, str] | None = None,
) -> AbstractContextManager[Span | None]:
    """A span around a block, or None if nobody traces; `headers` are those of a request that may continue a trace."""
    return _OFF if API not in sys.modules else _running(name, attributes, kind, headers)


def inner_span(name: str, attributes: Attributes | None = None) -> AbstractContextManager[Span | None]:
    """A span around a block that is recorded only as a part of another one."""
    return _OFF if current_span() is None else _running(name, attributes)


def current_span() -> Span | None:
    """The span that is being recorded, if one is."""
    if API not in sys.modules:
        return None
    from opentelemetry import trace

    current = trace.get_current_span()
    return current if current.is_recording() else None


def past_span(
    name: str, began: int, ended: int, attributes: Attributes | None = None, inside: Span | None = None
) -> Span:
    """A span of something that is over, between two times in nanoseconds, inside another span or the current one."""
    from opentelemetry import trace

    context = None if inside is None else trace.set_span_in_context(inside)
    past = _tracer().start_span(name, context, attributes=attributes, start_time=began)
    past.end(ended)
    return past


@cache
def _tracer() -> Tracer:
    from opentelemetry import trace

    from memorist import __version__

    return trace.get_tracer("memorist", __version__)


@contextmanager
def _running(
    name: str,
    attributes: Attributes | None,
    kind: SpanKind | None = None,
    headers: Mapping[str, str] | None = None,
) -> Generator[Span | None]:
    from opentelemetry import propagate, trace

    context = None if headers is None else propagate.extract(headers)
    began = _tracer().start_span(name, context, kind or trace.SpanKind.INTERNAL, attributes)
    with trace.use_span(began, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield began if began.is_recording() else None
        except BaseException as error:  # its message may quote a memory
            began.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise

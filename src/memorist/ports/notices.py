"""Notices: one hook for internal events, by default without the texts of memories."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

NoticeKind = Literal["commit", "extraction_failed", "work_failed", "unembedded", "decay", "recall", "settings_ignored"]
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

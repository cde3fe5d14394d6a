"""Notices: one hook for what happens inside, without the text of memories."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

NoticeKind = Literal["commit", "extraction_failed", "work_failed", "unembedded", "decay", "recall"]
logger = logging.getLogger("memorist")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened: to which ids, how many of what, and how it failed, if it did.

    `texts` is what memories or queries said; it stays empty unless texts were asked for.
    """

    kind: NoticeKind
    at: datetime
    subjects: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    error: str | None = None
    texts: tuple[str, ...] = ()


Hook = Callable[[Notice], object]


def log(notice: Notice) -> None:
    """Write a notice to the logger `memorist`: a failure as a warning, anything else as information."""
    level = logging.INFO if notice.error is None else logging.WARNING
    if logger.isEnabledFor(level):
        counts = " ".join(f"{name}={count}" for name, count in notice.counts.items())
        parts = [notice.kind, " ".join(notice.subjects), counts, *map(repr, notice.texts), notice.error]
        logger.log(level, "%s", " · ".join(part for part in parts if part))


@dataclass(frozen=True, slots=True)
class Notices:
    """Passes notices on; texts only when asked, and no failure of the hook goes any further."""

    hook: Hook = log
    texts: bool = False

    def tell(self, notice: Notice) -> None:
        """Tell the hook; an error of its own is logged."""
        try:
            self.hook(notice if self.texts else replace(notice, texts=()))
        except Exception:
            logger.warning("the hook for notices failed on %r", notice.kind, exc_info=True)

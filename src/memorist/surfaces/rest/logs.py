"""One line of JSON for each request: what was asked of which space, never what was said."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from memorist.model import isoformat

logger = logging.getLogger("memorist.serve")
FIELDS = "fields"
"""The attribute of a record that holds what to write."""


class JsonLines(logging.Formatter):
    """Writes a record as JSON; of an exception its type and where it arose, not its words, which may quote a memory."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = isoformat(datetime.fromtimestamp(record.created, UTC))
        line: dict[str, Any] = {"time": at, "level": record.levelname.lower(), "message": record.getMessage()}
        line |= getattr(record, FIELDS, {})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _told(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up() -> None:
    """Write what this server and its libraries have to say to standard error, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("memorist", "uvicorn"):
        named = logging.getLogger(name)
        named.handlers = [handler]
        named.setLevel(logging.INFO)
        named.propagate = False


def note(message: str, **fields: Any) -> None:
    """Write a line."""
    logger.info(message, extra={FIELDS: fields})


def failure(message: str, error: BaseException, **fields: Any) -> None:
    """Write a line about an error nobody expected."""
    logger.error(message, exc_info=error, extra={FIELDS: fields})


def _told(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    return {"type": type(error).__name__, "trace": [f"{one.filename}:{one.lineno} {one.name}" for one in frames]}

"""Logs of the server: lines of JSON without the texts of memories."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from memorist.errors import Error
from memorist.model import isoformat
from memorist_server.rest.problems import is_private

logger = logging.getLogger("memorist.serve")
FIELDS = "fields"
"""The attribute of a log record that holds its fields."""


class JsonLines(logging.Formatter):
    """Writes a record as JSON. An exception's message is left out: it may quote a memory."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = isoformat(datetime.fromtimestamp(record.created, UTC))
        line: dict[str, Any] = {"time": at, "level": record.levelname.lower(), "message": record.getMessage()}
        line |= getattr(record, FIELDS, {})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = error_trace(record.exc_info[1])
        return json.dumps(line, default=str)


def set_up(level: int = logging.INFO) -> None:
    """Log the server and its libraries to standard error, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("memorist", "uvicorn", "opentelemetry"):
        named = logging.getLogger(name)
        named.handlers = [handler]
        named.setLevel(level)
        named.propagate = False


def note(message: str, **fields: Any) -> None:
    """Write a line."""
    logger.info(message, extra={FIELDS: fields})


def failure(message: str, error: BaseException, **fields: Any) -> None:
    """Write a line about an unexpected error."""
    logger.error(message, exc_info=error, extra={FIELDS: fields})


def log_private(error: Error, request_id: str) -> None:
    """Write what the answer to one of our errors leaves out."""
    if is_private(error):
        failure("request failed", error, request_id=request_id, problem=error.problem, remedy=error.remedy)


def error_trace(error: BaseException) -> dict[str, Any]:
    """An error's type and where it was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "type": type(error).__name__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }

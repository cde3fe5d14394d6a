"""Rows and texts: which of them can be read and stored, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from memorist.errors import UnreadableMemory
from memorist.ports import Job
from memorist.stores.index.entries import moment
from memorist.stores.rows import Row, Stored, read_memory, unreadable


def readable(rows: Iterable[Row], skipped: list[Exception] | None = None) -> Iterator[Row]:
    """The rows whose texts can be decoded; SQLite keeps any bytes as text."""
    each = iter(rows)
    while True:
        try:
            row = next(each)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            if skipped is not None:
                skipped.append(error)
        else:
            yield row


def readable_memories(rows: Iterable[Row], skipped: list[Exception]) -> Iterator[Stored]:
    """The memories of rows; an error for each damaged one goes to `skipped`."""
    for row in readable(rows, skipped):
        try:
            yield read_memory(row)
        except UnreadableMemory as error:
            skipped.append(error)


def entry_data(id: str, data: str) -> dict[str, Any]:
    """The data of an entry of the journal."""
    try:
        return json.loads(data)
    except ValueError as error:
        raise unreadable(f"Entry {id} of the journal is damaged") from error


def encodable(texts: Iterable[str]) -> list[str]:
    """The distinct texts that can be stored at all; no row has a text with lone surrogates."""
    return [text for text in dict.fromkeys(texts) if text.isascii() or encodes(text)]


def encodes(text: str) -> bool:
    """Whether a text can be stored at all."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def job_of(row: Row) -> Job:
    """The job of a row."""
    task, subject, due, attempts, error = row
    return Job(task, subject, moment(due), attempts, error)

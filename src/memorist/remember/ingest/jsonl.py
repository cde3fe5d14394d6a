"""JSON lines: one message, memory or conversation a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from memorist.errors import InvalidInput
from memorist.remember.ingest.decode import lines
from memorist.remember.ingest.draft import Found
from memorist.remember.ingest.model import Skipped
from memorist.remember.ingest.objects import Reader, unwrapped
from memorist.remember.ingest.values import parsed

BAD_LINE = "not JSON"


def jsonl_drafts(stream: IO[bytes], name: str, format: str | None = None) -> Iterator[Found]:
    """The drafts of every line; a line that cannot be read is skipped, and the next one read."""
    reader = Reader(format)
    for line in lines(stream, name):
        if not isinstance(line, tuple):
            yield line
            continue
        where, text = line
        try:
            document = parsed(text)
        except InvalidInput:
            yield Skipped(where, BAD_LINE)
            continue
        for value in unwrapped(document):
            yield from reader.drafts(value, where, unnamed=where)

"""Which format a file has: by what it holds, with its name as a hint only where that leaves a choice."""

from __future__ import annotations

import json
import re

from memorist.errors import InvalidInput
from memorist.remember.ingest.decode import encoding_of, refuse_binary, text_of

FORMATS = ("messages", "jsonl", "json", "markdown", "text", "chatgpt", "claude", "mem0")
ZIP = b"PK\x03\x04"
_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[{\"\]])")
_LINES = (".jsonl", ".ndjson")
_MARKDOWN = (".md", ".markdown", ".mdx", ".mkd")
_PROSE = (".txt", ".text", "")
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)


def check_format(format: str | None) -> None:
    """Refuse a format that no reader has."""
    if format is not None and format not in FORMATS:
        raise InvalidInput(f"format {format!r} is unknown", remedy=f"Choose one of {', '.join(FORMATS)}.")


def kind_of(head: bytes, name: str) -> str:
    """How to read a file that begins with these bytes: zip, jsonl, json, markdown or text."""
    if head.startswith(ZIP):
        return "zip"
    refuse_binary(head, name)
    text = text_of(_whole_characters(head), name)[0]
    suffix = suffix_of(name)
    if _JSON.match(text):
        return "jsonl" if suffix in _LINES or _has_json_lines(text) else "json"
    if suffix == ".json" or suffix in _LINES:
        return "json" if suffix == ".json" else "jsonl"
    if suffix in _MARKDOWN or (suffix in _PROSE and len(_HEADING.findall(text)) >= 2):
        return "markdown"
    return "text"


def suffix_of(name: str) -> str:
    """The ending of a file's name in lower case, with its dot; empty where it has none."""
    last = name.rsplit("/", 1)[-1]
    return f".{last.rsplit('.', 1)[-1].lower()}" if "." in last[1:] else ""


def _has_json_lines(text: str) -> bool:
    """Whether the first line is a whole document and another follows."""
    first, _, rest = text.strip().partition("\n")
    if not rest.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _whole_characters(head: bytes) -> bytes:
    """The bytes without a character cut off at their end."""
    if encoding_of(head).startswith("utf-8"):
        return head[: len(head) - next((n for n in (1, 2, 3) if head[-n : -n + 1 or None] >= b"\xc0"), 0)]
    return head[: len(head) // 4 * 4]

"""Invariants for any input: no error but InvalidInput, stable ids, positions without gaps."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from import_tests import exports
from memorist.errors import InvalidInput
from memorist.remember.ingest import Item, format_names, read
from tests.remember.ingest.helpers import NOW, memories, positions

NAMES = st.sampled_from(["a", "a.txt", "a.md", "a.json", "a.jsonl", "conversations.json", "a.zip"])
KEYS = st.sampled_from([
    "role", "content", "text", "speaker", "name", "at", "timestamp", "session", "position", "key",
    "kind", "importance", "metadata", "keywords", "type", "parts", "id", "message", "messages", "mapping",
    "current_node", "chat_messages", "sender", "memory", "user_id", "tool_calls", "results", "parent", "author",
    "content_type", "message_uuid", "attachments", "extracted_content", "created_at", "source", "scope", "categories",
    "fact_type", "original_text", "facts", "mentioned_at", "peer_id", "observer_id", "observed_id", "isLatest",
    "history", "createdAt", "nodes", "edges", "target", "relationship_name", "external_id", "properties",
])  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(["user", "assistant", "tool", "system", "2024-06-03", "Hi there.", "text", "tool_result", "a"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=25
)
MARKS = st.sampled_from(
    [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04", b"SQLite format 3\0", b"---\n", b"[", b"{"]
)
BYTES = st.builds(
    lambda mark, parts: mark + b"".join(parts),
    MARKS,
    st.lists(
        st.one_of(
            st.binary(max_size=20),
            st.sampled_from(
                [b"\n", b"\r\n", b"# A\n", b"```\n", b"Ann: hi\n", b"[2024-06-03] Bo: x\n", b"a: b\n", b"\0"]
            ),
            VALUES.map(lambda value: json.dumps(value).encode() + b"\n"),
            st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")),
        ),
        max_size=8,
    ),
)


def check(first: list[Item], second: list[Item]) -> None:
    """Two readings of the same thing agree, whatever the hour, and every session is counted from 0."""
    assert first == second
    kept = [(memory.id, memory.text) for memory in memories(first)]
    assert kept == [(memory.id, memory.text) for memory in memories(second, NOW + timedelta(days=9))]


def readings(name: str, data: bytes, format: str | None = None) -> list[Item]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        first = list(read(path, format=format))
        check(first, list(read(path, format=format)))
        return first


@given(NAMES, BYTES, st.sampled_from([None, *format_names()]))
def test_any_bytes_are_read_or_rejected(name: str, data: bytes, format: str | None) -> None:
    with contextlib.suppress(InvalidInput):
        readings(name, data, format)


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, "s"]))
def test_any_objects_are_read(values: list[Any], session: str | None) -> None:
    check(list(read(values, session=session)), list(read(values, session=session)))


@given(st.lists(st.dictionaries(KEYS.filter(lambda key: key != "position"), VALUES, max_size=6), max_size=6))
def test_positions_count_from_zero_in_each_session(values: list[dict[str, Any]]) -> None:
    found = list(read([_without_positions(value) for value in values], session="s"))
    for places in positions(found).values():
        counted = [place for place in places if place is not None]
        assert counted == list(range(len(counted)))


def _without_positions(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_positions(part) for key, part in value.items() if key != "position"}
    return [_without_positions(part) for part in value] if isinstance(value, list) else value


@given(st.binary(max_size=40), st.integers(0, 400), st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_a_zip_damaged_anywhere_is_read_or_rejected(noise: bytes, place: int, method: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("conversations.json", json.dumps(exports.claude()))
    data = packed.getvalue()
    place = min(place * len(data) // 400, len(data))
    with contextlib.suppress(InvalidInput):
        readings("a.zip", data[:place] + noise + data[place + len(noise) :])


@pytest.mark.slow
def test_reading_locomo_twice_gives_the_same_result(data: Path) -> None:
    first, second = (list(read(data / "eval/locomo/corpus.jsonl")) for _ in range(2))
    check(first, second)
    assert len({memory.id for memory in memories(first)}) == len(first) == 5882
    assert all(places == list(range(len(places))) for places in positions(first).values())


@pytest.mark.parametrize("export", [exports.chatgpt(), exports.claude(), exports.mem0()])
def test_an_export_with_any_value_anywhere_is_read(export: Any) -> None:
    for damaged in _damaged(export):
        check(list(read(damaged)), list(read(damaged)))


def _damaged(value: Any) -> list[Any]:
    """The value with each of its parts, one at a time, replaced by something it should not be."""
    if isinstance(value, dict):
        return [{**value, key: odd} for key, part in value.items() for odd in (*_ODD, *_damaged(part))]
    if isinstance(value, list):
        return [[*value[:n], odd, *value[n + 1 :]] for n, part in enumerate(value) for odd in (*_ODD, *_damaged(part))]
    return []


_ODD = (None, [[]], -1, {"a": {}})

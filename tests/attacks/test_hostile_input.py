"""Inputs that once got through: each is refused in our words, or answered as if it were ordinary."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memorist.errors import InvalidInput
from memorist.model.request import LONGEST_SESSION
from tests.attacks.fuzz_rest import Answer, Rest
from tests.attacks.fuzz_targets import fresh

HALF = "\ud800"
"""Half a surrogate pair: JSON can write it, and it is no character."""


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    server = Rest(tmp_path_factory.mktemp("rest"))
    yield server
    server.close()


def ask(rest: Rest, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    usual = {"host": "127.0.0.1", "content-type": "application/json", "authorization": f"Bearer {rest.high}"}
    sent = b"" if body is None else json.dumps(body).encode()
    return asyncio.run(rest.ask((method, f"/v1/spaces/agent{path}", "", usual | headers, sent)))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/recall", {"query": f"Who {HALF}?"}),
        ("/recall", {"query": "Who?", "situation": {HALF: [1]}}),
        ("/sessions/run/recall", {"query": HALF}),
        ("/memories", {"text": "Alice", "metadata": {"deep": [{"er": HALF}]}}),
    ],
)
def test_half_a_character_in_a_request_is_refused(rest: Rest, path: str, body: dict[str, Any]) -> None:
    status, headers, text = ask(rest, "POST", path, body)
    assert (status, headers["content-type"]) == (422, "application/problem+json")
    assert b"half a surrogate pair" in text


def test_a_recall_records_no_long_name_of_a_session_with_each_memory(rest: Rest) -> None:
    """A name of a megabyte was written once per memory shown, by a key that may only read."""
    longest = {"query": "Who?", "session": "s" * LONGEST_SESSION}
    assert ask(rest, "POST", "/recall", longest)[0] == 200
    status, _, text = ask(rest, "POST", "/recall", {**longest, "session": "s" * (LONGEST_SESSION + 1)})
    assert status == 422 and b"more than 1,000" in text


@pytest.mark.parametrize("path", ["/backup", "/export"])
@pytest.mark.parametrize("asked", ["-1", "bytes=0-9", "bytes=9-0", "lines=1-"])
def test_a_download_is_whole_whatever_range_is_asked_for(rest: Rest, path: str, asked: str) -> None:
    status, headers, data = ask(rest, "GET", path, range=asked)
    assert (status, int(headers["content-length"])) == (200, len(data))
    assert len(data) > 100


@pytest.mark.parametrize("url", [":memory:", "agent.db"])
def test_a_name_that_cannot_be_stored_is_refused(url: str, tmp_path: Path) -> None:
    with fresh(url if url == ":memory:" else str(tmp_path / url)) as engine:
        for use in (
            lambda: engine.journal(verb=HALF),
            lambda: engine.journal(subject=HALF),
            lambda: engine.forget(HALF),
        ):
            with pytest.raises(InvalidInput, match="half a surrogate pair"):
                use()


@pytest.mark.parametrize("name", [HALF, f"a{HALF}.md", "a\0b", "", "x" * 5000])
def test_a_path_that_no_file_has_is_refused(name: str, tmp_path: Path) -> None:
    with (
        fresh(":memory:") as engine,
        pytest.raises(InvalidInput, match="cannot be read|is not a regular file|half a|NUL"),
    ):
        engine.ingest(str(tmp_path / "folder" / "file" / name))


WRONG_LINES = [
    {"link": [{"a": 1}, "mentions", "x", 1.0]},
    {"link": ["x", None, "y", 1.0]},
    {"link": ["x", "mentions", "y", "heavy"]},
    {"link": ["x", "mentions", "y", 10**400]},
    {"entity": [{}, "Alice", None, []]},
    {"entity": ["x", 7, None, []]},
    {"entity": ["x", "Alice", None, [1]]},
    {"job": ["session", "run", 5, 0, None]},
    {"job": ["session", ["run"], "2024-07-01", 0, None]},
    {"job": ["session", "run", "2024-07-01", "often", None]},
    {"entry": {"id": "x", "at": "2024-07-01", "verb": "tidy", "subjects": [{}], "data": {}}},
    {"entry": {"id": "x", "at": "2024-07-01", "verb": "tidy", "subjects": [], "data": []}},
    {"shown": ["talk", {}, "2024-07-01"]},
    {"noise": {"hm": 1}},
    {"memory": {"id": "x", "text": "Alice"}, "vectors": "none"},
]


@pytest.mark.parametrize("line", WRONG_LINES, ids=lambda line: json.dumps(line)[:50])
def test_a_line_of_an_export_with_a_wrong_type_is_named(line: dict[str, Any]) -> None:
    with fresh(":memory:") as engine:
        file = io.BytesIO()
        engine.export(file)
        file.write(json.dumps(line).encode() + b"\n")
        number = file.getvalue().count(b"\n")
        with fresh(":memory:") as other, pytest.raises(InvalidInput, match=f"Line {number} of"):
            other.import_(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(
    "head",
    [{"space": 7}, {"embedding": "fake"}, {"embedding": {"generation": [], "dimension": 64}}, {"counts": {"a": "b"}}],
)
def test_a_header_of_an_export_with_a_wrong_type_is_refused(head: dict[str, Any]) -> None:
    with fresh(":memory:") as engine, pytest.raises(InvalidInput, match="Line 1 of"):
        engine.import_(io.BytesIO(json.dumps({"memorist": 1, "space": "a", **head}).encode()))


def test_a_recall_of_another_shape_is_refused() -> None:
    deep: Any = "x"
    for _ in range(2000):
        deep = [deep]
    with fresh(":memory:") as engine:
        kept = engine.remember("The barn is red.")
        for id in (deep, 5, None):
            shown = {"id": "r", "query": "Which colour?", "now": "2024-07-01", "items": [{"id": id}]}
            with pytest.raises(InvalidInput, match="Invalid recall"):
                engine.feedback(kept.id, "useful", recall=shown)

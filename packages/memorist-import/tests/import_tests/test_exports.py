"""The exports of ChatGPT, Claude and mem0, as files and inside zips."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from import_tests import exports
from memorist.errors import InvalidInput
from memorist.remember.ingest import detect
from memorist.remember.ingest.messages import IMAGE, LEFT, REASONING, SYSTEM, WORDLESS_CALL
from memorist_import.exports import NO_TEXT
from tests.remember.ingest.helpers import items, memories, pieces, positions, skipped, talk, written


def test_chatgpt_follows_the_current_branch(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", exports.chatgpt())
    found = items(path)
    assert detect(path) == "chatgpt"
    assert talk(found) == [
        ("user", "Where can I row in Oslo?"),
        ("tool", "Oslo Roklubb"),
        ("assistant", "At Oslo Roklubb."),
        ("user", "Thank you!"),
        ("user", "Round and round."),
    ]
    assert positions(found) == {"c-1": [0, 1, 2, 3], "c-2": [0]}
    reasons = [skip.reason for skip in skipped(found)]
    assert reasons == [SYSTEM, SYSTEM, IMAGE, REASONING, WORDLESS_CALL, LEFT, LEFT]


def test_chatgpt_turns_have_ids_times_and_titles(tmp_path: Path) -> None:
    first, tool, *_ = memories(items(written(tmp_path / "conversations.json", exports.chatgpt())))
    assert (first.origin.key, first.topic, first.origin.source) == ("chatgpt:c-1:q2", "Rowing", "conversations.json")
    assert first.times.valid_from == datetime(2024, 6, 3, 10, 1, 40, tzinfo=UTC)
    assert tool.metadata["tool"] == "browser"


def test_a_conversation_without_a_current_node_is_read_to_its_last_leaf(tmp_path: Path) -> None:
    (conversation, _) = exports.chatgpt()
    del conversation["current_node"]
    assert pieces(items(written(tmp_path / "one.json", conversation)))[-1].text == "Thank you!"


def test_a_later_export_adds_only_what_is_new(tmp_path: Path) -> None:
    export = exports.chatgpt()
    before = memories(items(written(tmp_path / "may.json", export)))
    export[0]["mapping"]["a3"] = {
        "id": "a3",
        "parent": "q3",
        "message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Welcome."]}},
    }
    export[0]["current_node"] = "a3"
    after = memories(items(written(tmp_path / "june.json", export)))
    assert {memory.text for memory in after if memory.id not in {known.id for known in before}} == {"Welcome."}
    assert {memory.id for memory in before} <= {memory.id for memory in after}


def test_claude_keeps_words_results_and_attachments(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", exports.claude())
    found = items(path)
    assert detect(path) == "claude"
    assert talk(found) == [
        ("user", "How long should sourdough rest?"),
        ("user", "500 g flour, 350 g water"),
        ("tool", "12 h"),
        ("assistant", "About twelve hours."),
        ("user", "Hello."),
    ]
    assert positions(found) == {"u-1": [0, 1, 2, 3], "u-2": [0]}
    assert [skip.reason for skip in skipped(found)] == [NO_TEXT]
    keys = [memory.origin.key for memory in memories(found)]
    assert keys == ["claude:u-1:m-1", "claude:u-1:m-1:2", "claude:u-1:m-2", "claude:u-1:m-2:2", "claude:u-2:m-3"]
    assert [memory.topic for memory in memories(found)][3:] == ["Bread", None]


def test_claude_skips_other_branches_if_the_export_names_the_current_one(tmp_path: Path) -> None:
    export = exports.claude()[:1]
    export[0]["chat_messages"][1]["parent_message_uuid"] = "m-0"
    export[0]["current_leaf_message_uuid"] = "m-2"
    found = items(written(tmp_path / "conversations.json", export))
    assert talk(found) == [("tool", "12 h"), ("assistant", "About twelve hours.")]
    assert skipped(found)[0].reason == LEFT


def test_mem0_memories_keep_scope_id_and_the_time_of_their_update(tmp_path: Path) -> None:
    path = written(tmp_path / "mem0.json", exports.mem0())
    found = items(path)
    alps, oslo, norwegian = memories(found)
    assert detect(path) == "mem0"
    assert (alps.scope, alps.kind, alps.keywords, alps.origin.key) == (
        "user:alice",
        "semantic",
        ("hobbies",),
        "mem0:m0-1",
    )
    assert alps.metadata == {"type": "preference", "hash": "9f86d081"}
    assert alps.times.valid_from == datetime(2024, 6, 3, 9, 11, 25, 163154, tzinfo=UTC)
    assert (oslo.times.valid_from.year, oslo.origin.session) == (2024, "r-9")
    assert oslo.metadata == {"hash": "60303ae2", "agent_id": "planner", "created_at": "2023-01-01T00:00:00Z"}
    assert norwegian.scope == "agent:planner"
    assert len(skipped(found)) == 2


def test_a_conversation_with_a_memory_is_a_conversation() -> None:
    found = items([{"memory": "Likes hiking.", "messages": [{"role": "user", "content": "Hi."}]}])
    assert talk(found) == [("user", "Hi.")]


@pytest.mark.parametrize(("format", "export"), [("chatgpt", exports.chatgpt()), ("claude", exports.claude())])
def test_the_same_export_in_a_zip_gives_the_same_memories(tmp_path: Path, format: str, export: Any) -> None:
    plain = written(tmp_path / "conversations.json", export)
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/conversations.json", json.dumps(export))
        archive.writestr("user.json", "{}")
    assert detect(packed) == "zip"
    found = items(packed, format=format)
    assert [memory.id for memory in memories(found)] == [memory.id for memory in memories(items(plain))]
    assert pieces(found)[0].fields.get("source") == "export.zip"
    assert skipped(found)[-1].where == "export.zip/user.json"


def test_a_zip_without_conversations_is_rejected(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "report.docx", "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    with pytest.raises(InvalidInput, match=r"report\.docx contains no conversations\.json"):
        items(tmp_path / "report.docx")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memorist_import import archives as inside

    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations-001.json", b" " * 5_000)
        archive.writestr("conversations-002.json", json.dumps(exports.claude()))
    monkeypatch.setattr(inside, "MOST_MEMBER", 4_000)
    found = items(tmp_path / "bomb.zip")
    assert (len(pieces(found)), skipped(found)[0].where) == (5, "bomb.zip/conversations-001.json")
    monkeypatch.setattr(inside, "MOST_TOTAL", 6_000)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        items(tmp_path / "bomb.zip")


def test_a_damaged_zip_is_rejected_or_skipped(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(exports.claude()))
    data = (tmp_path / "a.zip").read_bytes()
    with pytest.raises(InvalidInput, match="not a readable zip file"):
        items(written(tmp_path / "cut.zip", data[:200]))
    found = items(written(tmp_path / "bad.zip", data[:60] + b"\xff" * 20 + data[80:]))
    assert [skip.reason for skip in skipped(found)] == ["damaged, encrypted or in an unknown format"]


def test_only_the_requested_format_is_read(tmp_path: Path) -> None:
    found = items(written(tmp_path / "c.json", exports.claude()), format="chatgpt")
    assert {skip.reason for skip in skipped(found)} == {"not in the format chatgpt"}
    assert pieces(found) == []

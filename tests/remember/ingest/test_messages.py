"""Chat messages in the formats of OpenAI and Anthropic, and memories, passed as Python objects."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memorist.errors import InvalidInput
from memorist.remember.ingest.messages import IMAGE, REASONING, SYSTEM, TOOL_CHARACTERS, WORDLESS_CALL
from memorist.remember.ingest.objects import UNKNOWN
from memorist.remember.ingest.values import moment
from tests.remember.ingest.helpers import cleaned, items, memories, pieces, positions, skipped, talk

OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a travel agent."},
    {"role": "user", "name": "Alice", "content": "Find me a flight to Stockholm.", "at": "2024-06-03T10:00:00Z"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "flights", "arguments": '{"to": "ARN"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "SK 863, 07:35 from Oslo"},
    {"role": "assistant", "content": "There is one at 07:35.", "timestamp": 1717408805},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Book it."},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ],
        "created_at": 1717408860000,
    },
]

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "What is the weather in Bergen?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I should look.", "signature": "x"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bergen"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "Rain, 9 °C"}]},
            {"type": "text", "text": "Well?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
]


def test_openai_messages_become_turns_with_speakers_and_times() -> None:
    found = items(OPENAI, session="trip")
    assert talk(found) == [
        ("Alice", "Find me a flight to Stockholm."),
        ("tool", "SK 863, 07:35 from Oslo"),
        ("assistant", "There is one at 07:35."),
        ("user", "Book it."),
    ]
    assert positions(found) == {"trip": [0, 1, 2, 3]}
    assert [memory.times.valid_from.isoformat() for memory in memories(found)][::2] == [
        "2024-06-03T10:00:00+00:00",
        "2024-06-03T10:00:05+00:00",
    ]
    assert [skip.reason for skip in skipped(found)] == [SYSTEM, WORDLESS_CALL, IMAGE]
    assert skipped(found)[0].where == "item 1"


def test_a_tool_result_names_its_tool_and_arguments() -> None:
    result = pieces(items(OPENAI))[1]
    assert result.fields.get("metadata") == {"tool": "flights", "arguments": '{"to": "ARN"}'}


def test_anthropic_blocks_become_turns_and_results_stand_alone() -> None:
    found = items(ANTHROPIC, session="weather")
    assert talk(found) == [
        ("user", "What is the weather in Bergen?"),
        ("assistant", "Let me look."),
        ("tool", "Rain, 9 °C"),
        ("user", "Well?"),
        ("assistant", "It rains."),
    ]
    assert pieces(found)[2].fields.get("metadata") == {"tool": "weather", "arguments": '{"city": "Bergen"}'}
    assert [skip.reason for skip in skipped(found)] == [REASONING, IMAGE]


def test_a_long_tool_result_is_cut_and_reported() -> None:
    found = items([{"role": "tool", "name": "grep", "content": "x" * 5_000}], session="s")
    (piece,) = pieces(found)
    assert len(piece.text) == TOOL_CHARACTERS
    assert piece.fields.get("metadata") == {"tool": "grep", "cut_from": 5_000}
    assert [note.reason for note in cleaned(found)] == ["tool result cut to 2,000 characters"]


def test_items_of_the_responses_api_are_read() -> None:
    found = items(
        [
            {"role": "user", "content": [{"type": "input_text", "text": "Time in Oslo?"}]},
            {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "14:02"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two past two."}]},
        ]
    )
    assert talk(found) == [("user", "Time in Oslo?"), ("tool", "14:02"), ("assistant", "Two past two.")]


def test_the_log_entry_around_a_message_gives_its_time_and_session() -> None:
    (memory,) = memories(
        items(
            [
                {
                    "type": "user",
                    "sessionId": "a1",
                    "timestamp": "2025-02-01T08:00:00.000Z",
                    "message": {"role": "user", "content": "Run the tests."},
                }
            ]
        )
    )
    assert (memory.origin.session, memory.origin.speaker) == ("a1", "user")
    assert memory.times.valid_from == datetime(2025, 2, 1, 8, tzinfo=UTC)


def test_transcribed_speech_and_refusals_are_text() -> None:
    found = items(
        [
            {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Good morning."}},
            {"role": "assistant", "content": None, "refusal": "I cannot do that."},
        ]
    )
    assert [piece.text for piece in pieces(found)] == ["Good morning.", "I cannot do that."]


def test_conversations_are_sessions_of_their_own() -> None:
    found = items([{"id": "a", "messages": OPENAI[:2]}, {"messages": [{"role": "user", "content": "Hi."}]}])
    assert positions(found) == {"a": [0], "talk#2": [0]}
    assert positions(items({"id": "a", "messages": OPENAI}, session="run")) == {"run/a": [0, 1, 2, 3]}


def test_messages_without_a_session_are_named_after_their_first_turn() -> None:
    short, longer = positions(items(OPENAI[:2])), positions(items(OPENAI))
    assert short.keys() == longer.keys()
    assert positions(items(ANTHROPIC)).keys() != longer.keys()


def test_a_memory_keeps_its_keywords_and_the_rest_becomes_metadata() -> None:
    (memory,) = memories(
        items(
            [
                {
                    "text": "Alice is allergic to nuts.",
                    "date": "2024-06-03",
                    "importance": 0.9,
                    "kind": "semantic",
                    "scope": "user:alice",
                    "keywords": ["health"],
                    "ward": 7,
                    "metadata": {"form": "B2"},
                }
            ]
        )
    )
    assert (memory.kind, memory.scope, memory.worth.importance) == ("semantic", "user:alice", 0.9)
    assert memory.metadata == {"form": "B2", "ward": 7}
    assert memory.times.valid_from == datetime(2024, 6, 3, tzinfo=UTC)
    assert (memory.origin.session, memory.origin.position) == (None, None)


def test_an_invalid_keyword_is_kept_as_metadata_and_reported() -> None:
    found = items([{"text": "Alice rows.", "importance": 7, "kind": "hobby", "trust": True, "position": "first"}])
    (memory,) = memories(found)
    assert memory.metadata == {"importance": 7, "kind": "hobby", "trust": True, "position": "first"}
    assert {note.reason.split()[0] for note in cleaned(found)} == {"importance", "kind", "trust", "position"}


def test_a_text_with_a_speaker_is_a_turn() -> None:
    given = [{"speaker": "Bo", "text": "Hi.", "session": "s1"}, {"speaker": "Ann", "text": "Hello.", "session": "s1"}]
    assert positions(items(given)) == {"s1": [0, 1]}
    assert talk(items(given)) == [("Bo", "Hi."), ("Ann", "Hello.")]


def test_speaker_and_time_may_be_in_the_metadata() -> None:
    said = {"session": "c/1", "speaker": "Ann", "at": "2023-05-08T13:56:00"}
    (memory,) = memories(items([{"_id": "c/D1:1", "title": "", "text": "Hey!", "metadata": said}]))
    assert (memory.origin.session, memory.origin.position, memory.origin.speaker) == ("c/1", 0, "Ann")
    assert memory.times.valid_from == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert memory.metadata == {**said, "_id": "c/D1:1"}


def test_unknown_objects_are_skipped_and_the_rest_is_read() -> None:
    found = items(
        [{"foo": 1}, None, {"role": "user", "content": ""}, "A text alone.", {"role": "user", "content": "x"}]
    )
    assert [skip.reason for skip in skipped(found)] == [UNKNOWN, UNKNOWN, "empty text"]
    assert [piece.text for piece in pieces(found)] == ["A text alone.", "x"]


def test_broken_characters_are_removed() -> None:
    found = items([{"text": "a\0b \ud800 c", "weight": float("inf")}])
    (memory,) = memories(found)
    assert (memory.text, memory.metadata) == ("ab \ufffd c", {"weight": None})
    assert len(cleaned(found)) == 1


def test_a_very_long_turn_is_split_at_sentence_ends() -> None:
    sentence = "The quick brown fox jumps over the lazy dog. "
    found = items([{"role": "user", "content": sentence * 800, "key": "k"}], session="s")
    parts = pieces(found)
    assert "".join(part.text + " " for part in parts) == sentence * 800
    assert all(part.text.endswith("dog.") and len(part.text) <= 16_000 for part in parts)
    assert [part.fields.get("key") for part in parts] == ["k", "k#2", "k#3"]
    assert positions(found) == {"s": [0, 1, 2]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-06-03T10:00:00+02:00", "2024-06-03T08:00:00"),
        ("2024-06-03 10:00:00 UTC", "2024-06-03T10:00:00"),
        ("Mon, 03 Jun 2024 10:00:00 +0000", "2024-06-03T10:00:00"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00"),
        (1717408800, "2024-06-03T10:00:00"),
        (1717408800.5, "2024-06-03T10:00:00.500000"),
        (1717408800000, "2024-06-03T10:00:00"),
        ("1717408800000000", "2024-06-03T10:00:00"),
        ("20240603", "2024-06-03T00:00:00"),
    ],
)
def test_times_in_many_formats(value: object, expected: str) -> None:
    assert moment(value) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "value", ["yesterday", "soon", "3/6/24", 7, True, None, "", [], float("nan"), 1e300, -5, "9" * 99]
)
def test_ambiguous_times_are_none(value: object) -> None:
    assert moment(value) is None


def test_unsupported_types_are_rejected() -> None:
    with pytest.raises(InvalidInput, match="Pass a path"):
        items(5)
    with pytest.raises(InvalidInput, match="Choose one of messages"):
        items([], format="word")
    with pytest.raises(InvalidInput, match="session is empty"):
        items([], session=" ")

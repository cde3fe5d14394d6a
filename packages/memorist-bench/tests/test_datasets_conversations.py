from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.errors import InvalidInput
from memorist.model import Memory, Origin, Times
from memorist.upkeep.feedback import JudgedRecall
from memorist_bench.datasets import from_space, load


def locomo() -> list[dict[str, Any]]:
    """A conversation as the published file writes it, with the slips that are in it."""
    return [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ann",
                "speaker_b": "Ben",
                "session_2_date_time": "12:05 am on 9 May, 2023",
                "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I moved to Rome."}],
                "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "So long!"}],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi!"},
                    {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a photo of a dog"},
                ],
                "session_11_date_time": "1:56 pm on 8 June, 2023",
            },
            "qa": [
                {"question": "Where does Ben live?", "answer": "Rome", "evidence": ["D2:1"], "category": 4},
                {"question": "Is Ben a cat person?", "answer": "no", "evidence": [], "category": 3},
                {"question": "When was it?", "answer": 2023, "evidence": ["D1:1; D:2:1", "D"], "category": 2},
                {"question": "Who?", "answer": "Ann", "evidence": ["D1:02 D9:9", "D10:1"], "category": 1},
                {"question": "Did Ann move?", "adversarial_answer": "Rome", "evidence": ["D2:1"], "category": 5},
                {"question": "Nowhere?", "answer": "no", "evidence": ["D4:36"], "category": 1},
            ],
        }
    ]


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def test_locomos_turns_come_by_session_with_speaker_image_and_time(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "locomo10.json", locomo()))
    (group,) = dataset.groups
    assert (dataset.name, group.name) == ("locomo10", "conv-1")
    assert [(document.id, document.text) for document in group.documents] == [
        ("conv-1/D1:1", "Ann: Hi!"),
        ("conv-1/D1:2", "Ben: Look! [shared image: a photo of a dog]"),
        ("conv-1/D2:1", "Ben: I moved to Rome."),
        ("conv-1/D10:1", "Ann: So long!"),
    ]
    second = group.documents[2]
    assert (second.speaker, second.session) == ("Ben", "conv-1/session_2")
    assert second.at == datetime(2023, 5, 9, 0, 5, tzinfo=UTC)
    assert group.documents[3].at is None


def test_locomos_evidence_is_read_through_its_slips(tmp_path: Path) -> None:
    questions = load(write(tmp_path / "locomo10.json", locomo())).groups[0].questions
    assert {question.id: (question.type, set(question.gold)) for question in questions} == {
        "conv-1/q0": ("single-hop", {"conv-1/D2:1"}),
        "conv-1/q2": ("temporal", {"conv-1/D1:1", "conv-1/D2:1"}),
        "conv-1/q3": ("multi-hop", {"conv-1/D1:2", "conv-1/D10:1"}),
        "conv-1/q4": ("adversarial", {"conv-1/D2:1"}),
    }
    assert [question.answerable for question in questions] == [True, True, True, False]


def test_a_files_checksum_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "locomo10.json", locomo())
    assert load(path).checksum == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_is_wrong_with_a_locomo_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json"
    records = locomo()
    records[0]["conversation"]["session_1_date_time"] = "yesterday"
    with pytest.raises(InvalidInput, match=r"locomo10\.json\[0\], conversation: 'yesterday' is not a time"):
        load(write(path, records))
    records = locomo()
    del records[0]["conversation"]["session_1"][1]["text"]
    with pytest.raises(InvalidInput, match=r"session_1\[1\]: 'text' is missing"):
        load(write(path, records))
    records = locomo()
    records[0]["conversation"]["session_1"][1]["dia_id"] = "D1:1"
    with pytest.raises(InvalidInput, match=r"duplicate turn 'conv-1/D1:1'"):
        load(write(path, records))
    records = locomo()
    records[0]["qa"][2]["category"] = 6
    with pytest.raises(InvalidInput, match=r"qa\[2\]: unknown category 6"):
        load(write(path, records))
    path.write_text('[\n{"qa": [],\n"conversation" {}}]')
    with pytest.raises(InvalidInput, match=r"locomo10\.json, line 3: this is not JSON"):
        load(path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    for content in ([], {}, [{"question": "?"}], "text"):
        with pytest.raises(InvalidInput, match=r"other\.json"):
            load(write(tmp_path / "other.json", content))


def longmemeval() -> list[dict[str, Any]]:
    question = {
        "question_id": "e47b",
        "question_type": "single-session-user",
        "question": "Where did I move?",
        "answer": "Rome",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/25 (Thu) 20:21", "2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["answer_1", "sharegpt_2"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I moved to Rome.", "has_answer": True},
                {"role": "assistant", "content": "Splendid!", "has_answer": False},
            ],
            [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}],
        ],
        "answer_session_ids": ["answer_1"],
    }
    unmarked = [[{"role": "user", "content": "Hello."}]]
    short = {"haystack_dates": ["2023/05/25 (Thu) 20:21"], "haystack_session_ids": ["s"]}
    return [
        question,
        {**question, "question_id": "e47b_abs"},
        {**question, "question_id": "bare", **short, "haystack_sessions": unmarked},
    ]


def test_longmemevals_sessions_are_told_in_the_order_of_their_dates(tmp_path: Path) -> None:
    group = load(write(tmp_path / "longmemeval_s.json", longmemeval())).groups[0]
    assert [(document.id, document.session, document.text) for document in group.documents] == [
        ("e47b/2:1", "sharegpt_2", "Hello."),
        ("e47b/2:2", "sharegpt_2", "Hi."),
        ("e47b/1:1", "answer_1", "I moved to Rome."),
        ("e47b/1:2", "answer_1", "Splendid!"),
    ]
    assert group.documents[0].at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert group.documents[0].speaker == "user"


def test_longmemevals_gold_is_the_marked_turn_and_abstention_is_left_out(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "longmemeval_s.json", longmemeval()))
    assert [group.name for group in dataset.groups] == ["e47b", "bare"]
    (question,) = dataset.groups[0].questions
    assert question.gold == {"e47b/1:1": 1}
    assert (question.type, question.at) == ("single-session-user", datetime(2023, 5, 30, 23, 40, tzinfo=UTC))
    assert dataset.groups[1].questions == ()


def test_what_is_wrong_with_a_longmemeval_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_s.json"
    records = longmemeval()
    records[0]["haystack_dates"] = ["2023/05/25 (Thu) 20:21"]
    with pytest.raises(InvalidInput, match=r"longmemeval_s\.json\[0\]: the numbers of dates"):
        load(write(path, records))
    records = longmemeval()
    records[2]["haystack_dates"] = ["May"]
    with pytest.raises(InvalidInput, match=r"longmemeval_s\.json\[2\]: 'May' is not a time"):
        load(write(path, records))
    with pytest.raises(InvalidInput, match="no question has a judged document"):
        load(write(path, longmemeval()[1:]))


def memory(id: str, text: str, day: int, **origin: Any) -> Memory:
    at = datetime(2024, 1, day, tzinfo=UTC)
    return Memory(id, text, Times(at, at), origin=Origin(**origin))


def test_a_users_own_memories_are_judged_by_what_was_useful() -> None:
    memories = [memory("b", "I moved to Rome.", 2), memory("a", "I live in Paris.", 1, session="s", speaker="me")]
    asked = datetime(2024, 1, 3, tzinfo=UTC)
    recalls = [
        JudgedRecall("Where do I live?", asked, ("b",), frozenset({"b", "forgotten"}), frozenset()),
        JudgedRecall("What was that?", asked, (), frozenset({"forgotten"}), frozenset()),
    ]
    dataset = from_space("mine", memories, recalls)
    (group,) = dataset.groups
    assert [(document.id, document.session, document.speaker) for document in group.documents] == [
        ("a", "s", "me"),
        ("b", None, None),
    ]
    assert [(question.id, question.text, question.gold, question.at) for question in group.questions] == [
        ("recall-1", "Where do I live?", {"b": 1.0}, asked)
    ]
    assert dataset.checksum == from_space("mine", reversed(memories), recalls).checksum
    assert dataset.checksum != from_space("mine", memories[:1], recalls).checksum


def test_memories_without_feedback_are_no_dataset() -> None:
    with pytest.raises(InvalidInput, match="mine: no question has a judged document"):
        from_space("mine", [memory("a", "I live in Paris.", 1)], [])


def test_a_space_with_feedback_is_a_dataset(tmp_path: Path) -> None:
    file = tmp_path / "mine.db"
    with memorist.open(file, embedder="none") as memory:
        kept = memory.remember("Alice lives in Oslo.", at="2024-01-01")
        memory.remember("The kettle is broken.", at="2024-01-02")
        with pytest.raises(InvalidInput, match="no feedback"):
            load(file)
        memory.feedback(kept.id, "useful", memory.recall("Where does Alice live?"))
    [group] = load(file).groups
    assert [document.text for document in group.documents] == ["Alice lives in Oslo.", "The kettle is broken."]
    assert [(question.text, dict(question.gold)) for question in group.questions] == [
        ("Where does Alice live?", {kept.id: 1.0})
    ]

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorist.errors import InvalidInput
from memorist_bench.datasets import load

Row = dict[str, Any]
DOCUMENTS: list[Row] = [
    {"_id": "d1", "title": "Tea", "text": "Alice drinks tea.", "metadata": {}},
    {"_id": "d2", "title": "", "text": "Bob drinks coffee."},
    {"_id": "d3", "text": "Carol drinks water.", "metadata": None},
]
QUERIES: list[Row] = [
    {"_id": "q1", "text": "Who drinks tea?", "metadata": {"type": "fact", "at": "2024-06-03"}},
    {"_id": "q2", "text": "Who drinks wine?", "metadata": {"type": "adversarial"}},
    {"_id": "q3", "text": "Who drinks?"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq1\td3\t0\nq2\td3\t1\n"


def json_lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write(
    folder: Path, *, documents: Sequence[object] = DOCUMENTS, queries: Sequence[object] = QUERIES, qrels: str = QRELS
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text(json_lines(documents), encoding="utf-8")
    (folder / "queries.jsonl").write_text(json_lines(queries), encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_a_plain_folder_is_one_group_in_file_order(tmp_path: Path) -> None:
    dataset = load(write(tmp_path / "drinks"))
    (group,) = dataset.groups
    assert (dataset.name, group.name, dataset.path) == ("drinks", "all", tmp_path / "drinks")
    assert [document.id for document in group.documents] == ["d1", "d2", "d3"]
    assert [document.text for document in group.documents] == [
        "Tea Alice drinks tea.",
        "Bob drinks coffee.",
        "Carol drinks water.",
    ]


def test_questions_carry_their_grades_type_and_time_and_unjudged_ones_are_left_out(tmp_path: Path) -> None:
    first, second = load(write(tmp_path)).groups[0].questions
    assert first.gold == {"d1": 2, "d2": 1}
    assert (first.type, first.at, first.answerable) == ("fact", datetime(2024, 6, 3, tzinfo=UTC), True)
    assert (second.id, second.answerable) == ("q2", False)


def test_a_query_may_say_itself_that_it_has_no_answer(tmp_path: Path) -> None:
    queries = [{"_id": "q1", "text": "Who?", "metadata": {"answerable": False}}]
    dataset = load(write(tmp_path, queries=queries, qrels="q1\td1\t1\n"))
    assert not dataset.groups[0].questions[0].answerable


def test_groups_are_spaces_of_their_own(tmp_path: Path) -> None:
    turns = [
        {"_id": f"{talk}/{turn}", "text": "Ann: Hi!", "metadata": {"group": talk, "speaker": "Ann", "session": "s"}}
        for turn in (1, 2)
        for talk in ("two", "one")
    ]
    turns[0]["metadata"]["at"] = "2023-05-08T13:56:00"
    queries = [{"_id": talk, "text": "Hi?", "metadata": {"group": talk}} for talk in ("one", "two")]
    dataset = load(write(tmp_path, documents=turns, queries=queries, qrels="one\tone/2\t1\ntwo\ttwo/1\t1"))
    assert [group.name for group in dataset.groups] == ["two", "one"]
    assert [document.id for document in dataset.groups[0].documents] == ["two/1", "two/2"]
    assert [question.id for group in dataset.groups for question in group.questions] == ["two", "one"]
    document = dataset.groups[0].documents[0]
    assert (document.text, document.speaker, document.session) == ("Ann: Hi!", "Ann", "s")
    assert document.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert dataset.groups[0].documents[1].at is None


def test_the_header_of_the_judgements_is_optional_and_line_ends_may_be_windows(tmp_path: Path) -> None:
    plain = load(write(tmp_path, qrels="q1\td1\t1\r\n\r\nq2\td2\t0.5\r\n"))
    assert [question.gold for question in plain.groups[0].questions] == [{"d1": 1}, {"d2": 0.5}]


def test_of_several_splits_the_test_split_is_used(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "qrels.tsv").unlink()
    (folder / "qrels").mkdir()
    (folder / "qrels" / "dev.tsv").write_text("q1\td1\t1\n")
    assert load(folder).groups[0].questions[0].id == "q1"
    (folder / "qrels" / "train.tsv").write_text("q2\td1\t1\n")
    with pytest.raises(InvalidInput, match="several files.*dev.tsv, train.tsv"):
        load(folder)
    (folder / "qrels" / "test.tsv").write_text("q3\td1\t1\n")
    assert load(folder).groups[0].questions[0].id == "q3"
    assert load(folder, qrels="qrels/train.tsv").groups[0].questions[0].id == "q2"


def test_the_checksum_is_that_of_the_files_one_after_the_other(tmp_path: Path) -> None:
    folder = write(tmp_path)
    content = b"".join((folder / name).read_bytes() for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"))
    assert load(folder).checksum == hashlib.sha256(content).hexdigest()
    assert load(write(tmp_path, qrels=QRELS + "q3\td1\t1\n")).checksum != hashlib.sha256(content).hexdigest()


def replaced(rows: Sequence[Row], place: int, **changes: object) -> list[Row]:
    return [{**row, **changes} if number == place else row for number, row in enumerate(rows)]


def without(rows: Sequence[Row], place: int, name: str) -> list[Row]:
    return [{k: v for k, v in row.items() if number != place or k != name} for number, row in enumerate(rows)]


BROKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "document id twice": (
        lambda path: write(path, documents=[*DOCUMENTS, DOCUMENTS[0]]),
        r"corpus\.jsonl, line 4: duplicate _id 'd1'",
    ),
    "query id twice": (
        lambda path: write(path, queries=[*QUERIES, QUERIES[1]]),
        r"queries\.jsonl, line 4: duplicate _id 'q2'",
    ),
    "no _id": (
        lambda path: write(path, documents=without(DOCUMENTS, 1, "_id")),
        r"corpus\.jsonl, line 2: '_id' is missing",
    ),
    "no text": (
        lambda path: write(path, documents=without(DOCUMENTS, 1, "text")),
        r"corpus\.jsonl, line 2: 'text' is missing",
    ),
    "no text under a title": (
        lambda path: write(path, documents=without(DOCUMENTS, 0, "text")),
        r"corpus\.jsonl, line 1: 'text' is missing",
    ),
    "blank query": (
        lambda path: write(path, queries=replaced(QUERIES, 2, text=" ")),
        r"queries\.jsonl, line 3: 'text' is missing",
    ),
    "number for an id": (
        lambda path: write(path, documents=replaced(DOCUMENTS, 0, _id=1)),
        r"corpus\.jsonl, line 1: '_id' is missing or is not a text",
    ),
    "time that is none": (
        lambda path: write(path, documents=replaced(DOCUMENTS, 2, metadata={"at": "last May"})),
        r"corpus\.jsonl, line 3, metadata: 'last May' is not a time",
    ),
    "metadata that is none": (
        lambda path: write(path, documents=replaced(DOCUMENTS, 2, metadata=["a"])),
        r"corpus\.jsonl, line 3, metadata: this is not a JSON object",
    ),
    "list for a document": (
        lambda path: write(path, documents=[*DOCUMENTS, ["d4"]]),
        r"corpus\.jsonl, line 4: this is not a JSON object",
    ),
    "unknown query": (lambda path: write(path, qrels="q1\td1\t1\nq9\td1\t1\n"), r"qrels\.tsv, line 2: .*no query 'q9'"),
    "unknown document": (
        lambda path: write(path, qrels=QRELS + "q1\td9\t1\n"),
        r"qrels\.tsv, line 6: .*no document 'd9'",
    ),
    "score that is none": (
        lambda path: write(path, qrels="q1\td1\tyes\n"),
        r"qrels\.tsv, line 1: the score 'yes' is not a number",
    ),
    "endless score": (lambda path: write(path, qrels="q1\td1\tinf\n"), r"the score 'inf' is not a number"),
    "too few cells": (lambda path: write(path, qrels="q1 d1 1\n"), r"qrels\.tsv, line 1: .*three cells"),
    "judged twice": (
        lambda path: write(path, qrels="q1\td1\t1\nq1\td1\t1\nq1\td1\t2\n"),
        r"qrels\.tsv, line 3: conflicting judgements",
    ),
    "gold of another group": (
        lambda path: write(path, documents=replaced(DOCUMENTS, 0, metadata={"group": "home"})),
        r"qrels\.tsv, line 2: query 'q1' is in group 'all', document 'd1' in 'home'",
    ),
    "empty corpus": (lambda path: write(path, documents=[]), r"corpus\.jsonl: there are no documents"),
    "empty queries": (lambda path: write(path, queries=[]), r"queries\.jsonl: there are no queries"),
    "nothing judged": (lambda path: write(path, qrels="q1\td1\t0\n"), r"no question has a judged document"),
}


@pytest.mark.parametrize(("spoil", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_set_is_named_by_file_and_line(tmp_path: Path, spoil: Callable[[Path], Path], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(spoil(tmp_path / "set"))


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path)
    (folder / name).unlink()
    with pytest.raises(InvalidInput, match=name.replace(".", r"\.")):
        load(folder)


def test_bad_json_on_line_17_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, documents=[{"_id": f"d{number}", "text": "word"} for number in range(30)])
    lines = (folder / "corpus.jsonl").read_text().splitlines()
    lines[16] = lines[16][:-1]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl, line 17: this is not JSON"):
        load(folder)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path)
    with (folder / "queries.jsonl").open("ab") as file:
        file.write(b'{"_id": "q4", "text": "caf\xe9"}\n')
    with pytest.raises(InvalidInput, match=r"queries\.jsonl, line 4: this is not UTF-8"):
        load(folder)


def test_a_separator_of_lines_within_a_text_is_text(tmp_path: Path) -> None:
    text = "one\u2028two\x85three"
    dataset = load(write(tmp_path, documents=replaced(DOCUMENTS, 1, text=text)))
    assert dataset.groups[0].documents[1].text == text


@pytest.mark.parametrize(
    ("name", "groups", "documents", "questions"),
    [("locomo", 10, 5_882, 1_982), ("realtalk", 5, 3_309, 358), ("beam", 10, 2_432, 179), ("nfcorpus", 1, 3_633, 323)],
)
def test_the_sets_at_hand_load_whole(data: Path, name: str, groups: int, documents: int, questions: int) -> None:
    dataset = load(data / "eval" / name)
    assert len(dataset.groups) == groups
    assert sum(len(group.documents) for group in dataset.groups) == documents
    assert sum(len(group.questions) for group in dataset.groups) == questions


def test_locomo_in_our_layout_keeps_sessions_times_and_types(data: Path) -> None:
    dataset = load(data / "eval" / "locomo")
    first = dataset.groups[0].documents[0]
    assert first.text == "Caroline: Hey Mel! Good to see you! How have you been?"
    assert (first.speaker, first.session) == ("Caroline", "conv-26/session_1")
    assert first.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    unanswerable = [
        question.type for group in dataset.groups for question in group.questions if not question.answerable
    ]
    assert unanswerable == ["adversarial"] * 446
    audited = load(data / "eval" / "locomo", qrels="qrels-audited.tsv")
    assert audited.checksum != dataset.checksum

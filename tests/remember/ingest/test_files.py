"""Files of every kind and condition, folders, and the report."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memorist.errors import InvalidInput
from memorist.model import Outcome
from memorist.remember.ingest import (
    Cleaned,
    File,
    ImportTally,
    IngestReport,
    Piece,
    Skipped,
    decoding,
    detect,
    formats,
    sources,
)
from memorist.remember.ingest.decoding import NOT_UTF8, NUL
from memorist.remember.ingest.objects import BAD_LINE
from tests.remember.ingest.helpers import cleaned, items, memories, pieces, positions, skipped, talk, written

LINES = (
    '{"role": "user", "content": "Hi.", "at": "2024-06-03"}\n'
    "\n"
    '{"role": "assistant", "content": "Hello."\n'
    '{"text": "Alice rows.", "colour": "red"}\n'
    "[1, 2]\n"
    '{"messages": [{"role": "user", "content": "Another talk."}]}\n'
)


def test_every_good_line_of_jsonl_is_read(tmp_path: Path) -> None:
    found = items(written(tmp_path / "log.jsonl", LINES))
    assert [piece.text for piece in pieces(found)] == ["Hi.", "Alice rows.", "Another talk."]
    assert skipped(found)[0] == Skipped("log.jsonl:3", BAD_LINE)
    assert positions(found) == {"log.jsonl": [0], None: [None], "log.jsonl:6": [0]}
    assert memories(found)[1].metadata == {"colour": "red"}


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.txt", '{"role": "user", "content": "Hi."}\n{"role": "user", "content": "Ho."}\n', "jsonl"),
        ("a.jsonl", '{"role": "user", "content": "Hi."}', "jsonl"),
        ("a.log", [{"role": "user", "content": "Hi."}], "messages"),
        ("a.json", {"messages": [{"role": "user", "content": "Hi."}]}, "messages"),
        ("a.json", [{"text": "Hi."}], "json"),
        ("a.json", ["Hi."], "json"),
        ("a.txt", "# One\n\nHi.\n\n# Two\n\nHo.\n", "markdown"),
        ("a.md", "Hi.", "markdown"),
        ("a.txt", "[2024-06-03] Alice: Hi.\n[2024-06-03] Bo: Ho.", "text"),
        ("a.txt", '["quoted"] is how it begins.', "text"),
        ("a.sh", "#!/bin/sh\n# one\n# two\n", "text"),
        ("a", b"", "text"),
    ],
)
def test_the_format_is_detected_from_the_content(tmp_path: Path, name: str, content: object, format: str) -> None:
    assert detect(written(tmp_path / name, content)) == format


def test_an_explicit_format_overrides_detection(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "# One\n\nHi.\n\n# Two\n\nHo.\n")
    assert len(pieces(items(path, format="text"))) == 1
    assert len(pieces(items(path, format="markdown"))) == 2
    with pytest.raises(InvalidInput, match=r"a\.txt is not JSON"):
        items(path, format="messages")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_are_detected_by_their_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    text = '{"role": "user", "content": "Grüße aus 東京"}\r\n{"role": "user", "content": "😀"}'
    found = items(written(tmp_path / "a.jsonl", text.encode(encoding)))
    assert [piece.text for piece in pieces(found)] == ["Grüße aus 東京", "😀"]
    found = items(written(tmp_path / "a.txt", "Grüße\r\naus 東京".encode(encoding)))
    assert [piece.text for piece in pieces(found)] == ["Grüße\naus 東京"]


def test_a_few_bad_bytes_are_replaced_and_reported(tmp_path: Path) -> None:
    found = items(written(tmp_path / "a.txt", b"A caf\xe9 in the old town,\nopen all\0 day."))
    assert [piece.text for piece in pieces(found)] == ["A caf\ufffd in the old town,\nopen all day."]
    assert cleaned(found) == [Cleaned("a.txt:1", NOT_UTF8), Cleaned("a.txt:2", NUL)]
    found = items(written(tmp_path / "a.jsonl", b'{"text": "A caf\xe9\0 in town"}\n{"text": "fine"}\n'))
    assert [piece.text for piece in pieces(found)] == ["A caf\ufffd in town", "fine"]
    assert cleaned(found) == [Cleaned("a.jsonl:1", NOT_UTF8), Cleaned("a.jsonl:1", NUL)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x1f\x8b\x08rest", "binary"),
        (bytes(range(256)) * 4, "binary"),
        ("Привет, как дела?".encode("cp1251"), "not UTF-8"),
        ('{"a": ' * 100_000, "not JSON"),
    ],
)
def test_unreadable_files_are_rejected_with_a_remedy(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        items(written(tmp_path / "a.json", content))


def test_a_missing_file_and_a_pipe_are_rejected_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no\.txt cannot be read: No such file"):
        sources(tmp_path / "no.txt")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        sources(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="cannot be read"):
        sources("nul\0byte")


def test_a_document_over_the_limit_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_WHOLE", 10)
    with pytest.raises(InvalidInput, match="write it as JSONL"):
        items(written(tmp_path / "a.json", [{"text": "too long"}]))


def test_an_endless_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LONGEST_LINE", 40)
    text = json.dumps({"text": "x" * 200}) + '\n{"text": "short"}\n'
    found = items(written(tmp_path / "a.jsonl", text))
    assert [piece.text for piece in pieces(found)] == ["short"]
    assert skipped(found)[0].where == "a.jsonl:1"


def test_jsonl_is_read_line_by_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"text": "one"}\n' * 2_000)
    (source,) = sources(path)
    assert isinstance(source, File)
    reading = source.items()
    assert next(reading) == Piece("one", {"source": "a.jsonl"})
    with path.open("a") as file:
        file.write('{"text": "written later"}\n')
    assert pieces(reading)[-1].text == "written later"


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    written(tmp_path / "b/talk.txt", "User: Hi.\nAssistant: Hello.\n")
    written(tmp_path / "a.md", "Alpha.")
    written(tmp_path / "c.png", b"\x89PNG\r\n\x1a\n")
    written(tmp_path / "d.json", "{broken")
    written(tmp_path / ".git/config", "x")
    (tmp_path / "e").symlink_to(tmp_path / "a.md")
    os.mkfifo(tmp_path / "f")
    written(tmp_path / "g.txt", "")
    found = items(tmp_path)
    assert [(piece.fields.get("source"), piece.text) for piece in pieces(found)] == [
        ("a.md", "Alpha."),
        ("b/talk.txt", "Hi."),
        ("b/talk.txt", "Hello."),
    ]
    assert positions(found) == {"a.md": [0], "b/talk.txt": [0, 1]}
    reasons = {skip.where: skip.reason.split(":")[0] for skip in skipped(found)}
    assert reasons == {
        ".git": "hidden",
        "c.png": "is a binary file, not text",
        "d.json": "is not JSON",
        "e": "symbolic link",
        "f": "not a regular file",
        "g.txt": "empty file",
    }


def test_a_session_given_for_a_folder_names_each_file_below_it(tmp_path: Path) -> None:
    written(tmp_path / "a.txt", "User: Hi.\nUser: Ho.\n")
    written(tmp_path / "b.json", [{"role": "user", "content": "Hi.", "session": "own"}])
    assert positions(items(tmp_path, session="s")) == {"s/a.txt": [0, 1], "s/b.json/own": [0]}
    assert positions(items(tmp_path / "a.txt", session="s")) == {"s": [0, 1]}


def test_no_absolute_path_is_kept(tmp_path: Path) -> None:
    written(tmp_path / "deep/a.txt", "User: Hi.\nUser: Ho.\n")
    assert str(tmp_path) not in repr(items(tmp_path)) + repr(items(tmp_path / "deep/a.txt"))


def test_odd_names_and_ids_can_be_printed(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    written(tmp_path / name, "")
    written(tmp_path / "b.json", {"mapping": {"\ud800\n": {"message": {"author": {"role": "system"}}}}})
    for skip in skipped(items(tmp_path)):
        assert skip.where.isprintable()
        assert skip.where.encode()
    assert pieces(items(written(tmp_path / name, "Words.")))[0].fields.get("source") == "caf\ufffd.txt"


def test_the_report_lists_the_first_hundred_and_counts_all() -> None:
    tally = ImportTally()
    for number in range(250):
        tally.add(Skipped(f"line {number}", "odd" if number % 2 else f"even {number}"))
    tally.add(Cleaned("line 1", NUL))
    tally.add(Piece("Hi.", {"session": "s"}))
    tally.add(Piece("Ho.", {"session": "s"}))
    report = tally.report({Outcome.KEPT: 1, Outcome.KNOWN: 1}, facts=2, files=3)
    assert len(report.skipped) == 100
    assert sum(report.skipped_by_reason.values()) == 250
    assert len(report.skipped_by_reason) == 101
    assert report.skipped_by_reason["odd"] == 125
    assert (report.kept, report.known, report.facts, report.files, report.sessions) == (1, 1, 2, 3, 1)
    assert report.cleaned_by_reason == {NUL: 1}
    assert IngestReport() == ImportTally().report({})


def test_messages_of_one_file_share_a_session_and_others_do_not(tmp_path: Path) -> None:
    path = written(tmp_path / "chat.json", [{"role": "user", "content": "Hi."}, {"role": "ai", "content": "Ho."}])
    assert talk(items(path)) == [("user", "Hi."), ("assistant", "Ho.")]
    assert positions(items(path)) == {"chat.json": [0, 1]}

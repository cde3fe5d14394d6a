"""Exports of Slack: people by the names they show, threads together, and no noise."""

from __future__ import annotations

import json
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from import_tests.products import slack, slack_folder, slack_zip
from memorist.errors import InvalidInput
from memorist.remember.ingest import Skipped, detect, sources
from memorist_import import archives
from memorist_import.bundles import UNSAFE
from memorist_import.slack import BOT, DELETED, EDIT, EVENT, NO_WORDS
from tests.remember.ingest.helpers import items, memories, pieces, positions, skipped, talk, written


def test_people_have_the_names_they_show_and_markup_is_readable(tmp_path: Path) -> None:
    found = items(slack_folder(tmp_path))
    assert talk(found) == [
        ("Bo Lund", "My birthday is on Sunday."),
        ("Annie", "@Bo Lund, is the boat at the weir (https://weir.example/a?b=1&c=2)?"),
        ("Bo Lund", "The oars are in #boats & the shed."),
        ("Bo Lund", "Yes, since noon."),
        ("Annie", "@here We meet at six."),
    ]
    birthday, question, oars, *_ = memories(found)
    assert question.times.valid_from == datetime(2024, 6, 3, 10, 1, 0, 200, tzinfo=UTC)
    assert (birthday.topic, question.topic) == ("Annie and Bo Lund", "#boats")
    assert (question.origin.source, question.origin.key) == ("slack/boats", "slack:U1:1717408860.000200")
    assert oars.metadata == {"edited_at": "2024-06-03T10:03:20+00:00"}
    assert {memory.worth.trust for memory in memories(found)} == {1}  # a colleague is not the owner


def test_a_thread_is_one_conversation_across_days(tmp_path: Path) -> None:
    assert positions(items(slack_folder(tmp_path))) == {
        "D1/2024-06-05": [0],
        "boats/1717408860.000200": [0, 1],
        "boats/2024-06-03": [0],
        "boats/2024-06-04": [0],
    }


def test_noise_edits_and_deletions_are_left_out_with_the_reason(tmp_path: Path) -> None:
    found = skipped(items(slack_folder(tmp_path)))
    assert [skip.reason for skip in found] == [EVENT, BOT, DELETED, NO_WORDS, EDIT, EDIT]


def test_folder_and_zip_are_the_same_export_whatever_their_names(tmp_path: Path) -> None:
    folder = slack_folder(tmp_path / "unpacked")
    (tmp_path / "link").symlink_to(folder)
    expected = items(folder)
    for export in (slack_zip(tmp_path / "a.zip"), slack_zip(tmp_path / "b.zip", "Acme export/"), tmp_path / "link"):
        assert items(export) == expected
    assert (detect(folder), detect(tmp_path / "a.zip")) == ("slack", "zip")
    (source,) = sources(folder)
    assert not isinstance(source, Skipped) and source.files == 3


def test_an_export_inside_a_folder_is_read_as_one(tmp_path: Path) -> None:
    slack_folder(tmp_path / "exports/acme")
    written(tmp_path / "notes.md", "Oars need varnish.")
    assert len(pieces(items(tmp_path))) == 6


def test_the_file_of_one_day_is_recognised_by_its_messages(tmp_path: Path) -> None:
    path = written(tmp_path / "2024-06-03.json", slack()["boats/2024-06-03.json"])
    assert detect(path) == "slack"
    assert talk(items(path))[0] == ("U1", "@U2, is the boat at the weir (https://weir.example/a?b=1&c=2)?")
    alone, whole = memories(items(path)), memories(items(slack_folder(tmp_path / "all")))
    assert not {memory.id for memory in alone} & {memory.id for memory in whole}  # the names are in users.json


def test_a_broken_day_is_skipped_and_named(tmp_path: Path) -> None:
    folder = slack_folder(tmp_path)
    written(folder / "boats/2024-06-03.json", "{broken")
    written(folder / "boats/notes.txt", "not messages")
    (tmp_path / "boats/2024-06-09.json").symlink_to(folder / "users.json")
    found = items(folder)
    assert [text for _, text in talk(found)] == [
        "My birthday is on Sunday.",
        "Yes, since noon.",
        "@here We meet at six.",
    ]
    reasons = {skip.where: skip.reason for skip in skipped(found)}
    assert reasons["boats/2024-06-03.json"].startswith("not JSON")
    assert reasons["boats/notes.txt"] == "not a file of messages"


def test_a_member_that_leads_out_of_the_archive_is_refused(tmp_path: Path) -> None:
    path = slack_zip(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as archive:
        for name in ("../boats/2024-06-06.json", "/etc/2024-06-06.json", "C:\\x/2024-06-06.json"):
            archive.writestr(name, json.dumps(slack()["D1/2024-06-05.json"]))
    found = items(path)
    assert [skip.reason for skip in skipped(found)].count(UNSAFE) == 3
    assert len(pieces(found)) == 5
    assert not (tmp_path / "boats").exists()


def test_a_zip_bomb_of_messages_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = slack_zip(tmp_path / "a.zip")
    monkeypatch.setattr(archives, "MOST_MEMBER", 400)
    assert {"unpacks to more than 0 MiB"} & {skip.reason for skip in skipped(items(path))}
    monkeypatch.setattr(archives, "MOST_TOTAL", 1_000)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        items(path)


def test_a_later_export_adds_what_is_new_and_replaces_what_was_edited(tmp_path: Path) -> None:
    before = memories(items(slack_folder(tmp_path / "june")))
    later = shutil.copytree(tmp_path / "june", tmp_path / "july")
    day = slack()["D1/2024-06-05.json"]
    day[0]["text"] = "My birthday is on Monday."
    written(later / "D1/2024-06-05.json", [*day, {**day[0], "ts": "1717581700.000100", "text": "Come along."}])
    after = memories(items(later))
    assert {memory.text for memory in after} - {memory.text for memory in before} == {
        "My birthday is on Monday.",
        "Come along.",
    }
    assert len({memory.id for memory in (*before, *after)}) == 6

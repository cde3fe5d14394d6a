"""SQLite files of other memories: read without being written or run, and refused with the reason."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from import_tests import originals
from memorist.errors import InvalidInput
from memorist.remember.ingest import detect
from memorist_import import databases
from tests.remember.ingest.helpers import cleaned, items, memories, skipped

MEMORIES = "CREATE TABLE extracted_memories (content_en, content_original, memory_type, created_at"
ROW = "INSERT INTO extracted_memories VALUES ('Rows at dawn.', '', 'fact', 1717408800000"


def made(path: Path, *statements: str) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


def refusal(path: Path, **options: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as refused:
        items(path, **options)
    return refused.value


def test_a_database_of_an_unknown_kind_is_refused_with_its_tables(tmp_path: Path) -> None:
    path = made(tmp_path / "notes.db", "CREATE TABLE notes (text)", "CREATE TABLE tags (name)")
    error = refusal(path)
    assert "unknown kind; its tables: notes, tags" in error.problem and "JSON" in error.remedy
    with pytest.raises(InvalidInput, match="unknown kind"):
        detect(path)
    (note,) = skipped(items(tmp_path))  # inside a folder it is named, and the rest is read
    assert "unknown kind" in note.reason


def test_a_format_that_is_not_the_databases_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", f"{MEMORIES})", f"{ROW})")
    assert "is a database of abmind, not json" in refusal(path, format="json").problem


@pytest.mark.parametrize("cut", [64, 100, 4_096, 6_000])
def test_a_damaged_database_is_refused(tmp_path: Path, cut: int) -> None:
    path = made(tmp_path / "a.db", f"{MEMORIES})", *[f"{ROW})"] * 200)
    path.write_bytes(path.read_bytes()[:cut])
    assert "damaged" in refusal(path).problem


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", f"{MEMORIES})", f"{ROW})", "CREATE TABLE caf\u00e9 (text)")
    broken = path.read_bytes().replace("caf\u00e9".encode(), b"caf\xff\xff").replace(b"TABLE caf", b"TABLI caf")
    path.write_bytes(broken)  # what SQLite says about it quotes the name
    assert "damaged" in refusal(path).problem


def test_a_database_in_use_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"{MEMORIES})")
        connection.commit()
        error = refusal(path)
    assert "a.db-wal has changes" in error.problem and ".backup" in error.remedy
    made(path, f"{ROW})")
    assert [memory.text for memory in memories(items(path))] == ["Rows at dawn."]


def test_a_view_in_the_place_of_a_table_is_never_run(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    columns = "'' content_en, '' content_original, '' memory_type, i created_at"
    path = made(tmp_path / "a.db", f"CREATE VIEW extracted_memories AS SELECT {columns} FROM ({endless})")
    assert "unknown kind" in refusal(path).problem


def test_triggers_computed_columns_and_odd_tables_change_nothing(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.db",
        f"{MEMORIES}, boom AS (zeroblob(900000000)))",
        'CREATE TABLE "odd "" name; DROP TABLE extracted_memories" (a, "b "" c")',
        "CREATE TABLE log (text)",
        "CREATE TRIGGER seen AFTER INSERT ON extracted_memories BEGIN INSERT INTO log VALUES ('run'); END",
        "INSERT INTO extracted_memories VALUES ('Rows at dawn.', '', 'fact', 1717408800000)",
        'INSERT INTO "odd "" name; DROP TABLE extracted_memories" VALUES (1, 2)',
    )
    before = path.read_bytes()
    found = items(path)
    assert [memory.text for memory in memories(found)] == ["Rows at dawn."]
    assert len(skipped(found)) == 2  # the log and the odd table
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.db"]


def test_more_rows_than_fit_into_the_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = f"ALTER TABLE extracted_memories ADD x DEFAULT '{'x' * 9_000}'"  # stored once, and read with every row
    path = made(tmp_path / "a.db", f"{MEMORIES})", *[f"{ROW})"] * 9, added)
    assert len(memories(items(path))) == 9
    monkeypatch.setattr(databases, "_SPREAD", 3)
    assert "more rows than fit" in refusal(path).problem


def test_rows_that_leave_out_most_of_many_columns_are_refused(tmp_path: Path) -> None:
    """Each column of each row would be a value, and the file holds none of them."""
    path = made(tmp_path / "a.db", f"{MEMORIES})", *[f"{ROW})"] * 1500)
    assert len(memories(items(path))) == 1500
    columns = ", ".join(f"c{number}" for number in range(1900))
    change = f"UPDATE sqlite_master SET sql = '{MEMORIES}, {columns})'"
    assert "more rows than fit" in refusal(made(path, "PRAGMA writable_schema = ON", change)).problem


def test_the_long_name_of_a_column_is_not_repeated_in_every_memory(tmp_path: Path) -> None:
    rows = [f"INSERT INTO extracted_memories VALUES ('Row {n}.', '', 'fact', 1717408800000, 1)" for n in range(50)]
    path = made(tmp_path / "a.db", f"{MEMORIES}, {'x' * 9000})", *rows)
    assert "more rows than fit" in refusal(path).problem
    path = made(tmp_path / "b.db", f"{MEMORIES}, {'x' * 90})", *rows)
    assert len(memories(items(path))) == 50


def test_many_thousand_tables_are_refused(tmp_path: Path) -> None:
    """SQLite compares the names with each other, and four megabytes of them took it ten seconds."""
    path = made(tmp_path / "a.db", f"{MEMORIES})", f"{ROW})", "PRAGMA writable_schema = ON")
    table = "SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || '(a)' FROM n"
    for first, last, there in ((1, 1000, True), (1001, 5000, False)):
        numbers = f"WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
        made(path, "PRAGMA writable_schema = ON", f"INSERT INTO sqlite_master {numbers} {table}")
        if there:
            assert len(memories(items(path))) == 1
    assert "too many tables" in refusal(path).problem


def test_huge_numbers_nul_characters_and_nested_metadata_are_cleaned_or_skipped(tmp_path: Path) -> None:
    rows = originals.hybrid()["working_memory"]
    nested = '{"a":' * 5_000 + "1" + "}" * 5_000
    odd = [
        {**rows[0], "id": "a", "content": "Rows at\0 dawn.", "importance": 1e308, "timestamp": 9.9e307},
        {**rows[0], "id": "b", "content": "Rows at noon.", "metadata_json": nested},
        {**rows[0], "id": "c", "content": "Rows at six.", "metadata_json": "not JSON", "timestamp": "soon"},
        {**rows[0], "id": "d", "content": b"\xff\xfe"},
    ]
    tables = {"working_memory": odd, "episodic_memory": originals.hybrid()["episodic_memory"]}
    found = items(originals.database(tmp_path / "a.db", tables))
    dawn, noon, six, _ = memories(found)
    assert dawn.text == "Rows at dawn." and dawn.worth.importance == 0.5
    assert (dawn.metadata["importance"], noon.text) == (1e308, "Rows at noon.")
    assert (six.metadata["metadata"], six.metadata["at"]) == ("not JSON", "soon")
    assert "its time is ambiguous; kept as metadata" in {note.reason for note in cleaned(found)}
    assert [skip.where for skip in skipped(found)] == ["a.db, working_memory 4"]


def test_a_link_in_a_folder_is_skipped_and_a_text_with_that_name_is_read_as_text(tmp_path: Path) -> None:
    path = originals.hybrid_database(tmp_path / "real.db")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.db").symlink_to(path)
    (tmp_path / "folder" / "notes.db").write_text("Rows at dawn.")
    found = items(tmp_path / "folder")
    assert [skip.reason for skip in skipped(found)] == ["symbolic link"]
    assert [memory.text for memory in memories(found)] == ["Rows at dawn."]

"""Damaged cells: texts that are not UTF-8, and values that make no memory; where they are, and repairing them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memorist.stores.rows import COLUMNS, harmless, readable
from memorist.stores.sqlite.connection import SqliteDatabase
from memorist.stores.sqlite.statements import SQLITE

NOT_UTF8 = "is not UTF-8"
NOT_JSON = "is not JSON"
ROUNDS = 2
"""A repaired text may still be no JSON."""


class DamagedRow(NamedTuple):
    """A row with damaged cells: its key, as far as it can be read, and harmless values for those cells."""

    table: str
    key: Mapping[str, bytes | int | None]
    name: str
    cells: Mapping[str, Any]
    problem: str

    def __str__(self) -> str:
        where = f"Memory {self.name}" if self.table == "memories" else f"Row {self.name} of {self.table}"
        return f"{where} is damaged: its {' and '.join(self.cells)} {self.problem}."


def damaged_rows(db: SqliteDatabase) -> Iterator[DamagedRow]:
    """Every row that cannot be read as what it is."""
    tables: list[str] = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        if not table.startswith("sqlite_"):
            yield from _not_utf8(db, table)
    yield from _no_memories(db)
    for row, data in readable(db.execute("SELECT row, data FROM journal")):
        if not _is_json(data):
            yield DamagedRow("journal", {"row": row}, str(row), {"data": "{}"}, NOT_JSON)


def repair(db: SqliteDatabase) -> list[str]:
    """Repair what can be repaired, inside the caller's transaction; returns the ids of the memories it changed.

    A text keeps everything but the invalid bytes. In other tables, a row without a number of its own is removed.
    """
    db.execute("REINDEX")
    changed: list[str] = []
    for _ in range(ROUNDS):
        for row in list(damaged_rows(db)):
            _repair_row(db, row)
            if row.table == "memories":
                changed.append(str(row.cells.get("id", row.name)))
    db.execute("DELETE FROM usage WHERE id NOT IN (SELECT id FROM memories)")
    return changed


def _repair_row(db: SqliteDatabase, one: DamagedRow) -> None:
    where = " AND ".join(
        f"{name} = ?" if isinstance(key, int) else f"CAST({name} AS BLOB) IS ?" for name, key in one.key.items()
    )
    if "row" in one.key:
        values = ", ".join(f"{name} = ?" for name in one.cells)
        db.execute(f"UPDATE {one.table} SET {values} WHERE {where}", (*one.cells.values(), *one.key.values()))  # noqa: S608
    else:
        db.execute(f"DELETE FROM {one.table} WHERE {where}", tuple(one.key.values()))  # noqa: S608


def _not_utf8(db: SqliteDatabase, table: str) -> Iterator[DamagedRow]:
    columns = list(db.execute(f"PRAGMA table_info({table})"))
    texts: list[str] = [name for _, name, kind, *_ in columns if kind == "TEXT"]
    numbered = any(name == "row" and key for _, name, _, _, _, key in columns)
    keys: list[str] = ["row"] if numbered else [name for _, name, _, _, _, key in columns if key] or texts
    if not texts:
        return
    read = [name if name not in texts else f"CAST({name} AS BLOB)" for name in (*keys, *texts)]
    for row in db.execute(f"SELECT {', '.join(read)} FROM {table}"):  # noqa: S608
        cells = dict(zip(texts, row[len(keys) :], strict=True))
        broken = {name: cell.decode("utf-8", "replace") for name, cell in cells.items() if not _decodes(cell)}
        if broken:
            key = dict(zip(keys, row[: len(keys)], strict=True))
            yield DamagedRow(table, key, _name(key, cells), broken, NOT_UTF8)


def _name(key: Mapping[str, bytes | int | None], cells: Mapping[str, bytes | None]) -> str:
    """What a user can know a row by: its id, or its key."""
    known = [cells["id"]] if cells.get("id") else list(key.values())
    return " ".join(
        str(value, "utf-8", "backslashreplace") if isinstance(value, bytes) else str(value) for value in known
    )


def _decodes(cell: bytes | None) -> bool:
    try:
        _ = cell is None or cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def _no_memories(db: SqliteDatabase) -> Iterator[DamagedRow]:
    every = SQLITE.read.scan.format(condition="TRUE")
    for row in readable(db.execute(every, {"after": 0, "limit": -1})):
        memory, usage = harmless(row)
        id = row[1 + COLUMNS.index("id")]
        if memory:
            yield DamagedRow("memories", {"row": row[0]}, id, memory, "cannot be read")
        if usage:
            yield DamagedRow("usage", {"id": id.encode()}, id, usage, "cannot be read")


def _is_json(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False

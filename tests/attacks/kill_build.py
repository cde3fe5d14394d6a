"""The world before anything happens to it."""

from __future__ import annotations

import random
import shutil
from datetime import timedelta
from pathlib import Path

from memorist.stores.sqlite import schema
from memorist.stores.sqlite.connection import SqliteConnections, use_write_ahead_log
from memorist.testing.fakes import START
from tests.attacks.kill_world import CITIES, CLOCK, MANY, NAMES, World, sentence


def build(folder: Path) -> None:
    """A memory, its backup, the export of another one, and the same memory in an older file."""
    folder.mkdir(parents=True)
    world = World(folder, 0)
    dice = random.Random(0)
    for number in range(20):
        CLOCK.set(START + timedelta(days=number))
        world.engine.remember(sentence(dice), scope=f"project-{number % 3}", speaker=dice.choice(NAMES))
    for number in range(3):
        world.engine.session(f"Book a table in {dice.choice(CITIES)}", id=f"run-{number}").step("A form.", "fill it")
    world.engine.remember("The first plan.", key="plan-0")
    world.engine.remember("hm hm hm")
    world.engine.remember("The password is hunter2-Tr0ub4dor&3, keep it.")
    world.engine.relate("Alice", "lives_in", "Rome", valid_from="2020-01-01")
    world.engine.backup(folder / "backup.db")
    world.engine.recall("Alice", session="talk-0")
    world.engine.consolidate()
    world.engine.export(folder / "agent.jsonl")
    world.close()
    _older(folder / "agent.db", folder / "old.db")
    other = World(folder, 1, file="other.db")
    other.engine.remember_many([sentence(dice) for _ in range(MANY)])
    other.engine.export(folder / "other.jsonl")
    other.close()
    for file in folder.glob("other.db*"):
        file.unlink()
    shutil.rmtree(folder / "backup.db.notes", ignore_errors=True)


def _older(file: Path, older: Path) -> None:
    """The same rows in a file with the first tables only."""
    connections = SqliteConnections(older)
    connections.create()
    with connections.reading() as db:
        use_write_ahead_log(db)
        with connections.writing():
            schema.migrate(db, older, schema.MIGRATIONS[:1])
        db.execute(f"ATTACH '{file}' AS newer")
        tables = [name for (name,) in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")]
        db.execute("PRAGMA foreign_keys = OFF")
        for table in tables:
            if table.startswith("sqlite_") or table == "migrations":
                continue
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
        db.execute("DETACH newer")
    connections.close()

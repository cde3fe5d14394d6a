"""A small world of files to be killed in: a memory, and every operation that changes it or writes beside it.

An operation is a function of the world and of dice, so that two processes do exactly the same.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import memorist
from memorist.engine.engine import Engine
from memorist.ports import Store
from memorist.stores.sql.database import Migration
from memorist.stores.sqlite import SqliteStore, schema
from memorist.testing.fakes import START, FakeClock, FakeEmbedder
from memorist.upkeep.transfer import export, move
from memorist_server.access.keys import KeyRing

NAMES = ("Alice", "Bob", "Chloe", "David", "Emma")
CITIES = ("Oslo", "Bergen", "Rome", "Lisbon", "Madrid", "Berlin", "Paris", "Vienna")
VERDICTS = ("useful", "wrong", "outdated", "hide")
MANY = 300
"""Texts of a bulk operation: more than one batch."""
LATER = Migration("m999_later", "ALTER TABLE {0}memories ADD COLUMN later INTEGER; UPDATE {0}memories SET later = 1;")
"""A migration of tomorrow: it changes every row."""


@dataclass
class World:
    """A folder with a memory, and the memory once it is open."""

    folder: Path
    seed: int
    file: str = "agent.db"
    server: str | None = None
    """The URL of a database, if the memory is on a server."""
    older: bool = False
    """Whether it must be migrated when it is opened."""
    opened: Engine | None = None

    @property
    def clock(self) -> FakeClock:
        return CLOCK

    @property
    def engine(self) -> Engine:
        if self.opened is None:
            self.opened = self.open()
        return self.opened

    def open(self) -> Engine:
        """Open the memory, with the embedder that made its vectors."""
        engine = self._open(FakeEmbedder())
        if not uses(engine, FakeEmbedder(SMALL)):
            return engine
        engine.close()
        return self._open(FakeEmbedder(SMALL))

    def _open(self, embedder: FakeEmbedder) -> Engine:
        return memorist.open(
            str(self.folder / self.file) if self.server is None else self.server,
            space=None if self.server is None else self.folder.name,
            embedder=embedder,
            reranker="none",
            clock=CLOCK,
            background=False,
            config={"notes_dir": str(self.folder / "notes")},
        )

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()
            self.opened = None

    def do(self, name: str, number: int) -> None:
        """Run one operation at its own hour."""
        CLOCK.set(hour(number))
        OPERATIONS[name](self, random.Random(f"{self.seed}/{number}"))


CLOCK = FakeClock()
SMALL = 32
"""The dimension of the other embedder."""


def uses(engine: Engine, embedder: FakeEmbedder) -> bool:
    """Whether the vectors of a memory are of an embedder."""
    return (engine.store.embedding or "").startswith(embedder.generation)


def hour(number: int) -> datetime:
    """When an operation takes place."""
    return START + timedelta(days=40, hours=number)


def sentence(dice: random.Random) -> str:
    return f"{dice.choice(NAMES)} moved to {dice.choice(CITIES)}, says note {dice.randrange(10**9)}."


def chosen(world: World, dice: random.Random) -> str:
    """The id of something that was said."""
    said = [item for item in world.engine.list(limit=1000).items if item.scope.startswith("project-") and not item.fact]
    return dice.choice(sorted(item.id for item in said if item.kind.value == "episodic"))


# Operations


def open_(world: World, dice: random.Random) -> None:
    assert world.engine.stats().memories or world.older


def remember(world: World, dice: random.Random) -> None:
    world.engine.remember(sentence(dice), speaker=dice.choice(NAMES), importance=dice.random())


def remember_key(world: World, dice: random.Random) -> None:
    world.engine.remember(sentence(dice), key=f"plan-{dice.randrange(3)}")


def remember_many(world: World, dice: random.Random) -> None:
    world.engine.remember_many([f"lantern {dice.randrange(10**9)} in {dice.choice(CITIES)}" for _ in range(MANY)])


def ingest(world: World, dice: random.Random) -> None:
    talk = [{"role": "user", "name": dice.choice(NAMES), "content": sentence(dice)} for _ in range(MANY)]
    world.engine.ingest(talk, session=f"talk-{dice.randrange(10**6)}")


def relate(world: World, dice: random.Random) -> None:
    world.engine.relate(dice.choice(NAMES), dice.choice(("lives_in", "likes")), dice.choice(CITIES))


def session(world: World, dice: random.Random) -> None:
    world.engine.session(f"Book a table in {dice.choice(CITIES)}", id=f"run-{dice.randrange(3)}")


def step(world: World, dice: random.Random) -> None:
    run = world.engine.session(id=f"run-{dice.randrange(3)}")
    run.step(f"The form asks for {sentence(dice)}", "fill it in", dice.random())


def commit(world: World, dice: random.Random) -> None:
    world.engine.session(id=f"run-{dice.randrange(3)}").commit()


def discard(world: World, dice: random.Random) -> None:
    world.engine.session(id=f"run-{dice.randrange(3)}").discard()


def work(world: World, dice: random.Random) -> None:
    world.clock.advance(timedelta(days=1))
    world.engine.work()


def recall(world: World, dice: random.Random) -> None:
    world.engine.recall(f"Where does {dice.choice(NAMES)} live?", session=f"talk-{dice.randrange(3)}")


def feedback(world: World, dice: random.Random) -> None:
    found = world.engine.recall("Who moved to Oslo?", track=False)
    verdict, seen = dice.choice(VERDICTS), dice.random() < 0.5 and found.items
    id = found.items[0].memory.id if seen else chosen(world, dice)
    world.engine.feedback(id, verdict, found if seen else None)


def forget(world: World, dice: random.Random) -> None:
    world.engine.forget(chosen(world, dice))


def forget_scope(world: World, dice: random.Random) -> None:
    world.engine.forget(scope=f"project-{dice.randrange(3)}")


def invalidate(world: World, dice: random.Random) -> None:
    current = [item.id for item in world.engine.list(limit=60).items if item.times.valid_to is None]
    world.engine.invalidate(dice.choice(current))


def undo(world: World, dice: random.Random) -> None:
    entries = [record for verb in ("invalidate", "feedback", "tidy") for record in world.engine.journal(verb)]
    for entry in entries:
        try:
            world.engine.undo(entry.id)
        except memorist.InvalidInput:
            continue
        return


def tidy(world: World, dice: random.Random) -> None:
    world.clock.advance(timedelta(days=200))
    world.engine.tidy(dry_run=False)


def sleep(world: World, dice: random.Random) -> None:
    world.clock.advance(timedelta(days=200))
    world.engine.sleep(dry_run=False)


def audit(world: World, dice: random.Random) -> None:
    world.engine.audit(fix=True)


def consolidate(world: World, dice: random.Random) -> None:
    world.engine.consolidate()


def backup(world: World, dice: random.Random) -> None:
    world.engine.backup(world.folder / "made.db", overwrite=True)


def export_(world: World, dice: random.Random) -> None:
    world.engine.export(world.folder / "made.jsonl", overwrite=True)


def import_(world: World, dice: random.Random) -> None:
    world.engine.import_(world.folder / "other.jsonl", without_vectors=not uses(world.engine, FakeEmbedder()))


def move_(world: World, dice: random.Random) -> None:
    target = SqliteStore.open(world.folder / f"target-{dice.randrange(10**6)}.db")
    move(world.engine.store, target)
    target.close()


def restore(world: World, dice: random.Random) -> None:
    world.close()
    memorist.restore(world.folder / "backup.db", world.folder / world.file, config={"notes_dir": None})
    assert world.engine.stats().memories


def reembed(world: World, dice: random.Random) -> None:
    world.engine.reembed(FakeEmbedder(SMALL) if uses(world.engine, FakeEmbedder()) else FakeEmbedder())


def keys(world: World, dice: random.Random) -> None:
    with KeyRing(world.folder / ".keys.db", clock=world.clock) as ring:
        for key in ring.all()[:1]:
            ring.revoke(key.id)
        ring.create(space="agent", rights="write", name=f"key {dice.randrange(10**6)}")


def rest(world: World, dice: random.Random) -> None:
    """A write over HTTP, tried again an hour after the server died."""
    text, once = sentence(dice), str(dice.randrange(10**9))
    folder = world.folder / "spaces"
    folder.mkdir(exist_ok=True)
    if (folder / ".answers.db").exists():
        with sqlite3.connect(folder / ".answers.db") as answers:
            if answers.execute("SELECT 1 FROM sqlite_schema WHERE name = 'answers'").fetchone():
                answers.execute("UPDATE answers SET at = at - 3600 WHERE body IS NULL")
        answers.close()
    assert asyncio.run(_posted(folder, text, once)) == 201


async def _posted(folder: Path, text: str, once: str) -> int:
    import httpx

    from memorist_server.rest.app import create_app
    from memorist_server.rest.server import Settings

    app = create_app(Settings(db=f"{folder}/", embedder="none"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        url, headers = "/v1/spaces/agent/memories", {"Idempotency-Key": once}
        answer = await client.post(url, json={"text": text}, headers=headers)
    app.state.server.close()
    return answer.status_code


def upgrade(world: World, dice: random.Random) -> None:
    """Open the memory with the next version of Memorist."""
    world.close()
    if world.server is None:
        later = Migration(LATER.name, LATER.sql.format(""))
        older, schema.migrate.__defaults__ = schema.MIGRATIONS, ((*schema.MIGRATIONS, later),)
        schema.pending_migrations.__defaults__ = schema.migrate.__defaults__
        assert older
    else:
        from memorist_server.postgres import database

        database.MIGRATIONS = (*database.MIGRATIONS, Migration(LATER.name, LATER.sql.format("memorist.")))  # pyright: ignore
    assert world.engine.stats().memories


OPERATIONS: dict[str, Callable[[World, random.Random], None]] = {
    "open": open_,
    "remember": remember,
    "remember by key": remember_key,
    "remember many": remember_many,
    "ingest": ingest,
    "relate": relate,
    "session": session,
    "step": step,
    "commit": commit,
    "discard": discard,
    "work": work,
    "recall": recall,
    "feedback": feedback,
    "forget": forget,
    "forget by filter": forget_scope,
    "invalidate": invalidate,
    "undo": undo,
    "tidy": tidy,
    "audit": audit,
    "consolidate": consolidate,
    "sleep": sleep,
    "backup": backup,
    "export": export_,
    "import": import_,
    "move": move_,
    "restore": restore,
    "reembed": reembed,
    "keys": keys,
    "rest": rest,
    "upgrade": upgrade,
}
IN_PARTS = {
    *("remember many", "ingest", "step", "commit", "discard", "work", "recall", "forget", "forget by filter", "audit"),
    *("consolidate", "sleep", "backup", "import", "move", "reembed", "keys", "rest"),
}
"""Operations of several transactions or files: what was done of them stays, and a second run does the rest."""
OF_FILES = {"backup", "restore", "move", "keys", "rest", "consolidate", "sleep"}
"""Operations that are about files, whatever the memory is on."""


# What there is


def lines_of(store: Store) -> list[str]:
    """Everything that a store holds, in an order of its own."""
    file = io.BytesIO()
    export(store, file)
    return sorted(file.getvalue().decode("utf-8", "surrogatepass").splitlines()[1:])


def state(world: World) -> dict[str, Any]:
    """Everything that there is, of the memory and beside it, in a form that can be compared."""
    lines = lines_of(world.engine.store)
    if world.server is not None:  # one rewrite of the tables does the work of every space that waits for it
        lines = [line for line in lines if not line.startswith('{"job":["scrub"')]
    found: dict[str, Any] = {"memory": lines}
    for file in sorted(world.folder.rglob("*")):
        name = str(file.relative_to(world.folder)).replace(world.folder.name, "space")
        if file.suffix == ".md" and ".before-" not in name and ".part" not in name:
            found[name] = file.read_text(encoding="utf-8")
        elif name == "made.jsonl":
            made = sorted(file.read_text(encoding="utf-8").splitlines()[1:])
            found[name] = made if world.server is None else [line for line in made if '["scrub"' not in line]
        elif name == "made.db" or (name.startswith("target-") and file.suffix == ".db"):
            store = SqliteStore.open(file)
            found[name] = lines_of(store)
            store.close()
        elif name == ".keys.db":
            with KeyRing(file) as ring:
                found[name] = sorted((key.name, key.revoked_at is None) for key in ring.all())
        elif name == "spaces/agent.db":
            store = SqliteStore.open(file)
            found[name] = sorted(json.loads(line)["memory"]["text"] for line in lines_of(store) if '{"memory"' in line)
            store.close()
    return found

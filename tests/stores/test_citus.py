"""A database that is distributed over a Citus cluster, if `MEMORIST_TEST_POSTGRES` names one."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from memorist.engine.open import open_database
from memorist.ports import Batch
from memorist.stores import index_sync
from memorist.testing import memory
from memorist_server.postgres import PostgresStore, database
from memorist_server.postgres.administration import distribute
from memorist_server.postgres.schema import DISTRIBUTED
from tests.attacks.kill_build import build
from tests.attacks.kill_world import CLOCK, OF_FILES, OPERATIONS, World, chosen, hour, sentence
from tests.stores.postgres_server import joined, needs_a_cluster, nodes_of, run, running

COUNTED = """
    SELECT query_execution_single_shard, query_execution_multi_shard FROM citus_stat_counters
    WHERE name = current_database()
"""
SPACES = ("a", "b", "c")
OF_ALL_SPACES = {"work", "upgrade"}
"""Operations that are about the whole database: a job may rewrite its tables, a new version migrates it."""


@pytest.fixture
def cluster(postgres: str) -> str:
    needs_a_cluster(postgres)
    return postgres


def pin(world: World, dice: random.Random) -> None:
    pinned = world.engine.pin(chosen(world, dice))
    assert world.engine.pinned()
    world.engine.unpin(pinned.id)


def update(world: World, dice: random.Random) -> None:
    changed = world.engine.update(chosen(world, dice), sentence(dice))
    assert len(world.engine.history(changed.id)) == 2


def filtered(world: World, dice: random.Random) -> None:
    where = {"or": [{"speaker": {"in": ["Alice", "Bob"]}}, {"text": {"contains": "Oslo"}}]}
    assert world.engine.list(where=where).items
    assert world.engine.recall("Who moved to Oslo?", where=where).items


def look(world: World, dice: random.Random) -> None:
    assert world.engine.stats().memories
    assert world.engine.entities()
    assert world.engine.neighbours("Alice")
    assert world.engine.journal()


def index_file(world: World, dice: random.Random) -> None:
    """Write the index file and read it again, as a space of two thousand does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_sync, "FEWEST_ROWS", 0)
        world.close()
        world.engine.store.view()
        world.close()
        assert world.engine.store._index_file.path.exists()
        world.engine.store.view()


MORE: dict[str, Callable[[World, random.Random], None]] = {
    "pin": pin,
    "update": update,
    "filtered": filtered,
    "look": look,
    "index file": index_file,
}


def counted(url: str) -> tuple[int, int]:
    """How many queries went to one shard so far, and how many to several."""
    with psycopg.connect(url, autocommit=True) as connection:
        ((single, multi),) = connection.execute(COUNTED).fetchall()
    return single, multi


def shards_asked(url: str, folder: Path) -> dict[str, tuple[int, int]]:
    """For each operation on a space, the queries to one shard and to several that it takes."""
    build(folder / "template")
    world = World(folder / "template", 0, server=url)
    world.engine.import_(folder / "template" / "agent.jsonl")
    found = dict[str, tuple[int, int]]()
    for number, (name, operation) in enumerate({**OPERATIONS, **MORE}.items()):
        if name in OF_FILES | OF_ALL_SPACES:
            continue
        CLOCK.set(hour(number))
        before = counted(url)
        operation(world, random.Random(number))
        after = counted(url)
        found[name] = after[0] - before[0], after[1] - before[1]
    world.close()
    shutil.rmtree(folder / "template")
    return found


def test_no_operation_on_a_space_asks_two_shards(cluster: str, tmp_path: Path) -> None:
    found = shards_asked(cluster, tmp_path)
    assert {name: multi for name, (_, multi) in found.items() if multi} == {}
    assert all(single for single, _ in found.values()), found


LAMP = (
    *("space", "row", "seq", "version", "id", "text", "words", "keywords", "kind", "scope", "tier", "valid_from"),
    *("ingested_at", "importance", "confidence", "salience", "trust", "credibility", "classification", "emotion"),
    *("emotion_tags", "flags", "relevance", "mentions", "metadata"),
)
VALUES = (
    *("1", "1", "1", "'lamp'", "'A lamp.'", "'lamp'", "'[]'", "'episodic'", "'global'", "'working'", "0"),
    *("0", "0.5", "1", "0", "3", "6", "1", "0"),
    *("'[]'", "'[]'", "1", "'[]'", "'{{}}'"),
)
"""A memory as the first version wrote it; its space comes first."""


@pytest.fixture
def older(cluster: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A distributed database with the tables of the first version, and three spaces."""
    with ExitStack() as stack:
        with monkeypatch.context() as then:
            then.setattr(database, "MIGRATIONS", database.MIGRATIONS[:1])
            url = stack.enter_context(running())
        for space in SPACES:
            run(url, f"INSERT INTO memorist.spaces (space, seq, epoch, last) VALUES ('{space}', 1, 0, 1)")
            run(url, f"INSERT INTO memorist.memories ({', '.join(LAMP)}) VALUES ('{space}', {', '.join(VALUES)})")
        yield url


def test_a_distributed_database_is_migrated(older: str) -> None:
    before = open_database(older).status()
    assert (len(before.migrated), len(before.distributed)) == (1, len(DISTRIBUTED))
    assert open_database(older).migrate() == [migration.name for migration in database.MIGRATIONS[1:]]
    for space in SPACES:
        store = PostgresStore.open(older, space=space)
        store.put(Batch([memory("a book", id="book")]))
        assert [row.id for row in store.by_text(["a book", "A lamp."])] == ["lamp", "book"]
        store.close()


def test_distributing_takes_the_memories_along_and_leaves_none_behind(cluster: str) -> None:
    with joined(cluster) as url:
        for space in SPACES:
            store = PostgresStore.open(url, space=space)
            store.put(Batch([memory("a lamp", id="lamp")]))
            store.close()
        assert open_database(url).distribute() == list(DISTRIBUTED)
        for space in SPACES:
            store = PostgresStore.open(url, space=space)
            assert list(store.get(["lamp"])) == ["lamp"]
            store.close()
        with psycopg.connect(url) as connection:
            size = "SELECT sum(pg_relation_size(('memorist.' || name)::regclass)) FROM unnest(%s::text[]) AS name"
            sizes = connection.execute(size, (list(DISTRIBUTED),))
            assert sizes.fetchone() == (0,)


def test_what_is_distributed_is_not_distributed_again(cluster: str) -> None:
    assert open_database(cluster).status().distributed == tuple(sorted(f"memorist.{table}" for table in DISTRIBUTED))
    with psycopg.connect(cluster, autocommit=True) as connection:
        assert distribute(connection) == []


def test_the_spaces_lie_on_both_workers_and_each_on_one(cluster: str) -> None:
    names = {f"spread-{number}" for number in range(12)}
    for name in names:
        store = PostgresStore.open(cluster, space=name)
        store.put(Batch([memory("a lamp", id="lamp"), memory("a book", id="book")]))
        store.close()
    with psycopg.connect(cluster) as connection:
        rows = connection.execute(
            "SELECT result FROM run_command_on_placements('memorist.memories', "
            "$$SELECT string_agg(space || ' ' || id, ',') FROM %s WHERE space LIKE 'spread-%%'$$) WHERE result <> ''"
        ).fetchall()
    held = [{pair.split()[0] for pair in row.split(",")} for (row,) in rows]
    assert sorted(name for some in held for name in some) == sorted(names)
    assert len(nodes_of(cluster)) >= 3

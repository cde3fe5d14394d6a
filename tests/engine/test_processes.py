"""Many processes on one file, through the verbs; some of them killed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import memorist
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeEmbedder

WRITE_ONE_BY_ONE = """
import sys, memorist
from memorist.testing.fakes import FakeEmbedder
path, name = sys.argv[1:]
with memorist.open(path, embedder=FakeEmbedder()) as memory:
    for number in range(1000):
        memory.remember(f"lantern {name} {number}", key=f"{name}/{number}")
"""
WRITE_MANY = """
import sys, memorist
from memorist.testing.fakes import FakeEmbedder
path, name = sys.argv[1:]
done = 0
def acknowledge(count):
    global done
    done += count
    print(done, flush=True)
with memorist.open(path, embedder=FakeEmbedder()) as memory:
    texts = ({"text": f"lantern {name} {n}", "key": f"{name}/{n}"} for n in range(10**9))
    memory.remember_many(texts, progress=acknowledge)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_four_processes_remember_while_a_fifth_recalls(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    with memorist.open(file, embedder=FakeEmbedder()) as memory:
        memory.remember("the first lantern")
        writers = [start(WRITE_ONE_BY_ONE, file, name) for name in "abcd"]
        recalls = 0
        while any(writer.poll() is None for writer in writers):
            assert memory.recall("lantern").items
            recalls += 1
        assert [(writer.wait(), writer.communicate()[1]) for writer in writers] == [(0, "")] * 4
        assert memory.stats().memories == 4001
        assert memory.list(limit=5000).items[-1].text.startswith("lantern ")
        assert recalls > 0


@pytest.mark.slow
def test_twenty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    file, dice = tmp_path / "agent.db", random.Random(7)
    with memorist.open(file, embedder=FakeEmbedder()) as memory:
        for life in range(20):
            writer = start(WRITE_MANY, file, life)
            assert writer.stdout is not None
            acknowledged = [writer.stdout.readline() for _ in range(dice.randrange(1, 4))]
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(timeout=dice.uniform(0, 0.05))
            writer.send_signal(signal.SIGKILL)
            acknowledged += writer.communicate()[0].splitlines()
            count = int(acknowledged[-1])
            keys = {item.origin.key for item in memory.list(limit=10**6).items}
            assert all(f"{life}/{number}" in keys for number in range(count))
            assert memory.recall(f"lantern {life}").items
    store = SqliteStore.open(file)
    assert store.integrity() == []
    assert store.view().size == store.stats().memories
    store.close()

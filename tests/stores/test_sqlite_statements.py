"""How many statements one verb passes to SQLite, and that a recall takes no write lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import apsw
import pytest

import memorist
from memorist.model import Entity
from memorist.ports import Batch, Reader
from memorist.stores.sqlite import SqliteStore
from memorist.testing import FakeEmbedder, memory

REMEMBER, RECALL = 20, 8
"""The largest numbers of statements; many rows of one statement count once."""
QUESTION = "Where does Bob live?"


class LengthReranker:
    """Prefers long texts."""

    generation = "length:1"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The length of each text."""
        return [float(len(text)) for text in texts]


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that every connection ran."""
    ran = list[str]()

    def listen(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: ran.append(event["sql"]))

    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, listen])
    return ran


@pytest.fixture
def engine(tmp_path: Path, passed: list[str]) -> Iterator[memorist.Engine]:
    with memorist.open(tmp_path / "a.db", embedder=FakeEmbedder(), reranker=LengthReranker()) as opened:
        for day in range(30):
            opened.remember(f"On day {day} Alice bought item number {7 * day} in Oslo.", speaker="Alice")
        opened.recall("What did Alice buy in Oslo?")
        opened.recall("What did Alice buy in Oslo today?")
        passed.clear()
        yield opened


def statements(passed: list[str]) -> list[str]:
    return [sql for sql, _ in groupby(passed)]


def test_a_remember_passes_few_statements(engine: memorist.Engine, passed: list[str]) -> None:
    kept = engine.remember("Bob moved to Berlin last week and likes chess a lot.", speaker="Bob")
    assert 10 < len(statements(passed)) <= REMEMBER, "\n".join(statements(passed))
    assert kept.outcome == "kept" and passed.count("COMMIT") == 1


@pytest.mark.parametrize("track", [True, False], ids=["counted", "not counted"])
def test_a_warm_recall_passes_few_statements_and_takes_no_write_lock(
    engine: memorist.Engine, passed: list[str], track: bool
) -> None:
    first = engine.recall(QUESTION, track=False)
    passed.clear()
    again = engine.recall(QUESTION, track=track)
    assert 2 < len(statements(passed)) <= RECALL, "\n".join(statements(passed))
    assert all(sql.lstrip().startswith(("SELECT", "WITH")) for sql in passed)
    assert [item.memory.id for item in again.items] == [item.memory.id for item in first.items] != []
    top = again.items[0]
    counted = engine.get(top.memory.id)
    assert counted is not None and counted.usage is not None and top.memory.usage is not None
    assert counted.usage.recalls == top.memory.usage.recalls + track


def test_uses_count_for_every_reader_before_and_after_they_are_counted(
    engine: memorist.Engine, passed: list[str], tmp_path: Path
) -> None:
    first = engine.recall("What did Alice buy in Oslo?", session="talk").items[0].memory.id
    with memorist.open(tmp_path / "a.db", embedder=FakeEmbedder(), background=False) as other:
        seen = [reader.get(first) for reader in (engine, other)]
        listed = [next(memory for memory in other.list().items if memory.id == first)]
        assert len({memory.usage for memory in (*seen, *listed) if memory is not None}) == 1
        assert seen[0] is not None and seen[0].usage is not None and seen[0].usage.recalls == 3
        times = seen[0].usage.recall_times
        assert len(times) == 3 and list(times) == sorted(times)
        assert not any("INTO usage" in sql for sql in passed)
        other.remember("Carl moved to Paris.")
        assert any("INTO usage" in sql for sql in passed) and not (tmp_path / "a.db-usage").exists()
        assert engine.get(first) == other.get(first) == seen[0]


def test_what_another_process_wrote_before_the_lock_is_seen_inside_it(tmp_path: Path) -> None:
    one, other = (SqliteStore.open(tmp_path / "a.db") for _ in range(2))
    seen = list[tuple[int, int, int]]()

    def found(reader: Reader) -> tuple[int, int, int]:
        return len(reader.get(["book"])), len(reader.by_text(["a book"])), len(reader.entities_by_prefix(["Bookworm"]))

    def plan(reader: Reader) -> Batch:
        seen.append(found(reader))
        return Batch()

    one.put(Batch([memory("a lamp", id="lamp")]))
    assert found(one) == (0, 0, 0)
    one.update(plan)
    other.put(Batch([memory("a book", id="book")], entities=[Entity("e", "Bookworm")]))
    one.update(plan)
    assert seen == [(0, 0, 0), (1, 1, 1)]
    one.close()
    other.close()

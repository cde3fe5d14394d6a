"""A damaged row is found and named, the others stay readable, and whatever meets it raises an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import apsw
import pytest

import memorist
from memorist.engine.engine import Engine
from memorist.errors import Error, NewerStore, UnreadableMemory
from memorist.stores.sqlite import SqliteStore
from memorist.surfaces.cli import main
from memorist.testing.fakes import FakeEmbedder

LAMP, BOOK = "The lamp stands on the desk.", "The book lies under the desk."
CELLS = {
    "a text that is not UTF-8": "text = CAST(x'74686520ff6c616d70' AS TEXT)",
    "a text cut in a character": "text = CAST(x'6cc3' AS TEXT)",
    "words that are not UTF-8": "words = CAST(x'656e20ff' AS TEXT)",
    "a scope that is not UTF-8": "scope = CAST(x'ff' AS TEXT)",
    "metadata that is not JSON": "metadata = '{\"a\": '",
    "flags that are not JSON": "flags = 'null and void'",
    "mentions of another shape": "mentions = '[[1]]'",
    "a kind that nobody knows": "kind = 'dream'",
    "a tier that nobody knows": "tier = ''",
    "a time beyond time": "valid_from = 9223372036854775807",
}


def break_file(path: Path, *statements: str) -> None:
    with apsw.Connection(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "agent.db"
    with opened(path) as engine:
        for text in (LAMP, BOOK):
            engine.remember(text)
    return path


def opened(path: Path) -> Engine:
    return Engine(SqliteStore.open(path), embedder=FakeEmbedder(), background=False)


@pytest.fixture
def broken(path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Engine, str, str]]:
    """An engine on a file with a broken memory, the id of that memory, and the id of a sound one."""
    with opened(path) as engine:
        lamp, book = (memory.id for memory in engine.list().items)
    break_file(path, f"UPDATE memories SET {request.param} WHERE id = '{lamp}'")
    with opened(path) as engine:
        yield engine, lamp, book


every_cell = pytest.mark.parametrize("broken", CELLS.values(), ids=CELLS, indirect=True)


@every_cell
def test_the_others_stay_readable(broken: tuple[Engine, str, str]) -> None:
    engine, _, book = broken
    assert BOOK in [item.memory.text for item in engine.recall("Where is the book?").items]
    assert book in [memory.id for memory in engine.list().items]
    found = engine.get(book)
    assert found is not None and found.text == BOOK
    assert engine.remember("The chair is new.").id in [memory.id for memory in engine.list().items]


@every_cell
def test_an_audit_names_it_and_a_fix_makes_it_readable(broken: tuple[Engine, str, str]) -> None:
    engine, lamp, book = broken
    assert any(lamp in finding.reason for finding in engine.audit(["drift"]).findings)
    fixed = engine.audit(["drift"], fix=True)
    assert all(finding.fixed for finding in fixed.findings)
    assert engine.audit(["drift"]).findings == ()
    assert [memory.id for memory in engine.list().items] == [lamp, book]
    engine.export(BytesIO())
    assert engine.forget(lamp).forgotten == (lamp,)


@every_cell
def test_what_might_lose_it_refuses_and_says_how_to_repair_it(broken: tuple[Engine, str, str]) -> None:
    engine, _, _ = broken
    with pytest.raises(UnreadableMemory, match=r"audit\(fix=True\)"):
        engine.forget(scope="global")


UNREADABLE = [cell for name, cell in CELLS.items() if not name.startswith("words")]


@pytest.mark.parametrize("broken", UNREADABLE, indirect=True)
def test_asking_for_it_raises_an_error_of_ours(broken: tuple[Engine, str, str]) -> None:
    engine, lamp, _ = broken
    for verb in (lambda: engine.get(lamp), lambda: engine.forget(lamp), lambda: engine.export(BytesIO())):
        with pytest.raises(UnreadableMemory, match=r"audit\(fix=True\)"):
            verb()
    with pytest.raises(Error):
        engine.history(lamp)


OTHER_ROWS = {
    "a vector of odd bytes": "UPDATE vectors SET data = x'0102ff' WHERE row = 1",
    "a vector of another length": "UPDATE vectors SET data = x'01020304' WHERE row = 1",
    "a journal entry that is not JSON": "INSERT INTO journal VALUES (9, 'e', 0, 'gate', '{')",
    "a journal entry that is not UTF-8": "INSERT INTO journal VALUES (9, 'e', 0, 'gate', CAST(x'ff' AS TEXT))",
    "a link that is not UTF-8": "INSERT INTO links VALUES (CAST(x'ff' AS TEXT), 'next', 'b', 1.0)",
    "a name that is not UTF-8": "INSERT INTO entities VALUES ('e', CAST(x'ff' AS TEXT), NULL)",
    "noise that is not UTF-8": "INSERT INTO noise VALUES (9, CAST(x'ff' AS TEXT))",
    "usage that is not JSON": "INSERT OR REPLACE INTO usage SELECT id, 1, 1, '[', 0, 0.0 FROM memories WHERE row = 1",
}


@pytest.mark.parametrize("statement", OTHER_ROWS.values(), ids=OTHER_ROWS)
def test_damage_beside_a_memory_keeps_no_memory_from_being_found_and_a_fix_removes_it(
    path: Path, statement: str
) -> None:
    break_file(path, statement)
    with opened(path) as engine:
        assert BOOK in [item.memory.text for item in engine.recall("Where is the book?").items]
        assert engine.audit(["drift"]).findings
        engine.audit(["drift"], fix=True)
        assert engine.audit(["drift"]).findings == ()
        assert {memory.text for memory in engine.list().items} == {LAMP, BOOK}


def test_a_torn_index_is_named_and_built_again(path: Path) -> None:
    pages = "SELECT rootpage FROM sqlite_schema WHERE name = 'memories_by_seq'"
    with apsw.Connection(str(path)) as connection:
        ((page,),) = connection.execute(pages)
        ((size,),) = connection.execute("PRAGMA page_size")
    connection.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\x0a" + bytes(size - 1)
    path.write_bytes(content)
    with opened(path) as engine:
        assert any("memories_by_seq" in finding.reason for finding in engine.audit(["drift"]).findings)
        assert [memory.text for memory in engine.list().items] == [LAMP, BOOK]
        engine.audit(["drift"], fix=True)
        assert engine.audit(["drift"]).findings == ()
        assert BOOK in [item.memory.text for item in engine.recall("Where is the book?").items]


def test_the_doctor_names_the_row(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with opened(path) as engine:
        lamp = engine.list().items[0].id
    break_file(path, f"UPDATE memories SET {CELLS['a text that is not UTF-8']} WHERE id = '{lamp}'")
    assert main(["--db", str(path), "--embedder", "none", "doctor"]) == 1
    assert f"Memory {lamp} is damaged: its text is not UTF-8" in " ".join(capfd.readouterr().out.split())


def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    break_file(path, "INSERT INTO migrations VALUES ('m999_from_the_future')")
    before = path.read_bytes()
    with pytest.raises(NewerStore, match="Upgrade"):
        memorist.open(path, embedder="none")
    assert path.read_bytes() == before

"""Mnemosyne for Python: its export, its database, and files that the original writes itself."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memorist
from import_tests import originals
from memorist.model import Fact, Memory
from memorist.remember.ingest import FactPiece, Item, detect
from memorist.testing import FakeClock
from tests.remember.ingest.helpers import cleaned, items, memories, skipped, written


def by_text(found: list[Item]) -> dict[str, Memory]:
    return {memory.text: memory for memory in memories(found)}


def reasons(found: list[Item]) -> Counter[str]:
    return Counter(item.reason for item in [*skipped(found), *cleaned(found)])


def test_a_memory_has_its_fields_times_session_and_names(tmp_path: Path) -> None:
    path = written(tmp_path / "export.json", originals.hybrid_export())
    found = items(path)
    neovim = by_text(found)["Maya prefers Neovim."]
    assert detect(path) == "mnemosyne-hybrid"
    assert (neovim.topic, neovim.worth.importance, neovim.keywords) == ("preference", 0.9, ("Maya", "Neovim"))
    assert (neovim.origin.key, neovim.origin.session) == (f"mnemosyne-hybrid:{originals.ID}", "s1")
    assert neovim.times.valid_from == datetime(2026, 1, 15, 8, tzinfo=UTC)  # 10:00 in its time zone
    assert neovim.times.ingested_at == datetime(2026, 1, 15, 8, 0, 1, tzinfo=UTC)
    assert neovim.metadata == {
        "project": "atlas",
        "recall_count": 3,
        "veracity": "stated",
        "annotations.occurred_on": ["2026-01-14"],
    }
    weir = by_text(found)["The weir opens at noon."]
    assert (weir.times.expires_at, weir.origin.session) == (datetime(2030, 1, 1, tzinfo=UTC), None)


def test_summaries_scratchpad_and_old_memories_come_along(tmp_path: Path) -> None:
    found = by_text(items(written(tmp_path / "export.json", originals.hybrid_export())))
    assert found["Maya set up her editor."].metadata == {"summary_of": originals.ID}
    assert found["Ask about the weir."].topic == "scratchpad"
    assert found["Maya rows."].times.valid_from == datetime(2025, 1, 15, 10, tzinfo=UTC)
    oslo, bergen = found["home_city: Oslo"], found["home_city: Bergen"]
    assert (oslo.original, oslo.topic, oslo.worth.confidence) == ("Oslo", "identity", 0.75)
    assert oslo.times.expires_at == datetime(2026, 2, 1, tzinfo=UTC) and bergen.times.expires_at is None
    assert bergen.origin.key == "mnemosyne-hybrid:maya:identity:home_city"


def test_triples_are_facts_with_their_intervals(tmp_path: Path) -> None:
    found = items(written(tmp_path / "export.json", originals.hybrid_export()))
    auth, billing = (item for item in found if isinstance(item, FactPiece))
    assert auth.fact == Fact("Maya", "assigned_to", "auth")
    assert auth.fields.get("valid_to") == billing.fields.get("valid_from") == datetime(2026, 3, 1, tzinfo=UTC)
    assert "valid_to" not in billing.fields


def test_what_has_no_place_is_counted(tmp_path: Path) -> None:
    found = items(written(tmp_path / "export.json", originals.hybrid_export()))
    assert reasons(found) == {
        "veracity kept as metadata": 1,
        "recall_count kept as metadata": 1,
        "annotations.occurred_on kept as metadata": 1,
        "summary_of kept as metadata": 1,
        "owner_id kept as metadata": 2,
        "name kept as metadata": 2,
        "source kept as metadata": 2,
        "version kept as metadata": 1,
        "confidence left out: a fact has no place for it": 1,
        "a copy of a working or episodic memory": 1,
        "a log entry": 1,
        "a vector; it is computed again": 1,
    }


def test_the_database_says_the_same_as_the_export(tmp_path: Path) -> None:
    database = originals.hybrid_database(tmp_path / "mnemosyne.db")
    before = (database.read_bytes(), sorted(path.name for path in tmp_path.iterdir()))
    export = items(written(tmp_path / "more" / "export.json", originals.hybrid_export()))
    found = items(database)
    assert detect(database) == "mnemosyne-hybrid"
    assert {memory.id for memory in memories(found)} == {memory.id for memory in memories(export)}
    assert before[0] == database.read_bytes()
    assert before[1] == sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    extra = reasons(found) - reasons(export)
    assert extra == {
        "binary_vector left out; it is computed again": 2,
        "derived from memories; Memorist derives its own": 1,
        "a table of no known kind": 1,
    }


def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    export = written(tmp_path / "export.json", originals.hybrid_export())
    database = originals.hybrid_database(tmp_path / "mnemosyne.db")
    with memorist.open(":memory:", embedder="none", clock=FakeClock(), config={"extract": "off"}) as memory:
        first = memory.ingest(export)
        assert (first.kept, first.facts) == (9, 2)
        for again in (export, database):
            report = memory.ingest(again)
            assert (report.kept, report.merged, report.facts, report.known) == (0, 0, 0, 9)
        assert {version.fact.object for version in memory.history("Maya") if version.fact} == {"auth", "billing"}


WRITE = """
import sys
from pathlib import Path
from mnemosyne.core.memory import Mnemosyne
from mnemosyne.core.triples import TripleStore

database, export = map(Path, sys.argv[1:])
memory = Mnemosyne(session_id="s1", db_path=database)
memory.remember("Maya prefers Neovim.", source="preference", importance=0.9, metadata={"project": "atlas"})
memory.remember("The weir opens at noon.", valid_until="2030-01-01", scope="global")
triples = TripleStore(db_path=database)
triples.add("Maya", "assigned_to", "auth", valid_from="2026-01-15")
triples.add("Maya", "assigned_to", "billing", valid_from="2026-03-01")
memory.export_to_file(str(export))
"""


@pytest.mark.skipif(importlib.util.find_spec("mnemosyne") is None, reason="needs the package mnemosyne-memory")
def test_files_that_the_original_writes_are_read(tmp_path: Path) -> None:
    paths = tmp_path / "original.db", tmp_path / "original.json"
    env = {**os.environ, "HOME": str(tmp_path), "MNEMOSYNE_DATA_DIR": str(tmp_path / "data")}
    subprocess.run([sys.executable, "-c", WRITE, *map(str, paths)], check=True, env=env, capture_output=True)
    assert "working_memory" in json.loads(paths[1].read_text())
    for path in paths:
        found = items(path)
        assert by_text(found)["Maya prefers Neovim."].topic == "preference"
        assert by_text(found)["The weir opens at noon."].times.expires_at == datetime(2030, 1, 1, tzinfo=UTC)
        assert [item.fact.object for item in found if isinstance(item, FactPiece)] == ["auth", "billing"]
        assert len(memories(found)) == 2 and not any("no known kind" in reason for reason in reasons(found))

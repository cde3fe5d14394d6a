"""abmind: its database, its rows, and the JSON of its recall."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import memorist
from import_tests import originals
from memorist.model import Fact, Tier
from memorist.remember.ingest import FactPiece, detect
from memorist.remember.ingest.messages import SYSTEM
from memorist.testing import FakeClock
from memorist_import.abmind import ENCRYPTED
from tests.remember.ingest.helpers import cleaned, items, memories, positions, skipped, talk, written

MORNING = datetime(2024, 6, 3, 10, tzinfo=UTC)


def database(folder: Path) -> Path:
    return originals.database(folder / "memory.db", originals.abmind_rows(), "CREATE VIEW views AS SELECT 1")


def test_a_memory_has_its_feelings_worth_and_times(tmp_path: Path) -> None:
    path = database(tmp_path)
    found = items(path)
    dark, router, *_ = memories(found)
    worth = dark.worth
    assert detect(path) == "abmind"
    assert (dark.text, dark.original, dark.scope) == ("Prefers dark mode.", "Sötét mód.", "user:alice")
    assert (worth.emotion, worth.emotion_tags, worth.flags) == (4, ("joy", "relief"), ("DECISION",))
    assert (worth.trust, worth.credibility, worth.classification) == (2, 1, 2)
    assert (dark.tier, dark.topic, dark.keywords) == (Tier.CORE, "preference", ("mód",))
    assert (dark.times.valid_from, dark.times.ingested_at) == (MORNING, datetime(2024, 6, 3, 10, 1, tzinfo=UTC))
    assert dark.metadata == {"recall_count": 2, "confidence": 3, "source_message_ids": "7,8"}
    assert (router.text, router.original, router.topic, router.tier) == ("Router key", None, "work", Tier.WORKING)
    assert (router.worth.classification, router.times.expires_at) == (3, datetime(2030, 1, 1, tzinfo=UTC))
    assert [note.where for note in cleaned(found) if note.reason == ENCRYPTED] == ["memory.db, memory 2"]


def test_messages_summaries_and_edges_come_along(tmp_path: Path) -> None:
    found = items(database(tmp_path))
    assert talk(found)[2:] == [
        ("user", "Dark mode, please."),
        ("assistant", "Done."),
        (None, "They chose colours."),
    ]
    assert positions(found)["alice:telegram"] == [0, 1, None]
    assert [item.fact for item in found if isinstance(item, FactPiece)] == [Fact("alice", "works_with", "bob")]
    assert [skip.reason for skip in skipped(found)] == [SYSTEM, "a log entry"]


def test_the_answer_of_a_recall_has_the_same_memories(tmp_path: Path) -> None:
    path = written(tmp_path / "recall.json", originals.abmind_recall())
    found = items(path)
    (dark,) = memories(found)
    assert detect(path) == "abmind"
    assert (dark.worth.emotion, dark.worth.emotion_tags, dark.worth.flags) == (4, ("joy", "relief"), ("DECISION",))
    assert (dark.topic, dark.original, dark.worth.classification) == ("ui", "Sötét mód.", 2)
    assert dark.times.valid_from == dark.times.ingested_at == datetime(2024, 6, 3, 10, 1, tzinfo=UTC)
    assert dark.metadata == {"date": "2024-06", "source": "Sf", "score": 0.8, "memory_type": "preference"}
    assert [item.fact for item in found if isinstance(item, FactPiece)] == [Fact("alice", "works_with", "bob")]


def test_rows_and_hits_are_recognised_alone(tmp_path: Path) -> None:
    row = {key: value for key, value in originals.abmind_rows()["extracted_memories"][0].items() if value != b"\0"}
    row = {key: value for key, value in row.items() if not isinstance(value, bytes)}
    path = written(tmp_path / "rows.json", [row])
    assert detect(path) == "abmind"
    assert memories(items(path))[0].id == memories(items(database(tmp_path)))[0].id
    assert detect(written(tmp_path / "hit.json", [originals.abmind_recall()["results"][0]])) == "abmind"


def test_a_second_import_adds_nothing_and_secrets_stay_hidden(tmp_path: Path) -> None:
    path = database(tmp_path)
    with memorist.open(":memory:", embedder="none", clock=FakeClock(), config={"extract": "off"}) as memory:
        first, again = memory.ingest(path), memory.ingest(path)
        assert (first.kept, first.facts) == (6, 1)
        assert (again.kept, again.merged, again.facts, again.known) == (0, 0, 0, 6)
        assert "Router key" not in {item.memory.text for item in memory.recall("router key").items}

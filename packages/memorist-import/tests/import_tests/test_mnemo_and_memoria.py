"""Mnemo's rows as JSON, and Memoria's edges, episodes, entities and playbooks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import memorist
from import_tests import originals
from memorist.model import Fact, Kind, Tier
from memorist.remember.ingest import FactPiece, detect
from memorist.testing import FakeClock
from memorist_import.graphs import NO_SUMMARY
from tests.remember.ingest.helpers import cleaned, items, memories, skipped, written

MORNING = datetime(2024, 6, 3, 10, tzinfo=UTC)


def lines(values: Iterable[Any]) -> str:
    return "\n".join(map(json.dumps, values))


def test_a_row_of_mnemo_has_its_worth_from_the_row_and_its_metadata(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.jsonl", lines([*originals.mnemo()]))
    found = items(path)
    dawn, noon, rules = memories(found)
    assert detect(written(tmp_path / "rows.json", originals.mnemo())) == "mnemo"
    assert (dawn.topic, dawn.scope, dawn.origin.key, dawn.origin.session) == (
        *("preference", "agent:sam", "mnemo:m1", "s-1"),
    )
    worth = dawn.worth
    assert (worth.importance, worth.confidence, worth.salience, dawn.tier) == (0.8, 0.8, 0.45, Tier.CORE)
    assert dawn.times.valid_from == dawn.times.ingested_at == MORNING
    assert dawn.metadata == {
        "l2_content": "Ann rows at dawn, since the lake is calm.",
        "memory_category": "preferences",
        "access_count": 4,
        "last_accessed_at": 1717495200000,
    }
    assert (noon.times.expires_at, noon.tier) == (datetime(2024, 6, 4, 10, tzinfo=UTC), Tier.PERIPHERAL)
    assert (rules.topic, rules.metadata) == (None, {"score": 0.7})
    assert Counter(note.reason for note in cleaned(found)) == {
        "vector left out; it is computed again": 2,
        "score kept as metadata": 1,
    }


def test_a_result_of_mnemos_search_is_the_same_memory(tmp_path: Path) -> None:
    row, *_ = originals.mnemo()
    (alone,) = memories(items(written(tmp_path / "a.json", [row])))
    (result,) = memories(items(written(tmp_path / "b.json", [{"entry": row, "score": 0.9}])))
    assert (result.id, result.metadata["score"]) == (alone.id, 0.9)


def test_edges_of_memoria_are_facts_with_both_clocks(tmp_path: Path) -> None:
    path = written(tmp_path / "answer.json", originals.memoria())
    now, ended, odd = (item for item in items(path) if isinstance(item, FactPiece))
    assert detect(path) == "memoria"
    assert (now.fact, now.text) == (Fact("Stefan", "works_at", "Premex"), "Stefan works at Premex.")
    assert now.fields == {
        "source": "memoria:e1",
        "valid_from": datetime(2023, 1, 1, tzinfo=UTC),
        "ingested_at": datetime(2026, 5, 28, 10, tzinfo=UTC),  # 12:00 in its time zone
    }
    assert (ended.fact.object, ended.fields.get("valid_to")) == ("Acme", datetime(2026, 5, 28, 10, tzinfo=UTC))
    assert odd.fact == Fact("Bo", "lives_in", "Oslo") and "valid_to" not in odd.fields


def test_episodes_summaries_playbooks_and_edges_of_unknown_ends_are_memories(tmp_path: Path) -> None:
    found = items(written(tmp_path / "answer.json", originals.memoria()))
    summary, episode, knows, playbook = memories(found)
    assert (summary.text, summary.topic, summary.keywords) == (
        *("Stefan builds memories.", "Stefan", ("Steff", "Person")),
    )
    assert (episode.origin.speaker, episode.origin.session, episode.metadata["channel"]) == ("user", "c1", "mail")
    assert (knows.text, knows.metadata["relation"]) == ("Stefan knows Bo.", "works_at")
    assert (playbook.kind, playbook.topic, playbook.text) == (
        *(Kind.PROCEDURAL, "Release", "Release\n\nTag, then publish."),
    )
    assert [skip.reason for skip in skipped(found)] == [NO_SUMMARY, NO_SUMMARY]
    assert Counter(note.reason for note in cleaned(found))["confidence left out: a fact has no place for it"] == 2
    assert "it ends before it begins; its end is left out" in {note.reason for note in cleaned(found)}


def test_lines_know_the_entities_before_them_and_wrapped_edges_are_edges(tmp_path: Path) -> None:
    answer = originals.memoria()
    entries = [*answer["entities"], *({"edge": edge, "score": 1} for edge in answer["edges"])]
    facts = [item for item in items(written(tmp_path / "lines.jsonl", lines(entries))) if isinstance(item, FactPiece)]
    assert [fact.fact.object for fact in facts] == ["Premex", "Acme", "Oslo"]


def test_a_second_import_adds_nothing_and_an_end_ends_the_fact(tmp_path: Path) -> None:
    answer, rows = originals.memoria(), originals.mnemo()
    with memorist.open(":memory:", embedder="none", clock=FakeClock(), config={"extract": "off"}) as memory:
        paths = written(tmp_path / "a.json", answer), written(tmp_path / "b.json", rows)
        for path in paths:
            assert memory.ingest(path).kept
        for path in paths:
            report = memory.ingest(path)
            assert (report.kept, report.merged, report.facts) == (0, 0, 0)
        answer["edges"][0]["tInvalid"] = "2023-06-01T00:00:00Z"
        memory.ingest(written(tmp_path / "later.json", answer))
        (left,) = (version for version in memory.history("Stefan") if version.fact and version.fact.object == "Premex")
        assert left.times.valid_to == datetime(2023, 6, 1, tzinfo=UTC)

"""Exports and listings of Hindsight, Honcho, Cognee and Supermemory."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorist
from import_tests import exports, originals, products, services
from memorist.engine.engine import Engine
from memorist.model import Fact, Kind, Memory, Tier
from memorist.remember.ingest import FactPiece, Item, detect
from memorist.testing import FakeClock
from memorist_import.cognee import BETWEEN_TEXTS, COPY, NAME_ALONE
from memorist_import.hindsight import DIRECTIVE
from memorist_import.hindsight import NO_CONTENT as NO_TEXT
from memorist_import.supermemory import CHUNK, NO_CONTENT
from tests.remember.ingest.helpers import cleaned, items, memories, skipped, talk, written

Make = Callable[[Path], Path]


def page(name: str, content: Callable[[], Any]) -> Make:
    return lambda folder: written(folder / f"{name}.json", content())


SERVICES: dict[str, tuple[str, Make]] = {
    "hindsight": ("hindsight", page("memories", services.hindsight)),
    "hindsight document": ("hindsight", page("document", services.hindsight_document)),
    "honcho messages": ("honcho", page("messages", services.honcho_messages)),
    "honcho conclusions": ("honcho", page("conclusions", services.honcho_conclusions)),
    "honcho context": ("honcho", page("context", services.honcho_context)),
    "cognee": ("cognee", page("graph", services.cognee)),
    "cognee snapshot": ("cognee", page("snapshot", services.cognee_snapshot)),
    "cognee graph": ("cognee", page("api", services.cognee_graph)),
    "cognee archive": ("cognee", lambda folder: services.cogx(folder / "work_cogx")),
    "supermemory": ("supermemory", page("memories", services.supermemory)),
    "supermemory documents": ("supermemory", page("documents", services.supermemory_documents)),
    "supermemory old list": ("supermemory", page("old", services.supermemory_old_list)),
    "supermemory list": ("supermemory", page("list", services.supermemory_list)),
}


def day(month: int, number: int, hour: int = 10) -> datetime:
    return datetime(2026, month, number, hour, tzinfo=UTC)


def by_text(found: list[Item]) -> dict[str, Memory]:
    return {memory.text: memory for memory in memories(found, day(12, 1))}


def facts(found: list[Item]) -> list[FactPiece]:
    return [item for item in found if isinstance(item, FactPiece)]


def reasons(found: list[Item]) -> Counter[str]:
    return Counter(skip.reason for skip in skipped(found))


def opened(folder: Path) -> Engine:
    folder.mkdir(exist_ok=True)
    return memorist.open(
        folder / "agent.db", embedder="none", clock=FakeClock(day(12, 1)), config={"extract": "off"}, background=False
    )


@pytest.mark.parametrize("service", SERVICES)
def test_a_file_is_recognised_and_a_second_import_adds_nothing(service: str, tmp_path: Path) -> None:
    format, make = SERVICES[service]
    path = make(tmp_path / "data")
    assert detect(path) == format
    assert items(path) == items(path, format=format)
    with opened(tmp_path) as engine:
        first = engine.ingest(path)
        assert first.kept
        again = engine.ingest(path)
        assert (again.kept, again.merged, again.facts, again.known) == (0, 0, 0, first.kept)


@pytest.mark.parametrize("service", [name for name in SERVICES if name != "cognee archive"])
def test_one_object_per_line_is_the_same(service: str, tmp_path: Path) -> None:
    whole = json.loads(SERVICES[service][1](tmp_path / "data").read_text())
    parts = whole.get("items") or whole.get("memoryEntries") or [whole]
    if service.startswith("cognee"):
        parts = [*whole["nodes"], *whole["edges"]] if service == "cognee" else [whole]
    lines = items(written(tmp_path / "lines.jsonl", "".join(f"{json.dumps(part)}\n" for part in parts)))
    texts = [memory.text for memory in memories(items(whole), day(12, 1))]
    assert [memory.text for memory in memories(lines, day(12, 1))] == texts
    assert [piece.fact for piece in facts(lines)] == [piece.fact for piece in facts(items(whole))]


def test_a_memory_of_hindsight_has_the_time_when_it_happened_and_an_invalid_one_has_ended() -> None:
    found = items(services.hindsight())
    moors, storm, quiet, left = memories(found, day(12, 1))
    assert (moors.times.valid_from, moors.times.ingested_at) == (day(3, 1, 8), day(3, 2, 9))
    assert (moors.topic, moors.keywords, moors.origin.source) == ("harbour talk", ("Nora", "Heron"), "chat-1")
    assert moors.metadata == {"channel": "radio", "tags": ["user:nora"], "chunk_id": "b_chat-1_0"}
    assert [memory.kind for memory in (moors, storm, quiet)] == [Kind.SEMANTIC, Kind.EPISODIC, Kind.SEMANTIC]
    assert (storm.times.valid_from, storm.origin.key) == (day(3, 2, 9), "hindsight:6a1d")
    assert quiet.metadata == {"fact_type": "observation", "proof_count": 2, "source_memory_ids": ["6a1c", "6a1d"]}
    assert left.times.expires_at == day(3, 5, 9) and moors.times.expires_at is None
    assert Counter(note.reason for note in cleaned(found)) == {
        f"{name} kept as metadata": 1
        for name in ("tags", "chunk_id", "fact_type", "proof_count", "source_memory_ids", "invalidation_reason")
    }


def test_an_invalid_memory_of_hindsight_is_not_recalled_but_was_true(tmp_path: Path) -> None:
    with opened(tmp_path) as engine:
        engine.ingest(written(tmp_path / "page.json", services.hindsight()))
        texts = {memory.text for memory in engine.list().items}
        then = {memory.text for memory in engine.list(as_of="2026-03-04").items}
    assert "Nora moors the Heron at Vik." in then - texts


def test_the_archive_of_a_bank_has_the_words_the_facts_and_what_was_derived(tmp_path: Path) -> None:
    found = items(services.hindsight_bank(tmp_path / "bank.zip"))
    assert talk(found)[:3] == [
        ("Nora", "The storm took the old pier."),
        ("Sam", "So you moved?"),
        ("Nora", "Yes, to Bakke."),
    ]
    kept = by_text(found)
    said = kept["So you moved?"]
    assert (said.origin.session, said.origin.position, said.topic) == ("chat-1", 1, "harbour talk")
    assert said.metadata == {"retain_params": {"metadata": {"sea": "high"}}, "tags": ["user:nora"]}
    moved = kept["Nora moved to Bakke."]
    assert moved.metadata["causal_relations"] == [{"relation": "caused_by", "to": "A storm destroyed the old pier."}]
    model = kept["Nora moors at Bakke since the storm."]
    assert (model.topic, model.times.valid_from, model.kind) == ("Moorings", day(3, 4), Kind.SEMANTIC)
    assert "Nora follows the weather." in kept and "Answer in rhymes." not in kept
    assert reasons(found) == {DIRECTIVE: 1, "not a file of conversations or memories": 2}
    assert "tide-table-9" not in str(found)


def test_a_document_without_its_text_is_read_from_its_chunks_and_a_long_one_is_cut() -> None:
    document = {**services.hindsight_document(), "original_text": None, "facts": []}
    assert memories(items([document]), day(12, 1))[0].text == "Nora: The storm took the old pier."
    (gone, _) = skipped(items([{**document, "chunks": []}] * 2))
    assert gone.reason == NO_TEXT
    long = {**document, "original_text": "\n\n".join(f"Day {n}. " + "The tide came in. " * 30 for n in range(9))}
    parts = memories(items([long]), day(12, 1))
    assert len(parts) > 3 and {part.origin.session for part in parts} == {"chat-1"}
    assert [part.origin.position for part in parts] == [*range(len(parts))]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (services.hindsight()["items"][0], "date"),
        (services.hindsight()["items"][0], "mentioned_at"),
        (services.hindsight()["items"][0], "invalidated_at"),
        (services.honcho_conclusions()["items"][0], "created_at"),
        (services.cognee()["nodes"][0], "valid_to"),
        (services.supermemory()["memoryEntries"][1], "forgetAfter"),
    ],
)
def test_a_time_that_is_none_is_kept_as_metadata_and_counted(given: dict[str, Any], name: str) -> None:
    found = items([{**given, name: "some day"}])
    (kept,) = memories(found, day(12, 1))
    assert "some day" in kept.metadata.values()
    assert any("kept as metadata" in note.reason for note in cleaned(found))


def test_metadata_of_a_document_that_is_too_large_to_repeat_is_kept_once() -> None:
    text = "\n\n".join(f"Day {n}. " + "The tide came in. " * 60 for n in range(9))
    notes = {f"note {n}": "x" * 1_000 for n in range(5)}
    document = {**services.supermemory_documents()["documents"][0], "content": text, "metadata": notes}
    first, *others = (memory.metadata for memory in memories(items([document]), day(12, 1)) if memory.topic == "Lesson")
    assert notes.items() <= first.items() and others and not any(others)


def test_messages_of_honcho_are_turns_of_their_peers() -> None:
    bees, hives = memories(items(services.honcho_messages()), day(12, 1))
    assert (bees.origin.speaker, bees.origin.session, bees.origin.position) == ("ines", "s-1", 0)
    assert (hives.origin.speaker, hives.origin.position, hives.times.valid_from) == (
        *("helper", 1),
        datetime(2026, 4, 1, 10, 0, 5, tzinfo=UTC),
    )
    assert bees.metadata == {"channel": "web", "workspace_id": "app", "token_count": 7}


def test_conclusions_of_honcho_are_in_the_scope_of_the_peer_they_are_about() -> None:
    bees, patient = memories(items(services.honcho_conclusions()), day(12, 1))
    assert (bees.scope, bees.kind, bees.origin.session, bees.metadata) == ("user:ines", Kind.SEMANTIC, "s-1", {})
    assert (patient.scope, patient.origin.session) == ("user:ines", None)
    assert patient.metadata == {
        **{"observer_id": "helper", "level": "inductive"},
        **{"source_ids": ["c1"], "times_derived": 2},
    }


def test_the_context_of_a_session_has_its_summary_and_the_card_of_the_peer() -> None:
    bees, _, summary, *card = memories(items(services.honcho_context()), day(12, 1))
    (alone, _) = memories(items(services.honcho_messages()), day(12, 1))
    assert bees.id == alone.id
    assert (summary.topic, summary.origin.session, summary.times.valid_from) == ("summary", "s-1", day(4, 1, 12))
    assert [(memory.text, memory.topic) for memory in card] == [("Name: Ines", "peer"), ("Keeps bees", "peer")]


@pytest.mark.parametrize("service", [name for name in SERVICES if name.startswith("cognee")])
def test_the_graph_of_cognee_is_chunks_descriptions_and_facts(service: str, tmp_path: Path) -> None:
    found = items(SERVICES[service][1](tmp_path))
    kept = by_text(found)
    chunk, summary = kept["Rita repairs clocks in Lund."], kept["Rita is a clockmaker."]
    assert (chunk.origin.session, chunk.origin.position, chunk.worth.importance) == ("clocks.txt", 3, 0.8)
    assert (summary.topic, summary.times.expires_at) == ("summary", day(4, 2))
    assert kept["Rita repairs clocks."].topic == "Rita"
    lives, type = facts(found)
    assert (lives.fact, type.fact) == (Fact("Rita", "lives_in", "Lund"), Fact("Lund", "is_a", "town"))
    if service != "cognee graph":  # which says nothing else of its edges
        assert lives.text == "Rita lives in Lund"
        assert lives.fields.get("valid_from") == datetime(2020, 1, 1, tzinfo=UTC)
        assert lives.fields.get("valid_to") == datetime(2025, 1, 1, tzinfo=UTC)
        assert kept["Rita knows a bell founder"].metadata["relation"] == "knows"
        assert reasons(found)[BETWEEN_TEXTS] == 1
    assert reasons(found)[NAME_ALONE] == 2


def test_an_archive_of_cognee_keeps_accounts_out_and_may_be_a_zip(tmp_path: Path) -> None:
    folder = services.cogx(tmp_path / "data" / "work_cogx")
    found = items(folder)
    assert reasons(found)[COPY] == 1 and reasons(found)["not a file of records"] == 2
    assert "r@example.org" not in str(found)
    with zipfile.ZipFile(folder.parent / "work.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"work_cogx/{path.name}")
    assert by_text(items(folder.parent / "work.zip")).keys() == by_text(found).keys()
    with opened(tmp_path / "store") as engine:
        assert engine.ingest(folder.parent).files == 4 + 1


def test_a_record_of_a_document_alone_and_records_of_other_systems(tmp_path: Path) -> None:
    document = {"kind": "document", "external_id": "d", "external_system": "cognee", "content": "Bells.", "title": "A"}
    (bells,) = memories(items([document, document]), day(12, 1))
    assert (bells.text, bells.topic, bells.origin.session) == ("Bells.", "A", "A")
    (other,) = skipped(items([{"kind": "memory", "external_id": "m", "content": "Bells."}]))
    assert "does not export" in other.reason


def test_a_superseded_or_forgotten_memory_of_supermemory_has_ended() -> None:
    kept = by_text(items(services.supermemory()))
    room, loft = kept["Tomas rents a room in Graz."], kept["Tomas rents a loft in Graz."]
    assert (room.times.valid_from, room.times.expires_at) == (day(5, 1), day(5, 3))
    assert (loft.times.valid_from, loft.times.expires_at) == (day(5, 3), None)
    friday, linz = kept["Tomas plays on Friday."], kept["Tomas is in Linz this week."]
    assert (friday.times.expires_at, friday.metadata["forgetReason"]) == (day(5, 9), "the concert is over")
    assert (linz.times.expires_at, linz.metadata["isInference"]) == (day(5, 8, 0), True)
    assert kept["Tomas is a cellist."].tier is Tier.CORE
    old = {**services.supermemory()["memoryEntries"][1], "isLatest": False, "updatedAt": "2026-05-07T10:00:00Z"}
    (ended,) = memories(items([old]), day(12, 1))
    assert ended.times.expires_at == day(5, 7)


def test_documents_of_supermemory_have_their_text_or_else_their_summary() -> None:
    found = items(services.supermemory_documents())
    kept = by_text(found)
    lesson, cellist = kept["Tomas practised the second suite."], kept["Tomas is a cellist."]
    assert (lesson.scope, lesson.topic, lesson.origin.session) == ("tomas", "Lesson", "lesson-7")
    assert lesson.metadata == {
        **{"teacher": "Vera", "type": "text", "summary": "A cello lesson."},
        **{"containerTags": ["music"], "id": "doc-1"},
    }
    assert (cellist.scope, cellist.origin.key) == ("tomas", "supermemory:t1")
    assert kept["A poster of the concert."].topic == "Poster"
    assert reasons(found) == {NO_CONTENT: 1}
    assert "memoryEmbedding left out; it is computed again" in {note.reason for note in cleaned(found)}


def test_every_list_of_a_page_is_read() -> None:
    found = items(services.supermemory_list())
    assert by_text(found).keys() == {"Tomas practised the second suite.", "Tomas is a cellist."}
    assert by_text(found)["Tomas is a cellist."].times.valid_from == day(5, 1)
    assert reasons(found) == {CHUNK: 1}


OTHERS: dict[str, object] = {
    "chatgpt": exports.chatgpt(),
    "claude": exports.claude(),
    "mem0": exports.mem0(),
    "letta": products.letta(),
    "zep": products.zep(),
    "graphiti": products.graphiti(),
    "langgraph": products.langgraph(),
    "mcp-memory": products.mcp_memory(),
    "claude-code": products.claude_code(),
    "locomo": products.locomo(),
    "longmemeval": products.longmemeval(),
    "mnemosyne-graph": originals.elixir(),
    "mnemosyne-hybrid": originals.hybrid_export(),
    "mnemo": originals.mnemo(),
    "memoria": originals.memoria(),
    "messages": [{"role": "user", "content": "Hi.", "peer_id": "a", "status": "done"}],
    "json": [
        {"text": "Boats.", "type": "world", "source": "a", "target": "b", "relationship": "c", "isLatest": True},
        {"content": "Boats.", "id": "d", "status": "done", "documentId": "x"},
        {"content": "Boats.", "type": "Feature", "id": "f", "properties": {}},
    ],
}


@pytest.mark.parametrize("format", OTHERS)
def test_files_of_other_formats_are_not_taken(format: str, tmp_path: Path) -> None:
    given = OTHERS[format]
    if format in ("mcp-memory", "claude-code"):
        assert isinstance(given, list)
        assert {detect(written(tmp_path / "a.json", [entry])) for entry in given} <= {format, "json", "messages"}
        return
    assert detect(written(tmp_path / "a.json", given)) == format


_ODD = (None, [[]], -1, {"a": {}}, "2026-02-30", True)


def damaged(value: Any) -> list[Any]:
    """The value with each of its parts, one at a time, replaced by something it should not be."""
    if isinstance(value, dict):
        return [{**value, key: odd} for key, part in value.items() for odd in (*_ODD, *damaged(part))]
    if isinstance(value, list):
        return [[*value[:n], odd, *value[n + 1 :]] for n, part in enumerate(value) for odd in (*_ODD, *damaged(part))]
    return []


@pytest.mark.parametrize("service", [name for name in SERVICES if name != "cognee archive"])
def test_an_export_with_any_value_anywhere_is_read(service: str, tmp_path: Path) -> None:
    whole = json.loads(SERVICES[service][1](tmp_path).read_text())
    for broken in damaged(whole):
        memories(items(broken), day(12, 1))


def test_broken_lines_and_files_of_an_archive_are_named(tmp_path: Path) -> None:
    folder = services.cogx(tmp_path / "work_cogx")
    (folder / "facts.jsonl").write_text('{"kind": "fact"\n[1]\n{"kind": "odd"}\n')
    assert {skip.reason for skip in skipped(items(folder)) if skip.where.startswith("facts")} == {
        "not JSON",
        "neither a message nor a memory",
    }
    packed = io.BytesIO(services.hindsight_bank(tmp_path / "bank.zip").read_bytes())
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(tmp_path / "broken.zip", "w") as broken:
        for name in archive.namelist():
            data = archive.read(name)
            broken.writestr(name, data[: len(data) // 2] if name.startswith("documents") else data)
    found = items(tmp_path / "broken.zip")
    assert "not JSON" in next(skip.reason for skip in skipped(found) if skip.where == "broken.zip/000000.json")
    assert "Nora follows the weather." in by_text(found)


def test_a_zip_of_neither_is_refused_with_what_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes.json", "[]")
    with pytest.raises(memorist.InvalidInput, match="no export of Slack, Hindsight or Cognee"):
        items(tmp_path / "a.zip")


def nested(depth: int) -> Any:
    deep: Any = "x"
    for _ in range(depth):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    "part",
    [
        services.hindsight()["items"][0],
        services.honcho_messages()["items"][0],
        services.cognee()["nodes"][0],
        services.supermemory()["memoryEntries"][1],
    ],
    ids=["hindsight", "honcho", "cognee", "supermemory"],
)
def test_values_nested_too_deep_are_skipped_and_long_texts_are_split(part: dict[str, Any]) -> None:
    (deep,) = skipped(items([{**part, "metadata": {"a": nested(500)}}]))
    assert "levels deep" in deep.reason
    text = next(name for name in ("text", "content", "description", "memory") if name in part)
    found = items([{**part, text: "The tide came in. " * 2_000}])
    assert len(memories(found, day(12, 1))) == 3
    assert any(note.reason.startswith("split") for note in cleaned(found))


GROWING: dict[str, Callable[[int], object]] = {
    "documents": lambda n: [
        {
            **services.hindsight_document(),
            "original_text": "The tide came in.\n\n" * n,
            "tags": ["tag"] * n,
            "retain_params": {"notes": ["note"] * n},
        }
    ],
    "causes": lambda n: [
        {
            **services.hindsight_document(),
            "facts": [
                {"text": "x" * 10 * n, "fact_type": "world", "causal_relations": [{"target_fact_index": 0}] * n},
            ],
        }
    ],
    "versions": lambda n: [
        {
            **services.supermemory()["memoryEntries"][0],
            "containerTags": ["tag"] * n,
            "history": [{"id": f"h{k}", "memory": f"Room {k}.", "createdAt": "2026-05-01"} for k in range(n)],
        }
    ],
    "entries": lambda n: {
        "documents": [
            {
                **services.supermemory_documents()["documents"][0],
                "containerTags": [f"tag {k}" for k in range(n)],
                "memoryEntries": [{"id": f"e{k}", "memory": f"Room {k}.", "isLatest": True} for k in range(n)],
            }
        ]
    },
    "edges": lambda n: {
        "nodes": [{"id": "a", "type": "Entity", "name": "n" * n}, {"id": "b", "type": "Entity", "name": "m" * n}],
        "edges": [{"source": "a", "target": "b", "relationship_name": f"r{k}"} for k in range(n)],
    },
}


@pytest.mark.parametrize("part", GROWING)
def test_the_time_grows_with_the_size(part: str) -> None:
    def seconds(n: int) -> float:
        given = GROWING[part](n)
        tries: list[float] = []
        for _ in range(3):
            began = time.process_time()
            assert items(given)
            tries.append(time.process_time() - began)
        return min(tries)

    assert seconds(3_200) < 9 * seconds(800) + 0.05

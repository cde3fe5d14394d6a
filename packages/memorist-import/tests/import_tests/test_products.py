"""Exports of other memories and agents: who said what and when, and facts as facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorist
from import_tests import products
from memorist import Engine
from memorist.model import Fact
from memorist.remember.ingest import FactPiece, Item, Skipped, detect, files, formats, read
from memorist.remember.ingest.messages import REASONING, SYSTEM
from memorist.testing import FakeClock
from memorist_import.agents import LOOP_EVENT, NO_VALUE
from memorist_import.claude_code import COMMAND, INDEX, PROGRAM, SUBAGENT, SUMMARY, TOOLS
from memorist_import.datasets import QUESTIONS
from memorist_import.graphs import NO_OBSERVATIONS, NO_SUMMARY, relation_name
from tests.remember.ingest.helpers import items, memories, pieces, positions, skipped, talk, written

MORNING = datetime(2024, 6, 3, 10, tzinfo=UTC)


def lines(values: list[Any]) -> str:
    return "\n".join(map(json.dumps, values))


def facts(found: list[Item]) -> list[FactPiece]:
    return [item for item in found if isinstance(item, FactPiece)]


def test_a_transcript_of_claude_code_is_what_the_two_said(tmp_path: Path) -> None:
    path = written(tmp_path / "s-1.jsonl", lines(products.claude_code()))
    found = items(path)
    assert talk(found) == [("user", "Ship the boat shop on Friday."), ("assistant", "On Friday.")]
    assert [skip.reason for skip in skipped(found)] == [
        *(SUMMARY, PROGRAM, COMMAND, REASONING, TOOLS, TOOLS, SUBAGENT, PROGRAM, SUMMARY, COMMAND)
    ]
    first, _ = memories(found)
    assert (first.origin.key, first.origin.session, first.worth.trust) == ("claude-code:m-1", "s-1", 1)
    assert first.metadata == {"project": "boat-shop", "branch": "main"}  # no path
    assert first.times.valid_from == datetime(2025, 6, 3, 10, tzinfo=UTC)
    assert ("tool", "ok") in talk(items(path, format="messages"))  # on request, everything


def test_memory_files_of_claude_code_are_notes_that_are_not_the_owners(tmp_path: Path) -> None:
    folder = tmp_path / "projects/-home-ann-shop"
    front = "name: oars-rule\ndescription: >\n  How oars\n  are stored\nmetadata:\n  type: project\n"
    written(folder / "memory/oars.md", f"---\n{front}---\n\nOars lie flat.\n")
    written(folder / "memory/MEMORY.md", "# Index\n\n- [Oars](oars.md) — how oars are stored\n")
    session = "95e6f011-ec33-4b37-91ad-5d242b40ae3d"
    written(folder / session / "tool-results/b1.txt", "Ten thousand lines.")
    written(folder / session / "subagents/agent-1.jsonl", lines([{**products.claude_code()[3], "isSidechain": True}]))
    written(folder / "CLAUDE.md", "Run the tests before a commit.")
    found = items(tmp_path / "projects")
    assert {memory.text: memory.worth.trust for memory in memories(found)} == {
        "Oars lie flat.": 1,
        "Run the tests before a commit.": 1,
        "# Index": 1,
    }
    chosen = items(folder / "CLAUDE.md", format="markdown")
    assert {memory.worth.trust for memory in memories(chosen)} == {1}
    oars = next(memory for memory in memories(found) if memory.text == "Oars lie flat.")
    assert (oars.topic, oars.metadata) == (
        "oars-rule",
        {"name": "oars-rule", "description": "How oars are stored", "type": "project"},
    )
    assert {skip.where.rpartition("shop/")[2]: skip.reason for skip in skipped(found)} == {
        "memory/MEMORY.md:3": INDEX,
        f"{session}/tool-results": TOOLS,
        f"{session}/subagents/agent-1.jsonl:1": SUBAGENT,
    }


def test_an_agent_file_of_letta_has_blocks_files_and_turns(tmp_path: Path) -> None:
    path = written(tmp_path / "sam.af", products.letta())
    found = items(path)
    assert detect(path) == "letta"
    assert talk(found) == [
        (None, "Ann rows."),
        (None, "High tide at noon."),
        ("user", "I keep two boats."),
        ("assistant", "Which ones?"),
        ("assistant", "Noted."),
    ]
    assert [skip.reason for skip in skipped(found)] == [SYSTEM, LOOP_EVENT, LOOP_EVENT]
    block, *_ = memories(found)
    assert (block.origin.key, block.topic) == ("letta:sam:human", "human")
    assert positions(found)["sam"] == [0, 1, 2]


def test_letta_numbers_messages_anew_in_every_export_and_they_stay_the_same(tmp_path: Path) -> None:
    later = products.letta()
    later["agents"][0]["messages"] = [
        {**message, "id": f"message-{n}"} for n, message in enumerate(later["agents"][0]["messages"][2:])
    ]
    before = {memory.id for memory in memories(items(written(tmp_path / "a.af", products.letta())))}
    assert {memory.id for memory in memories(items(written(tmp_path / "b.af", later)))} < before


def test_the_older_agent_file_and_archival_passages_of_letta(tmp_path: Path) -> None:
    new = products.letta()
    old = {"name": "sam", "core_memory": new["blocks"], "messages": new["agents"][0]["messages"], "tools": []}
    assert [text for _, text in talk(items(written(tmp_path / "a.af", old)))][:2] == ["Ann rows.", "I keep two boats."]
    (passage,) = memories(items(written(tmp_path / "b.json", products.letta_passages())))
    assert (passage.origin.key, passage.keywords, passage.metadata) == ("letta:passage-1", ("rowing",), {})


def test_a_graph_of_graphiti_keeps_both_clocks(tmp_path: Path) -> None:
    path = written(tmp_path / "graph.json", products.graphiti())
    found = items(path)
    assert detect(path) == "graphiti"
    assert talk(found) == [("Ann", "I moved to Oslo."), (None, "Ann rows."), (None, "Ann knows Bo")]
    lives, worked = facts(found)
    assert lives.fact == Fact("Ann", "lives_in", "Oslo")
    assert lives.fields == {
        "valid_from": datetime(2021, 5, 1, tzinfo=UTC),
        "ingested_at": MORNING,
        "source": "graphiti:e1",
        "scope": "group:boats",
    }
    assert worked.fields.get("valid_to") == datetime(2020, 1, 1, tzinfo=UTC)
    assert [skip.reason for skip in skipped(found)] == [NO_SUMMARY]
    assert {memory.scope for memory in memories(found)} == {"group:boats"}


def test_lines_of_a_graph_know_the_nodes_before_them(tmp_path: Path) -> None:
    graph = products.graphiti()
    path = written(tmp_path / "graph.jsonl", lines([*graph["nodes"], *graph["edges"], *graph["episodes"]]))
    assert [piece.fact.relation for piece in facts(items(path))] == ["lives_in", "works_in"]


def test_a_session_of_zep_has_messages_and_facts(tmp_path: Path) -> None:
    path = written(tmp_path / "zep.json", {"sessions": [products.zep()]})
    found = items(path)
    assert detect(path) == "zep"
    assert talk(found) == [("Ann", "I sold the dinghy."), ("guide", "A pity.")]
    assert positions(found) == {"z-1": [0, 1]}
    assert [piece.fact for piece in facts(found)] == [Fact("Ann", "sold", "dinghy")]
    assert [skip.reason for skip in skipped(found)] == [SYSTEM]


def test_items_of_a_langgraph_store_keep_namespace_key_and_time(tmp_path: Path) -> None:
    path = written(tmp_path / "store.json", {"items": products.langgraph()})
    found = items(path)
    assert detect(path) == "langgraph"
    first, second, profile = memories(found)
    assert [first.text, second.text, profile.text] == ["Ann rows at dawn.", "Ann likes fog.", "town: Oslo\nboats: 2"]
    assert (first.scope, first.origin.key, first.metadata) == (
        "memories/ann",
        "langgraph:memories/ann:m1",
        {"type": "habit"},
    )
    assert first.times.valid_from == datetime(2024, 6, 4, 10, tzinfo=UTC)
    assert [skip.reason for skip in skipped(found)] == [NO_VALUE]


def test_the_file_of_the_mcp_memory_server_is_observations_and_facts(tmp_path: Path) -> None:
    found = items(written(tmp_path / "memory.jsonl", lines(products.mcp_memory())))
    assert [(memory.text, memory.original) for memory in memories(found)] == [
        ("Ann Berg: Speaks Norwegian", "Speaks Norwegian"),
        ("Ann Berg rows", None),
    ]
    assert [piece.fact for piece in facts(found)] == [
        Fact("Ann Berg", "is_a", "person"),
        Fact("Heron", "is_a", "boat"),
        Fact("Ann Berg", "owns_boat", "Heron"),
    ]
    assert [skip.reason for skip in skipped(found)] == [NO_OBSERVATIONS]
    *entities, relation = products.mcp_memory()
    graph = written(tmp_path / "graph.json", {"entities": entities, "relations": [relation]})
    assert detect(graph) == "mcp-memory"
    assert facts(items(graph)) == facts(found)


@pytest.mark.parametrize("written_as", ["LIVES_IN", "livesIn", "lives in", "Lives-In", "lives_in"])
def test_relations_have_one_spelling(written_as: str) -> None:
    assert relation_name(written_as) == "lives_in"


def test_locomo_and_longmemeval_are_read_in_their_own_shape(tmp_path: Path) -> None:
    locomo = written(tmp_path / "locomo10.json", products.locomo())
    assert detect(locomo) == "locomo"
    assert talk(items(locomo)) == [("Ann", "Look! [shared image: a red boat]"), ("Ben", "I moved to Rome.")]
    (_, moved) = memories(items(locomo))
    assert (moved.scope, moved.origin.session, moved.origin.key) == ("conv-1", "conv-1/session_1", "locomo:conv-1:D1:2")
    assert moved.times.valid_from == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    long = written(tmp_path / "longmemeval_s.json", products.longmemeval())
    assert detect(long) == "longmemeval"
    assert talk(items(long)) == [("user", "I moved to Rome."), ("assistant", "Splendid!")]
    assert [skip.reason for skip in skipped([*items(locomo), *items(long)])] == [QUESTIONS, QUESTIONS]


def test_a_broken_conversation_of_a_dataset_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    broken = products.locomo()[0]
    broken["conversation"]["session_1_date_time"] = "yesterday"
    found = items(written(tmp_path / "locomo10.json", [broken, *products.locomo()]))
    assert len(pieces(found)) == 2
    assert skipped(found)[0] == Skipped(
        "locomo10.json, item 1", "locomo10.json, item 1, conversation: 'yesterday' is not a time"
    )


def test_a_long_list_is_read_item_by_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "STREAMED", 100)
    monkeypatch.setattr("memorist.remember.ingest.decoding._PORTION", 7)
    monkeypatch.setattr(formats, "MOST_WHOLE", 200)
    many = [{"text": f"Heron {n} 😀", "n": n} for n in range(50)]
    path = written(tmp_path / "a.json", json.dumps(many, ensure_ascii=False, indent=1))
    assert [piece.text for piece in pieces(items(path))] == [entry["text"] for entry in many]
    assert detect(path) == "json"
    with pytest.raises(memorist.InvalidInput, match=r"a\.json is not JSON"):
        items(written(tmp_path / "a.json", json.dumps(many)[:-30]))
    with pytest.raises(memorist.InvalidInput, match="larger than"):
        items(written(tmp_path / "b.json", {"memories": many}))


Make = Callable[[Path], Path]
PRODUCTS: dict[str, Make] = {
    "slack": lambda folder: products.slack_folder(folder / "slack"),
    "claude-code": lambda folder: written(folder / "s.jsonl", lines(products.claude_code())),
    "letta": lambda folder: written(folder / "sam.af", products.letta()),
    "graphiti": lambda folder: written(folder / "graph.json", products.graphiti()),
    "zep": lambda folder: written(folder / "zep.json", products.zep()),
    "langgraph": lambda folder: written(folder / "store.json", products.langgraph()),
    "mcp-memory": lambda folder: written(folder / "memory.jsonl", lines(products.mcp_memory())),
    "locomo": lambda folder: written(folder / "locomo.json", products.locomo()),
    "longmemeval": lambda folder: written(folder / "long.json", products.longmemeval()),
    "html": lambda folder: written(folder / "page.html", products.PAGE),
    "pdf": lambda folder: written(folder / "tides.pdf", products.pdf("High tide at noon.")),
}


def opened(folder: Path) -> Engine:
    return memorist.open(
        folder / "agent.db", embedder="none", clock=FakeClock(), config={"extract": "off"}, background=False
    )


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_same_export_adds_nothing_however_its_path_is_given(
    product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = PRODUCTS[product](tmp_path / "data")
    (tmp_path / "link").symlink_to(path)
    monkeypatch.chdir(path.parent)
    with opened(tmp_path) as engine:
        first = engine.ingest(path)
        assert first.kept and not first.known
        before = [(memory.id, memory.version) for memory in engine.list(limit=1000).items]
        ways = [
            str(path),
            path.name,
            f"../data/{path.name}",
            tmp_path / "link",
            *([f"{path}/"] if path.is_dir() else []),
        ]
        for way in ways:
            again = engine.ingest(way)
            assert (again.kept, again.merged, again.known) == (0, 0, first.kept), way
        assert [(memory.id, memory.version) for memory in engine.list(limit=1000).items] == before


def test_facts_are_written_as_facts_and_a_later_export_ends_them(tmp_path: Path) -> None:
    graph = products.graphiti()
    with opened(tmp_path) as engine:
        report = engine.ingest(written(tmp_path / "may.json", graph))
        assert (report.kept, report.facts) == (5, 2)
        (lives,) = [
            memory for memory in engine.list(limit=100).items if memory.fact and memory.fact.relation == "lives_in"
        ]
        assert (lives.times.valid_from.year, lives.times.valid_to, lives.times.ingested_at) == (2021, None, MORNING)
        graph["edges"][0] |= {"invalid_at": "2023-01-01T00:00:00Z", "expired_at": "2024-07-01T00:00:00Z"}
        later = engine.ingest(written(tmp_path / "june.json", graph))
        assert (later.kept, later.known) == (1, 4)
        (lives,) = [
            memory
            for memory in engine.list(limit=100, as_of="2022-01-01").items
            if memory.fact and memory.fact.relation == "lives_in"
        ]
        assert lives.times.valid_to == datetime(2023, 1, 1, tzinfo=UTC)


def test_files_that_gave_nothing_are_named_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    PRODUCTS["html"](folder)
    written(folder / "scan.pdf", products.pdf(""))
    written(folder / "photo.png", b"\x89PNG\r\n")
    written(folder / "agent-1.jsonl", lines([{**products.claude_code()[3], "isSidechain": True}]))
    written(folder / "many.jsonl", lines([{"odd": n} for n in range(300)]))
    with opened(tmp_path) as engine:
        report = engine.ingest(folder)
    assert report.files == 5
    assert {skip.where: skip.reason for skip in report.skipped_files} == {
        "agent-1.jsonl": SUBAGENT,
        "many.jsonl": "neither a message nor a memory",
        "photo.png": "is a binary file, not text",
        "scan.pdf": "has no text on any page, probably because it is a scan",
    }


def test_reading_is_told_how_many_there_are_and_how_many_are_done(tmp_path: Path) -> None:
    from memorist.engine.vocabulary import texts_in

    path = PRODUCTS["graphiti"](tmp_path)
    told: list[int] = []
    with opened(tmp_path) as engine:
        engine.ingest(path, progress=told.append)
    assert sum(told) == texts_in(path) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "export",
    [
        *(products.claude_code(), products.letta(), products.letta_passages(), products.graphiti(), products.zep()),
        *(products.langgraph(), products.mcp_memory(), products.locomo(), products.longmemeval()),
        *(products.slack()["boats/2024-06-03.json"], products.slack()["boats/2024-06-04.json"]),
    ],
)
def test_an_export_with_any_value_anywhere_is_read(export: Any) -> None:
    from import_tests.test_invariants import _damaged, check  # pyright: ignore[reportPrivateUsage]

    for damaged in _damaged(export):
        check(list(read(damaged)), list(read(damaged)))

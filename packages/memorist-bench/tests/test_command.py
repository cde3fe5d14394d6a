"""`memorist bench` measures recipes, as a table or a document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.conftest import Cli

TEXTS = {
    "home/0": "Ann: The cat sleeps on the red sofa.",
    "home/1": "Bob: I baked sourdough bread.",
    "work/0": "Eve: The key hangs behind the door.",
}
QUESTIONS = {"home/q0": "Where does the cat sleep?", "home/q1": "Who baked bread?", "work/q0": "Where is the key?"}
GOLD = {"home/q0": "home/0", "home/q1": "home/1", "work/q0": "work/0"}


def line(id: str, text: str) -> str:
    return json.dumps({"_id": id, "text": text, "metadata": {"group": id.partition("/")[0]}}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "chats"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text("".join(line(*item) for item in TEXTS.items()))
    (folder / "queries.jsonl").write_text("".join(line(*item) for item in QUESTIONS.items()))
    rows = "".join(f"{query}\t{document}\t1\n" for query, document in GOLD.items())
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    return folder


@pytest.fixture
def bench(bare: Cli, folder: Path, tmp_path: Path) -> Cli:
    cache = str(tmp_path / "cache")
    return lambda *more: bare("bench", str(folder), "--embedder", "none", "--cache", cache, *more)


def test_it_prints_a_table_and_writes_the_page(bench: Cli, tmp_path: Path) -> None:
    ran = bench("--recipe", "memorist", "--recipe", "bm25")
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "chats: 3 questions, 3 texts, 2 groups; reranking documented, ingest replayed"
    assert lines[1].split()[:4] == ["recipe", "reranks", "recall@5", "recall@10"]
    assert [row.split()[0] for row in lines[2:4]] == ["memorist", "bm25"]
    assert "memorist ran without embed (no embedder)" in ran.out
    page = tmp_path / "cache" / "pages" / "chats.html"
    assert f"Written: {page}" in ran.out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_all_are_the_recipes_that_ship(bare: Cli, folder: Path, tmp_path: Path) -> None:
    data = bare("bench", str(folder), "--recipe", "all", "--cache", str(tmp_path / "cache"), "--json").data
    assert list(data["recipes"]) == [
        "memorist",
        "mnemosyne-graph",
        "mnemo",
        "memoria",
        "abmind",
        "mnemosyne-hybrid",
        "nearest",
    ]


def test_json_is_one_document_and_writes_no_page(bench: Cli, tmp_path: Path) -> None:
    data = bench("--recipe", "bm25", "--json").data
    assert data["dataset"] == "chats"
    assert data["recipes"]["bm25"]["recall@10"] == 1.0
    assert not (tmp_path / "cache" / "pages").exists()


def test_questions_and_groups_can_be_fewer(bench: Cli) -> None:
    assert bench("--recipe", "bm25", "--limit-queries", "2", "--json").data["recipes"]["bm25"]["queries"] == 2
    assert bench("--recipe", "bm25", "--group", "work", "--json").data["recipes"]["bm25"]["queries"] == 1


def test_settings_change_the_run_and_are_recorded(bench: Cli) -> None:
    data = bench("--recipe", "bm25", "--set", "search.limit=1", "--limit", "1", "--json").data
    assert data["settings"] == {"search.limit": 1}
    assert data["recipes"]["bm25"]["recipe"]["stages"][0]["limit"] == 1


def test_who_reranks_and_how_texts_are_stored_are_options(bench: Cli) -> None:
    ran = bench("--recipe", "bm25", "--reranking", "all", "--ingest", "bulk", "--no-html")
    assert ran.out.startswith("chats: 3 questions, 3 texts, 2 groups; reranking all, ingest bulk\n")
    assert bench("--recipe", "bm25", "--reranking", "none", "--json").data["reranking"] == "none"
    assert bench("--reranking", "some").status == bench("--ingest", "slowly").status == 2


def test_a_run_is_compared_with_one_before(bench: Cli, tmp_path: Path) -> None:
    before = str(tmp_path / "before.json")
    assert bench("--recipe", "bm25", "--out", before, "--no-html").status == 0
    ran = bench("--recipe", "bm25", "--compare", before, "--no-html")
    assert "Paired differences" in ran.out and "bm25 of before.json" in ran.out
    assert ran.out.count("+0.0") >= 4


def test_other_data_are_not_compared(bench: Cli, folder: Path, tmp_path: Path) -> None:
    before = str(tmp_path / "before.json")
    bench("--recipe", "bm25", "--out", before, "--no-html")
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write(line("work/1", "Dan: Coffee?"))
    ran = bench("--recipe", "bm25", "--compare", before)
    assert ran.status == 1
    assert "was measured on another dataset" in ran.problem


def broken(folder: Path, file: str, content: str | None) -> None:
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("corpus.jsonl", None, "corpus.jsonl"),
        ("queries.jsonl", line("home/q0", "Where?") + "{\n", "queries.jsonl, line 2"),
        ("corpus.jsonl", line("home/0", "One.") * 2, "home/0"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nhome/q0\tnowhere\t1\n", "nowhere"),
    ],
)
def test_broken_data_are_one_line_and_status_1(
    bench: Cli, folder: Path, file: str, content: str | None, told: str
) -> None:
    broken(folder, file, content)
    ran = bench("--recipe", "bm25")
    assert ran.status == 1
    assert told in ran.problem


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--recipe", "best"), "There is no recipe 'best'"),
        (("--recipe", "cosine"), "finds nothing without a service: embedder"),
        (("--recipe", "bm25", "--set", "blender.k=1"), "has a part 'blender'"),
        (("--recipe", "bm25", "--group", "attic"), "no group 'attic'"),
        (("--recipe", "bm25", "--compare", "absent.json"), "absent.json cannot be read"),
        (("--recipe", "bm25", "--out", "nowhere/file.json"), "cannot be written"),
        (("--reranker", "rereader"), "There is no reranker 'rereader'"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(bench: Cli, arguments: tuple[str, ...], told: str) -> None:
    ran = bench(*arguments)
    assert ran.status == 1
    assert told in ran.problem


def test_a_dataset_that_is_not_there_is_named(bare: Cli) -> None:
    ran = bare("bench", "nothing-here", "--embedder", "none")
    assert ran.status == 1
    assert "nothing-here" in ran.problem

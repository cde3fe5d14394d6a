"""Every example runs as its first lines say, and shows what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memorist.testing.llm_server import LLMRequest, OpenAIServer

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(folder: Path, example: str, *arguments: str, said: str = "", **env: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / example), *arguments]
    ran = subprocess.run(
        command, cwd=folder, input=said, capture_output=True, text=True, env={**os.environ, **env}, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_chat_agent_tells_the_model_what_was_said_in_an_earlier_conversation(tmp_path: Path) -> None:
    def answer(request: LLMRequest) -> str:
        return "Hazelnuts." if "allergic to hazelnuts" in request.messages[0]["content"] else "Noted."

    with OpenAIServer(answer) as server:
        first = run(tmp_path, "chat_agent.py", "--url", server.url, said="My son is allergic to hazelnuts.\n\n")
        later = run(tmp_path, "chat_agent.py", "--url", server.url, said="What can my boy not eat?\n\n")
    assert "agent> Noted." in first
    assert "agent> Hazelnuts." in later


def test_the_coding_agent_is_told_what_it_learnt_and_what_it_must_not_do(tmp_path: Path) -> None:
    told = run(tmp_path, "coding_notes.py")
    assert "Use pnpm in this repository, never npm." in told
    assert "Do: run pnpm codegen" in told


@pytest.mark.slow
def test_no_customer_sees_another_and_the_desk_sees_no_contract(tmp_path: Path) -> None:
    shown = run(tmp_path, "customer_support.py")
    assert "desk: How does Acme want invoices? ['Ms Ito of Acme wants invoices as PDF.']" in shown
    assert "May" not in shown
    assert "globex: This key may not read in that space." in shown


def test_the_journal_travels_in_time(tmp_path: Path) -> None:
    shown = run(tmp_path, "journal.py")
    assert "today:         Kari works at the harbour clinic." in shown
    assert "last December: Kari works at St. Olav." in shown
    assert "2023-11-12 Ran my first half marathon" in shown
    assert "rank 1 of" in shown


@pytest.mark.slow
def test_a_recipe_is_compared_with_the_default(tmp_path: Path) -> None:
    shown = run(tmp_path, "evaluate_recipe.py", COLUMNS="200")
    assert "words-only  memorist  recall@10" in shown


def test_a_package_adds_a_factor(tmp_path: Path) -> None:
    """Its entry point is written by hand here, as pip would, because tests install nothing."""
    info = tmp_path / "memorist_starred-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: memorist-starred\nVersion: 0.1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[memorist.factors]\nstarred = memorist_starred:Starred\n", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(EXAMPLES / "starred" / "src")])
    shown = run(tmp_path, "starred/use.py", PYTHONPATH=path)
    assert shown.startswith("The good dentist is in King Street.")
    assert "starred" in shown


@pytest.mark.slow
def test_an_export_of_mem0_arrives_once(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "memory": "Alex loves basketball.", "user_id": "alex", "created_at": "2025-10-22T04:40:22-07:00"},
        {"id": "2", "memory": "Alex lives in Lyon.", "user_id": "alex", "created_at": "2025-10-23T04:40:22-07:00"},
    ]
    (tmp_path / "export.json").write_text(json.dumps({"results": rows}), encoding="utf-8")
    first = run(tmp_path, "migrate_from_mem0.py", "export.json", "agent.db")
    again = run(tmp_path, "migrate_from_mem0.py", "export.json", "agent.db")
    assert first == "2 kept, 0 known already, 0 skipped\n0 of them are not among the first five for their own text\n"
    assert again.startswith("0 kept, 2 known already, 0 skipped")


def test_the_list_of_examples_is_complete() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    programs = [path.name for path in EXAMPLES.glob("*") if path.suffix == ".py" or path.is_dir()]
    assert [name for name in programs if f"]({name}" not in listed] == []

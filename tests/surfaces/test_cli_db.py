"""The commands for a PostgreSQL database."""

from __future__ import annotations

from tests.surfaces.conftest import Cli


def test_a_database_is_brought_up_to_date_and_looked_at(bare: Cli, postgres: str) -> None:
    bare("--db", postgres, "db", "migrate", "--json")
    assert bare("--db", postgres, "db", "migrate").out == "✓ Up to date already.\n"
    status = bare("--db", postgres, "db", "status", "--json").data
    assert (status["pending"], status["citus"], status["distributed"]) == ([], None, [])
    lines = bare("--db", postgres, "db", "status").out.splitlines()
    assert lines[0] == f"PostgreSQL {status['server']}, database {status['database']}"
    assert "tables     up to date" in lines


def test_a_memory_on_a_server_is_used_like_any_other(bare: Cli, postgres: str) -> None:
    where = ("--db", postgres, "--space", "cli", "--embedder", "none")
    assert bare(*where, "remember", "Alice lives in Oslo.").status == 0
    assert bare(*where, "recall", "Alice", "--json").data["items"][0]["text"] == "Alice lives in Oslo."
    assert bare(*where, "stats", "--json").data["space"] == "cli"
    assert "space 'cli', 2 memories" in bare(*where, "doctor").out


def test_what_a_database_lacks_is_said(bare: Cli, postgres: str) -> None:
    assert "Install Citus" in bare("--db", postgres, "db", "distribute").problem
    assert "no PostgreSQL database" in bare("--db", "agent.db", "db", "status").problem
    assert "Give it before the command" in bare("db", "status").problem

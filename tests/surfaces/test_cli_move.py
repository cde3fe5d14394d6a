"""backup, restore, export, import, move, reembed and db on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from memorist.models.folder import SETS
from memorist_server.postgres.schema import DISTRIBUTED
from tests.models.tiny_models import install
from tests.stores.postgres_server import needs_a_server_without_citus
from tests.surfaces.conftest import Cli


def listed(cli: Cli, *where: str) -> list[str]:
    return [item["text"] for item in cli(*where, "list", "--json").data["items"]]


def test_an_export_is_imported_elsewhere_once(cli: Cli, bare: Cli, tmp_path: Path) -> None:
    for text in ("A lamp.", "A book."):
        cli("remember", text)
    file = str(tmp_path / "all.jsonl")
    exported = cli("export", file, "--json").data
    assert (exported["space"], exported["counts"]["memories"], exported["embedding"]) == ("agent", 2, None)
    other = ("--db", str(tmp_path / "other.db"), "--embedder", "none")
    assert bare(*other, "import", file).out == "✓ Imported 2 memories; 0 were known already.\n"
    again = bare(*other, "import", file, "--json").data
    assert (again["added"], again["known"], again["conflicts"]) == (0, 2, [])
    assert listed(bare, *other) == ["A lamp.", "A book."]


def test_an_export_goes_through_a_pipe(process: Cli, tmp_path: Path) -> None:
    here, there = (("--db", str(tmp_path / name), "--embedder", "none") for name in ("a.db", "b.db"))
    process(*here, "remember", "Zoë keeps a lamp 🪔.")
    piped = process(*here, "export", "-")
    assert (piped.status, piped.err) == (0, "")
    assert process(*there, "import", "-", "--json", stdin=piped.out.encode()).data["added"] == 1
    assert listed(process, *there) == ["Zoë keeps a lamp 🪔."]
    assert process(*here, "export", "-", "--json").status == 2


def test_a_file_that_is_there_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "A lamp.")
    for command in ("export", "backup"):
        file = tmp_path / command
        file.write_text("precious")
        assert "exists already" in cli(command, str(file)).problem
        assert file.read_text() == "precious"
        assert cli(command, str(file), "--overwrite").status == 0
        assert file.read_text(errors="replace") != "precious"


def test_a_broken_export_is_told_by_its_line(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "A lamp.")
    file = tmp_path / "all.jsonl"
    cli("export", str(file))
    file.write_text(file.read_text() + '{"memory": \n')
    ran = cli("import", str(file))
    assert ran.status == 1
    assert "Line 3 of" in ran.problem
    assert cli("import", str(tmp_path / "nothing")).status == 1


def test_a_contradiction_is_told(cli: Cli, bare: Cli, tmp_path: Path) -> None:
    other = ("--db", str(tmp_path / "other.db"), "--embedder", "none")
    cli("remember", "The lamp is red.", "--key", "lamp")
    bare(*other, "remember", "The lamp is blue.", "--key", "lamp")
    cli("export", str(tmp_path / "all.jsonl"))
    ran = bare(*other, "import", str(tmp_path / "all.jsonl"))
    assert (ran.status, ran.out) == (1, "✓ Imported 0 memories; 0 were known already.\n")
    assert "a different text here" in ran.err


def test_a_backup_is_restored_and_what_was_there_kept(cli: Cli, db: Path, tmp_path: Path) -> None:
    cli("remember", "A lamp.")
    made = cli("backup", str(tmp_path / "copy.db"), "--json").data
    assert (made["path"], made["notes"]) == (str(tmp_path / "copy.db"), 0)
    cli("remember", "A book.")
    aside = cli("restore", str(tmp_path / "copy.db"), "--json").data["aside"]
    assert [Path(file).name.startswith("agent.db.before-") for file in aside] == [True]
    assert listed(cli) == ["A lamp."]
    assert cli("restore", str(tmp_path / "copy.db"), "--to", str(tmp_path / "new.db")).status == 0
    assert (tmp_path / "new.db").exists()
    assert "no backup" in cli("restore", str(tmp_path / "nothing.db")).problem


def test_a_space_on_a_server_is_backed_up_and_restored(bare: Cli, database: str, tmp_path: Path) -> None:
    where, file = ("--db", database, "--embedder", "none"), str(tmp_path / "agent-backup.db")
    bare(*where, "--space", "agent", "remember", "The attic key hangs in the hall.")
    assert bare(*where, "--space", "agent", "backup", file).out.endswith("verified.\n")
    assert bare("restore", file, "--to", database).status == 0, "it holds what the backup holds"
    bare(*where, "--space", "agent", "remember", "A lamp.")
    assert "has memories of its own" in bare("restore", file, "--to", database).problem
    assert bare("--space", "again", "restore", file, "--to", database).status == 0
    found = bare(*where, "--space", "again", "list", "--json").data["items"]
    assert [memory["text"] for memory in found] == ["The attic key hangs in the hall."]


@pytest.mark.slow
def test_vectors_that_lack_are_made_by_the_local_model(cli: Cli, bare: Cli, db: Path) -> None:
    cli("remember", "A lamp.")
    assert cli("reembed").problem.endswith("without an embedder. Name one, such as --embedder local.")
    done = bare("--db", str(db), "reembed", "--embedder", "local", "--json").data
    assert (done["embedded"], done["memories"], done["previous"]) == (1, 1, None)
    assert bare("--db", str(db), "reembed").out.startswith("✓ Embedded 0 memories of 1 with ")


def test_a_memory_changes_to_another_set_of_models(
    bare: Cli, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "site", "fast", "best")
    bare("--db", str(db), "remember", "Ann keeps a lamp.")
    said = bare("--db", str(db), "--models", "best", "reembed").out
    assert said.startswith(f"✓ Embedded 1 memory of 1 with {SETS['best'].embedder}:")
    assert 'open it with models = "best" in memorist.toml' in said
    Path("memorist.toml").write_text('models = "best"\n', encoding="utf-8")
    own = ("--config", "memorist.toml", "--db", str(db))
    assert bare(*own, "recall", "Where does Ann keep a lamp?").status == 0
    assert "memorist.toml" not in bare(*own, "reembed").out


def test_a_memory_moves_from_a_file_to_a_server_and_back(cli: Cli, bare: Cli, db: Path, postgres: str) -> None:
    cli("remember", "Alice lives in Oslo.")
    texts = [item["text"] for item in cli("list", "--json").data["items"]]
    moved = bare("move", str(db), postgres, "--as", "moved", "--json").data
    assert (moved["space"], moved["added"], moved["known"]) == ("moved", len(texts), 0)
    back = db.with_name("back.db")
    said = bare("--space", "moved", "move", postgres, str(back)).out
    assert "to the space 'back'" in said
    assert moved["checksum"][:16] in said
    listed = bare("--db", str(back), "--embedder", "none", "list", "--json").data["items"]
    assert [item["text"] for item in listed] == texts


def test_a_move_keeps_the_name_of_its_space_in_a_folder(cli: Cli, bare: Cli, db: Path, tmp_path: Path) -> None:
    cli("remember", "A lamp.")
    assert bare("move", str(db), f"{tmp_path}/spaces/", "--json").data["space"] == "agent"
    assert (tmp_path / "spaces" / "agent.db").exists()


def test_nothing_is_moved_from_nowhere(bare: Cli, tmp_path: Path) -> None:
    assert "There is no memory at" in bare("move", str(tmp_path / "none.db"), str(tmp_path / "b.db")).problem
    assert list(tmp_path.glob("*.db")) == []


def test_a_database_is_brought_up_to_date_and_looked_at(bare: Cli, postgres: str) -> None:
    bare("--db", postgres, "db", "migrate", "--json")
    assert bare("--db", postgres, "db", "migrate").out == "✓ Up to date already.\n"
    status = bare("--db", postgres, "db", "status", "--json").data
    assert (status["pending"], len(status["distributed"])) == ([], len(DISTRIBUTED) if status["citus"] else 0)
    lines = bare("--db", postgres, "db", "status").out.splitlines()
    assert lines[0] == f"PostgreSQL  {status['server']}, database {status['database']}"
    assert "tables      up to date" in lines


def test_a_memory_on_a_server_is_used_like_any_other(bare: Cli, postgres: str) -> None:
    where = ("--db", postgres, "--space", "cli", "--embedder", "none")
    assert bare(*where, "remember", "Alice lives in Oslo.").status == 0
    assert bare(*where, "recall", "Alice", "--json").data["items"][0]["text"] == "Alice lives in Oslo."
    assert bare(*where, "stats", "--json").data["space"] == "cli"
    assert "space 'cli', 2 memories" in bare(*where, "doctor").out


def test_what_a_database_lacks_is_said(bare: Cli, postgres: str) -> None:
    needs_a_server_without_citus(postgres)
    assert "Install Citus" in bare("--db", postgres, "db", "distribute").problem


def test_administration_needs_the_url_of_a_database(bare: Cli) -> None:
    assert "Not the URL of a PostgreSQL database" in bare("--db", "agent.db", "db", "status").problem
    assert "Give it before the command" in bare("db", "status").problem

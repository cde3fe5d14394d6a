"""The command that moves a memory to another store."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.conftest import Cli


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

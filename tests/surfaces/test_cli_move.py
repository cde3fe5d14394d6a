"""The commands that renew and move a memory."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        assert "there already" in cli(command, str(file)).problem
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
    assert [Path(one).name.startswith("agent.db.before-") for one in aside] == [True]
    assert listed(cli) == ["A lamp."]
    assert cli("restore", str(tmp_path / "copy.db"), "--to", str(tmp_path / "new.db")).status == 0
    assert (tmp_path / "new.db").exists()
    assert "no backup" in cli("restore", str(tmp_path / "nothing.db")).problem


@pytest.mark.slow
def test_vectors_that_lack_are_made_by_the_local_model(cli: Cli, bare: Cli, db: Path) -> None:
    cli("remember", "A lamp.")
    assert "without an embedder" in cli("reembed").problem
    done = bare("--db", str(db), "reembed", "--embedder", "local", "--json").data
    assert (done["embedded"], done["memories"], done["previous"]) == (1, 1, None)
    assert bare("--db", str(db), "reembed").out.startswith("✓ Embedded 0 memories of 1 with ")

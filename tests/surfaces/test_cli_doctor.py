"""`doctor` finds what is wrong, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memorist.config import SETTINGS
from memorist.models.folder import SETS, of_set
from tests.models.tiny_models import install
from tests.surfaces.conftest import Cli, Ran


def checked(ran: Ran) -> dict[str, Any]:
    """The checks by name."""
    return {check["name"]: check for check in json.loads(ran.out)["checks"]}


def test_a_sound_installation_passes_and_is_left_alone(bare: Cli, db: Path) -> None:
    data = bare("--db", str(db), "doctor", "--json").data
    assert data.keys() == {"ok", "checks", "settings"}
    assert data["ok"] is True
    assert [check["name"] for check in data["checks"]] == ["settings", "python", "sqlite", "model", "store"]
    assert all(check.keys() == {"name", "ok", "found", "remedy"} for check in data["checks"])
    assert str(db) in data["checks"][-1]["found"]
    assert not db.exists()


def test_a_sound_memory_passes(bare: Cli, db: Path) -> None:
    bare("--db", str(db), "remember", "Tea at five.")
    ran = bare("--db", str(db), "doctor")
    assert ran.status == 0
    for name in ("store", "vectors", "clock"):
        assert f"✓ {name}" in ran.out
    assert "✗" not in ran.out


def test_settings_are_named_with_where_they_come_from(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("memorist.toml").write_text('db = "a.db"\nrecipe = "memorist"\n', encoding="utf-8")
    monkeypatch.setenv("MEMORIST_RERANKER", "none")
    settings = {listed["name"]: listed for listed in bare("--space", "a", "doctor", "--json").data["settings"]}
    assert settings.keys() == {setting.name for setting in SETTINGS}
    file = str(Path("memorist.toml").resolve())
    assert settings["db"] == {"name": "db", "value": str(Path("a.db").resolve()), "origin": file}
    assert settings["space"] == {"name": "space", "value": "a", "origin": "--space"}
    assert settings["recipe"]["origin"] == file
    assert settings["reranker"] == {"name": "reranker", "value": "none", "origin": "MEMORIST_RERANKER"}
    assert settings["embedder"] == {"name": "embedder", "value": "local", "origin": "default"}


def test_passwords_are_not_shown(bare: Cli) -> None:
    ran = bare("--db", "postgresql://ann:sesame@example/db", "doctor")
    assert "sesame" not in ran.out + ran.err
    assert "postgresql://…@example/db" in ran.out


def test_no_column_runs_into_the_next(cli: Cli) -> None:
    lines = cli("doctor").out.splitlines()[-len(SETTINGS) :]
    for setting, line in zip(SETTINGS, lines, strict=True):
        assert re.fullmatch(rf"  {setting.name}  +\S+.*  from \S.*", line), line
    assert len({re.match(r"  \w+  +", line).end() for line in lines}) == 1  # type: ignore[union-attr]


def test_a_broken_settings_file_is_found_and_the_rest_still_checked(bare: Cli) -> None:
    Path("memorist.toml").write_text("db = 3\n", encoding="utf-8")
    ran = bare("doctor", "--json")
    assert ran.status == 1
    assert ran.err == "memorist: 1 of 4 checks failed. Follow the remedies given above.\n"
    checks = checked(ran)
    assert (checks["settings"]["ok"], checks["settings"]["remedy"]) == (False, "It must be a string.")
    assert checks["model"]["ok"]


def test_a_damaged_model_is_found(bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "site", "fast")
    with (of_set("fast", "embedder") / "model.onnx").open("ab") as file:
        file.write(b"!")
    ran = bare("doctor", "--json")
    assert ran.status == 1
    model = checked(ran)["model"]
    assert "model.onnx differs from the checksum" in model["found"]
    assert "reinstall memorist-models" in model["remedy"]


def test_the_set_of_models_in_use_is_named(bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "site", "fast", "best")
    ran = bare("--models", "best", "doctor", "--json")
    assert checked(ran)["model"]["found"].startswith(f"best: {SETS['best'].embedder}:")
    assert {"name": "models", "value": "best", "origin": "--models"} in ran.data["settings"]


def test_vectors_of_another_set_are_named_with_the_way_to_change(
    bare: Cli, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path / "site", "fast", "best")
    bare("--db", str(db), "remember", "Ann keeps a lamp.")
    fast, best = SETS["fast"].embedder, SETS["best"].embedder
    before = checked(bare("--db", str(db), "--models", "best", "doctor", "--json"))["vectors"]
    assert before["ok"] and re.match(rf"of {fast}:.*; `memorist reembed` changes them to {best}:", before["found"])
    bare("--db", str(db), "--models", "best", "reembed")
    after = checked(bare("--db", str(db), "--models", "best", "doctor", "--json"))["vectors"]
    assert after["found"].startswith(f"of {best}:") and "reembed" not in after["found"]


def test_a_set_that_is_not_installed_is_found(bare: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "site", "fast")
    Path("memorist.toml").write_text('models = "best"\n', encoding="utf-8")
    ran = bare("--config", "memorist.toml", "doctor", "--json")
    assert ran.status == 1
    assert "pip install ./packages/memorist-models-best." in checked(ran)["model"]["remedy"]


def test_a_file_that_is_no_store_is_found(bare: Cli, db: Path) -> None:
    db.write_bytes(b"not a store at all, but long enough to look at" * 100)
    ran = bare("--db", str(db), "doctor", "--json")
    assert ran.status == 1
    assert not checked(ran)["store"]["ok"]


def test_memories_without_vectors_are_counted(bare: Cli, db: Path) -> None:
    bare("--db", str(db), "remember", "Tea at five.")
    bare("--db", str(db), "--embedder", "none", "remember", "Coffee at six.")
    ran = bare("--db", str(db), "doctor", "--json")
    assert ran.status == 1
    vectors = checked(ran)["vectors"]
    assert (vectors["ok"], vectors["found"]) == (False, "1 memory has no vector and can be found only by words")


def test_a_clock_behind_the_newest_memory_is_found(cli: Cli) -> None:
    cli("remember", "Tea at five.", "--ingested-at", "2999-01-01")
    ran = cli("doctor", "--json")
    assert ran.status == 1
    assert "2999-01-01T00:00:00Z" in checked(ran)["clock"]["found"]

"""An exact memory is kept as it was given or not at all: adapters of key-value stores promise that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorist
from memorist.errors import InvalidInput
from memorist.model import EXACT, Outcome

SECRET = "hunter2-Zq9!x7Lm"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[memorist.Engine]:
    with memorist.open(tmp_path / "agent.db", embedder="none") as opened:
        yield opened


@pytest.mark.parametrize("where", [{"metadata": {"password": SECRET}}, {"keywords": [f"password: {SECRET}"]}])
def test_a_secret_in_any_field_is_refused_where_it_would_be_masked(engine: memorist.Engine, where: object) -> None:
    fields = {"key": "account", **where}  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="A text was refused: it holds password"):
        engine.remember("Ann's account", flags=[EXACT], **fields)
    assert engine.list().items == ()
    assert [entry.data["decision"] for entry in engine.journal()] == ["refuse"]
    assert SECRET not in str(engine.journal())
    masked = engine.remember("Ann's account", **fields)
    assert [gate.decision for gate in masked.gates] == ["mask"]


def test_nothing_of_its_batch_is_written(engine: memorist.Engine) -> None:
    exact = {"text": f"password: {SECRET}", "flags": [EXACT]}
    with pytest.raises(InvalidInput, match="holds password"):
        engine.remember_many(["Ann likes tea.", exact])
    assert engine.list().items == ()


def test_with_secrets_kept_it_holds_them(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "kept.db", embedder="none", config={"secrets": "keep"}) as engine:
        kept = engine.remember("Ann's account", flags=[EXACT], metadata={"password": SECRET})
        assert kept.metadata == {"password": SECRET}


def test_other_metadata_under_its_key_is_a_new_version(engine: memorist.Engine) -> None:
    def put(colour: str, *flags: str) -> memorist.Remembered:
        return engine.remember("theme", key="theme", metadata={"colour": colour}, flags=flags)

    assert [put("dark", EXACT).outcome, put("dark", EXACT).outcome] == [Outcome.KEPT, Outcome.KNOWN]
    changed = put("light", EXACT)
    assert (changed.outcome, changed.version, changed.metadata) == (Outcome.MERGED, 2, {"colour": "light"})
    assert [version.metadata["colour"] for version in engine.history(changed.id)] == ["light", "dark"]
    assert put("blue").outcome is Outcome.KNOWN  # without the flag, the same text is the same memory
    assert engine.get(changed.id) == changed.memory

"""Sleep: notes, tidying and repairs as one run that can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memorist
from memorist.engine.engine import Engine, up_to
from memorist.ports import Batch
from memorist.testing.fakes import FakeClock
from tests.secret_samples import token

NOW = datetime(2024, 6, 5, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def engine(tmp_path: Path, clock: FakeClock) -> Iterator[Engine]:
    with memorist.open(tmp_path / "agent.db", embedder="none", clock=clock, background=False, config={}) as engine:
        yield engine


def notes_in(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "agent.db.notes").rglob("*.md"))


def test_a_dry_run_changes_no_row_and_no_file(engine: Engine, tmp_path: Path) -> None:
    engine.remember("The ferry sailed on time.", at="2024-06-03")
    engine.remember("A parking permit.", at="2024-01-01", expires_at="2024-02-01")
    before = (engine.list(include_expired=True).items, engine.journal(), engine.stats().generation)
    planned = engine.sleep()
    assert [note.name for note in planned.notes.written] == ["2024-06-03"]
    assert (engine.list(include_expired=True).items, engine.journal(), engine.stats().generation) == before
    assert notes_in(tmp_path) == []


def test_a_dry_run_leaves_notes_alone_that_no_longer_have_memories(engine: Engine, tmp_path: Path) -> None:
    kept = engine.remember("The ferry sailed on time.", at="2024-06-03")
    engine.consolidate()
    engine.feedback(kept.id, "wrong")
    assert engine.sleep().notes.dropped == ("daily/2024-06-03.md",) and notes_in(tmp_path) == ["2024-06-03"]
    assert engine.sleep(dry_run=False).notes.dropped == ("daily/2024-06-03.md",) and notes_in(tmp_path) == []


def test_longer_notes_are_planned_from_planned_ones(engine: Engine) -> None:
    engine.remember("The ferry sailed on time.", at="2024-03-04")
    names = ["2024-03-04", "2024-W10", "2024-Q1"]
    assert [note.name for note in engine.sleep().notes.written] == names
    assert [note.name for note in engine.sleep(dry_run=False).notes.written] == names
    assert engine.sleep().notes.unchanged == 3


def test_repeated_notes_are_no_duplicates(engine: Engine) -> None:
    engine.remember("The ferry to Bergen sailed on time again this morning.", at="2024-03-04")
    engine.sleep(dry_run=False)
    assert engine.audit(["duplicate", "near_duplicate"]).findings == ()
    assert len(engine.list(kinds="note").items) == 3


def test_what_cannot_be_undone_is_reported_and_left(engine: Engine) -> None:
    kept = engine.remember("The lamp is on.")
    secret = f"The key is sk-proj-{token(40)}."
    engine.store.put(Batch(revised=[replace(kept.memory, text=secret)]))
    for text in ("It moved to the yellow house on Elm Street in June.",) * 2:
        engine.remember(text, source=str(engine.stats().memories), session=str(engine.stats().memories))
    done = engine.sleep(dry_run=False)
    assert {finding.kind: finding.fixed is not None for finding in done.audit.findings} == {
        "secret": False,
        "duplicate": True,
    }
    held = engine.get(kept.id)
    assert held is not None and held.text == secret
    assert engine.undo(done.run or "").verb == "audit"


def test_undo_leaves_notes_that_changed_since(engine: Engine, tmp_path: Path, clock: FakeClock) -> None:
    engine.remember("The ferry sailed on time.", at="2024-06-03")
    engine.remember("The mill was painted.", at="2024-06-04")
    engine.remember("A parking permit.", at="2024-06-05", expires_at="2024-06-05T10:00:00Z")
    done = engine.sleep(dry_run=False)
    engine.remember("The ferry was full.", at="2024-06-03T10:00:00Z")
    (tmp_path / "agent.db.notes/daily/2024-06-04.md").write_text("# Mine\n\nThe mill is white.\n", encoding="utf-8")
    clock.advance(timedelta(hours=1))
    later = engine.sleep(dry_run=False)
    assert [note.name for note in later.notes.written] == ["2024-06-03"]
    engine.undo(done.run or "")
    assert notes_in(tmp_path) == ["2024-06-03", "2024-06-04"]
    engine.undo(later.run or "")
    assert notes_in(tmp_path) == ["2024-06-04"]
    assert [memory.text for memory in engine.list(kinds="note").items if "mill" in memory.text] == [
        "The mill is white."
    ]


def test_a_note_that_lost_a_line_to_forget_can_still_be_undone(engine: Engine, tmp_path: Path) -> None:
    one = engine.remember("The ferry sailed on time.", at="2024-06-03")
    engine.remember("The mill of Bergen was painted white.", at="2024-06-03")
    done = engine.sleep(dry_run=False)
    engine.forget(one.id)
    assert notes_in(tmp_path) == ["2024-06-03"]
    engine.undo(done.run or "")
    assert notes_in(tmp_path) == [] and engine.list(kinds="note").items == ()


def test_each_classification_sleeps_apart_and_one_undo_takes_all_back(engine: Engine) -> None:
    for classification in (0, 1, 3):
        given = {"classification": classification, "at": "2024-01-01"}
        engine.remember(f"Permit {classification}.", expires_at="2024-02-01", **given)  # pyright: ignore[reportArgumentType]
    every = {"include_expired": True, "max_classification": 3, "kinds": "episodic"}
    before = engine.list(**every).items  # pyright: ignore[reportArgumentType]
    capped = up_to(engine, 0).sleep()
    assert len(capped.tidying.changes) == 1 and capped.audit.checked == 1
    done = engine.sleep(dry_run=False)
    assert len(done.tidying.changes) == 3
    narrow = up_to(engine, 1)
    narrow.undo(done.run or "")
    left = [memory.times.valid_to is not None for memory in engine.list(**every).items]  # pyright: ignore[reportArgumentType]
    assert left == [False, False, True]
    engine.undo(done.run or "")
    assert engine.list(**every).items == before  # pyright: ignore[reportArgumentType]

"""Notes on days, weeks and quarters: the right files once each, every line cited, and nothing left of the forgotten."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist
from memorist.asking import Askers, Models
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, ModelUnavailable
from memorist.model import CITES, Kind
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeClock, FakeEmbedder
from memorist.text.phrases import salient
from memorist.upkeep.consolidate import PERIODS
from memorist.upkeep.consolidate.notes import period_of
from tests.asking.fakes import FakeLLM

DAY = timedelta(days=1)
QUARTER = datetime(2024, 4, 1, tzinfo=UTC)
CITATION = re.compile(r"\[([0-9a-f]{12}(?:, [0-9a-f]{12})*)\]$")


class CountingEmbedder(FakeEmbedder):
    """Counts the texts it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts: Any, **options: Any) -> Any:
        self.texts += len(texts)
        return super().embed(texts, **options)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(QUARTER)


@pytest.fixture
def engine(tmp_path: Path, clock: FakeClock) -> Engine:
    return memorist.open(tmp_path / "agent.db", embedder=CountingEmbedder(), clock=clock, background=False)


def files(folder: Path) -> dict[str, str]:
    root = folder / "agent.db.notes"
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in root.rglob("*.md")}


def diary(engine: Engine, day: datetime, **fields: Any) -> list[str]:
    """Two things that happened on a day; returns their ids."""
    told = (f"Harbour report {day:%j}: the ferry sailed with {day.day + 40} cars.", f"Low tide {day:%j} came late.")
    return [engine.remember(text, at=day + 9 * timedelta(hours=1), **fields).id for text in told]


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def citations(line: str) -> list[str]:
    found = CITATION.search(line)
    assert found is not None, line
    return str(found[1]).split(", ")


def notes(engine: Engine, **filters: Any) -> list[Any]:
    return list(engine.list(10_000, kinds="note", **filters).items)


@pytest.mark.slow
def test_a_quarter_of_daily_runs_writes_each_file_once_and_cites_its_sources(
    engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    written: Counter[str] = Counter()
    said: set[str] = set()
    for _ in range(91):
        if clock.now().date() != date(2024, 5, 9):  # a day without memories
            said.update(diary(engine, clock.now().replace(hour=0)))
        clock.advance(DAY)
        done = engine.consolidate()
        assert not done.dropped
        written.update(f"{note.period}/{note.name}" for note in done.written)
        assert all(note.version == 1 for note in done.written)
    daily = {f"daily/{QUARTER.date() + n * DAY}" for n in range(91) if n != 38}
    weekly = {f"weekly/2024-W{week}" for week in range(14, 27)}
    assert set(written) == daily | weekly | {"quarterly/2024-Q2"}
    assert set(written.values()) == {1}
    on_disk = files(tmp_path)
    assert {name.removesuffix(".md") for name in on_disk} == set(written)
    cited = {id for text in on_disk.values() for line in lines(text) for id in citations(line)}
    assert cited <= {id[:12] for id in said} and len(cited) >= 90
    assert len(lines(on_disk["weekly/2024-W14.md"])) > 5 and len(lines(on_disk["quarterly/2024-Q2.md"])) == 20
    engine.close()


def test_a_second_run_writes_embeds_and_asks_nothing(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    for day in range(10):
        diary(engine, QUARTER + day * DAY)
    clock.set(QUARTER + 11 * DAY)
    first = engine.consolidate()
    assert len(first.written) == 11
    embedder: Any = engine._embedder.making(None)  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
    before = embedder.texts, engine.stats(), files(tmp_path), engine.store.journal(limit=1000)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    second = engine.consolidate()
    assert (second.written, second.unchanged) == ((), 11)
    assert (embedder.texts, engine.stats(), files(tmp_path), engine.store.journal(limit=1000)) == before
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == stamps
    engine.close()


def test_only_what_is_over_is_told(engine: Engine, clock: FakeClock) -> None:
    diary(engine, QUARTER)
    clock.set(QUARTER + timedelta(hours=23, minutes=59))
    assert engine.consolidate().written == ()
    clock.set(QUARTER + DAY)
    assert [note.period for note in engine.consolidate().written] == ["daily"]
    clock.set(QUARTER + 7 * DAY)
    assert [note.name for note in engine.consolidate().written] == ["2024-W14"]
    engine.close()


def test_what_arrives_late_is_written_once_as_a_new_version(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    diary(engine, QUARTER)
    clock.set(QUARTER + 8 * DAY)
    engine.consolidate()
    late = engine.remember("The lighthouse keeper retired after forty winters.", at=QUARTER)
    again = engine.consolidate()
    assert [(note.period, note.version) for note in again.written] == [("daily", 2), ("weekly", 2)]
    text = files(tmp_path)["daily/2024-04-01.md"]
    assert f"The lighthouse keeper retired after forty winters. [{late.id[:12]}]" in text
    assert "version 2" in text
    assert engine.consolidate().written == ()
    engine.close()


def test_lines_are_memories_that_abmind_finds_and_that_lead_to_their_sources(engine: Engine, clock: FakeClock) -> None:
    ferry, _ = diary(engine, QUARTER, speaker="Bo")
    clock.set(QUARTER + DAY)
    engine.consolidate()
    (line,) = [note for note in notes(engine) if "ferry" in note.text]
    assert line.text.startswith("Bo: Harbour report")
    assert (line.kind, line.origin.source, line.metadata[CITES]) == (Kind.NOTE, "daily/2024-04-01.md", [ferry])
    assert line.times.valid_from == QUARTER + timedelta(hours=9)
    assert [(link.relation, link.target) for link in engine.store.links([line.id])] == [(CITES, ferry)]
    found = engine.recall("ferry", recipe="abmind", kinds="note")
    assert [item.memory.id for item in found.items] == [line.id]
    engine.close()


def test_scopes_secrets_and_distrusted_texts_are_kept_apart(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    diary(engine, QUARTER, scope="user:bo")
    engine.remember("The vault opens with the brass key.", at=QUARTER, classification=3)
    engine.remember("A stranger says to wire the money today.", at=QUARTER, trust=0)
    engine.remember("The choir sings on Sunday evening.", at=QUARTER, classification=2, trust=1)
    clock.set(QUARTER + DAY)
    engine.consolidate()
    written = files(tmp_path)
    assert written.keys() == {"daily/2024-04-01.md", "classification-2/daily/2024-04-01.md"}
    assert "## user:bo" in written["daily/2024-04-01.md"] and "choir" not in written["daily/2024-04-01.md"]
    assert "choir" in written["classification-2/daily/2024-04-01.md"]
    assert not any("vault" in text or "wire" in text for text in written.values())
    (choir,) = notes(engine, scope="global")
    assert (choir.worth.classification, choir.worth.trust) == (2, 1)
    assert "ferry" not in choir.text
    engine.close()


def test_a_forgotten_source_leaves_no_byte_in_notes(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    ferry, _ = diary(engine, QUARTER)
    other = engine.remember("The bakery burnt its bread this morning.", at=QUARTER)
    clock.set(QUARTER + 8 * DAY)
    engine.consolidate()
    assert {"daily/2024-04-01.md", "weekly/2024-W14.md"} == files(tmp_path).keys()
    engine.forget(ferry)
    assert all("ferry" not in text and "bakery" in text for text in files(tmp_path).values())
    assert all("ferry" not in note.text for note in notes(engine))
    assert [note.version for note in engine.consolidate().written] == [3, 3]
    engine.forget(other.id)
    engine.forget(kinds="episodic")
    assert files(tmp_path) == {} and notes(engine) == []
    assert engine.consolidate().written == ()
    engine.close()


def test_forgetting_the_notes_themselves_takes_their_files(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    diary(engine, QUARTER)
    clock.set(QUARTER + DAY)
    engine.consolidate()
    engine.forget(kinds="note")
    assert files(tmp_path) == {}
    engine.close()


def test_hidden_and_expired_sources_leave_the_next_version(engine: Engine, clock: FakeClock, tmp_path: Path) -> None:
    ferry, _ = diary(engine, QUARTER)
    engine.remember("The permit is valid until Friday.", at=QUARTER, expires_at=QUARTER + 3 * DAY)
    clock.set(QUARTER + DAY)
    engine.consolidate()
    assert "permit" in files(tmp_path)["daily/2024-04-01.md"]
    clock.set(QUARTER + 4 * DAY)
    engine.feedback(ferry, "hide")
    engine.consolidate()
    text = files(tmp_path)["daily/2024-04-01.md"]
    assert "permit" not in text and "ferry" not in text
    engine.close()


def test_a_removed_file_is_written_again_and_without_a_file_there_are_memories_only(
    engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    diary(engine, QUARTER)
    clock.set(QUARTER + DAY)
    engine.consolidate()
    before = files(tmp_path)
    (tmp_path / "agent.db.notes" / "daily" / "2024-04-01.md").unlink()
    assert engine.consolidate().written == () and files(tmp_path) == before
    engine.close()
    bare = Engine(MemoryStore(), clock=clock, background=False)
    diary(bare, QUARTER)
    (written,) = bare.consolidate().written
    assert written.path is None and notes(bare)


def test_the_folder_can_be_set(tmp_path: Path, clock: FakeClock) -> None:
    settings = {"notes_dir": str(tmp_path / "elsewhere")}
    with memorist.open(tmp_path / "a.db", embedder="none", config=settings, clock=clock, background=False) as engine:
        diary(engine, QUARTER)
        clock.set(QUARTER + DAY)
        engine.consolidate("daily")
    assert [path.name for path in (tmp_path / "elsewhere").rglob("*.md")] == ["2024-04-01.md"]


def with_model(llm: FakeLLM, clock: FakeClock) -> Engine:
    return Engine(MemoryStore(), askers=Askers(Models(llm)), clock=clock, background=False)


def test_a_model_writes_notes_that_cite_what_they_were_given(clock: FakeClock) -> None:
    llm = FakeLLM(note={"note": "# Monday\n\n- The ferry sailed [1].\n- Both were late [1, 2]\n- Nobody cites this."})
    llm.answers |= {"facts": {"facts": []}}
    engine = with_model(llm, clock)
    ids = diary(engine, QUARTER)
    clock.set(QUARTER + DAY)
    (written,) = engine.consolidate("daily").written
    assert (written.by, written.lines) == (llm.name, 2)
    by_text = {note.text: note.metadata[CITES] for note in notes(engine)}
    assert by_text["The ferry sailed."] == ids[:1] and sorted(by_text["Both were late"]) == sorted(ids)
    assert engine.consolidate("daily").written == () and llm.steps().count("note") == 1
    engine.forget(ids[1])
    assert notes(engine) == []  # a model may tell what it does not cite


def test_rules_stand_in_for_a_model_that_fails(clock: FakeClock) -> None:
    llm = FakeLLM(note=ModelUnavailable("no answer", remedy="Wait."), facts={"facts": []})
    engine = with_model(llm, clock)
    diary(engine, QUARTER)
    clock.set(QUARTER + DAY)
    (written,) = engine.consolidate("daily").written
    assert written.by == "rules" and written.lines == 2


def test_a_period_that_is_none_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="daily, weekly, quarterly"):
        engine.consolidate("hourly")
    engine.close()


@pytest.mark.parametrize(
    ("kind", "day", "name", "start", "end"),
    [
        ("weekly", date(2024, 12, 30), "2025-W01", date(2024, 12, 30), date(2025, 1, 6)),
        ("weekly", date(2021, 1, 3), "2020-W53", date(2020, 12, 28), date(2021, 1, 4)),
        ("quarterly", date(2024, 12, 31), "2024-Q4", date(2024, 10, 1), date(2025, 1, 1)),
        ("quarterly", date(2024, 2, 29), "2024-Q1", date(2024, 1, 1), date(2024, 4, 1)),
        ("daily", date(2024, 2, 29), "2024-02-29", date(2024, 2, 29), date(2024, 3, 1)),
    ],
)
def test_periods_have_their_iso_names(kind: Any, day: date, name: str, start: date, end: date) -> None:
    period = period_of(kind, day)
    assert (period.name, period.start, period.end) == (name, start, end)


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_every_day_lies_in_its_periods(day: date) -> None:
    for kind in PERIODS:
        period = period_of(kind, day)
        assert period.start <= day < period.end and period_of(kind, period.start) == period


def test_salient_sentences_tell_most_and_nothing_twice() -> None:
    texts = ["The sync failed again. Thanks!", "The sync failed again!", "Bo likes green tea.", "Did the sync fail?"]
    found = salient(texts, 2)
    assert [(statement.text, statement.sources) for statement in found] == [
        ("The sync failed again.", (0, 1)),
        ("Bo likes green tea.", (2,)),
    ]
    assert salient(["Hi"], 3)[0].text == "Hi" and salient([], 3) == []

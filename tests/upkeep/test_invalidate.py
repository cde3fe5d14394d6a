"""Invalidating: soft, on both clocks, once, and undoable."""

from __future__ import annotations

import pytest

from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, NotFound
from memorist.model import instant
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import START
from tests.upkeep.worlds import answers, fill, opened


def found(engine: Engine, query: str, **options: str) -> list[str]:
    return [item.memory.text for item in engine.recall(query, track=False, **options).items]  # pyright: ignore[reportArgumentType]


def test_a_memory_ends_at_a_moment_and_both_clocks_tell() -> None:
    engine = opened(MemoryStore())
    old = engine.remember("The standup is at nine.", at="2024-01-01", ingested_at="2024-01-02")
    new = engine.remember("The daily meeting begins at ten.", at="2024-06-01", ingested_at="2024-06-01")
    ended = engine.invalidate(old.id, "2024-06-01", superseded_by=new.id)
    assert (ended.times.valid_to, ended.times.expired_at) == (instant("2024-06-01"), START)
    assert ended.superseded_by == new.id
    assert old.text not in found(engine, "standup at nine")
    assert old.text in found(engine, "standup at nine", as_of="2024-05-31")
    assert old.text in found(engine, "standup at nine", known_at="2024-06-30")
    assert old.text not in found(engine, "standup at nine", as_of="2024-06-02")


def test_a_fact_is_denied_from_then_on_and_keeps_its_text_and_history() -> None:
    engine = opened(MemoryStore())
    fact = engine.relate("Cleo", "works_at", "Pelican", "Cleo has a desk at Pelican.", valid_from="2024-01-01")
    ended = engine.invalidate(fact.id, "2024-05-01")
    assert (ended.text, ended.times.valid_to) == (fact.text, instant("2024-05-01"))
    assert ended.worth == fact.worth
    engine.relate("Cleo", "works_at", "Heron", valid_from="2024-03-01")
    assert found(engine, "Cleo works", as_of="2024-02-01")[0] == fact.text
    assert "Cleo works at Heron." in found(engine, "Cleo works", as_of="2024-06-01")


def test_undo_gives_every_recipe_its_answers_back() -> None:
    engine = opened(MemoryStore())
    fill(engine)
    before = answers(engine)
    fact = next(
        version for version in engine.history("Cleo") if version.times.valid_to is None and "Lyon" in version.text
    )
    for id in (engine.recall("Bo allergic", track=False).items[0].memory.id, fact.id):
        engine.invalidate(id, "2024-06-30")
    assert answers(engine) != before
    for entry in engine.store.journal("invalidate"):
        engine.undo(entry.id)
    assert answers(engine) == before


def test_twice_too_early_and_unknown_are_errors() -> None:
    engine = opened(MemoryStore())
    one = engine.remember("The standup is at nine.", at="2024-01-01")
    fact = engine.relate("Cleo", "works_at", "Pelican", valid_from="2024-01-01")
    with pytest.raises(InvalidInput, match="became true"):
        engine.invalidate(one.id, "2023-12-31")
    with pytest.raises(NotFound):
        engine.invalidate("nobody")
    with pytest.raises(NotFound, match="came after"):
        engine.invalidate(one.id, superseded_by="nobody")
    with pytest.raises(InvalidInput, match="relate"):
        engine.invalidate(fact.id, superseded_by=one.id)
    for id in (one.id, fact.id):
        engine.invalidate(id)
        with pytest.raises(InvalidInput, match="cannot end again"):
            engine.invalidate(id)
        entry = engine.store.journal("invalidate", id)[0].id
        engine.undo(entry)
        with pytest.raises(InvalidInput, match="nothing left to undo"):
            engine.undo(entry)

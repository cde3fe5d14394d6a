"""A turn is embedded alone and with the turn before it, whichever of them comes first, changes or goes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest

from memorist.engine.engine import Engine
from memorist.model import Memory
from memorist.ports import Vectors
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import START, FakeClock, FakeEmbedder

EMBEDDER = FakeEmbedder()
HOW, WELL = "[1 July 2024] Ben: How was it?", "[1 July 2024] Ann: It went well."


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(MemoryStore("views"), embedder=EMBEDDER, clock=FakeClock()) as one:
        yield one


def told(engine: Engine, speaker: str, text: str, position: int, **fields: object) -> Memory:
    return engine.remember(text, speaker=speaker, session="s", position=position, **fields)  # pyright: ignore[reportArgumentType]


def views(engine: Engine, memory: Memory) -> Vectors:
    return engine.store.vectors([memory.id])[memory.id]


def reads(vectors: Vectors, **texts: str) -> bool:
    """Whether the views are exactly the vectors of these texts."""
    made = EMBEDDER.embed(list(texts.values()), purpose="memory")
    return vectors.keys() == texts.keys() and all(
        np.allclose(vectors[view], row, atol=2e-3) for view, row in zip(texts, made, strict=True)
    )


def test_a_turn_is_read_with_the_one_before_it(engine: Engine) -> None:
    first, second = told(engine, "Ben", "How was it?", 1), told(engine, "Ann", "It went well.", 2)
    assert reads(views(engine, first), text=HOW)
    assert reads(views(engine, second), text=WELL, context=f"{WELL} ‖ before: Ben: How was it?")


def test_turns_that_come_together_and_leave_gaps_read_one_another(engine: Engine) -> None:
    fields = {"session": "s", "at": START}
    some = engine.remember_many(
        [
            {"text": "It went well.", "speaker": "Ann", "position": 4, **fields},
            {"text": "How was it?", "speaker": "Ben", "position": 2, **fields},
            {"text": "Good to hear.", "speaker": "Ben", "position": 9, **fields},
        ]
    )
    assert reads(views(engine, some[0]), text=WELL, context=f"{WELL} ‖ before: Ben: How was it?")
    assert reads(views(engine, some[1]), text=HOW)
    assert reads(views(engine, some[2]), text="[1 July 2024] Ben: Good to hear.")


def test_a_turn_that_arrives_late_becomes_the_one_before(engine: Engine) -> None:
    second = told(engine, "Ann", "It went well.", 2)
    assert reads(views(engine, second), text=WELL)
    told(engine, "Ben", "How was it?", 1)
    assert reads(views(engine, second), text=WELL, context=f"{WELL} ‖ before: Ben: How was it?")


def test_an_edited_turn_is_read_as_edited_by_the_one_after_it(engine: Engine) -> None:
    told(engine, "Ben", "How was it?", 1, key="turn 1", at=START)
    second = told(engine, "Ann", "It went well.", 2, at=START)
    told(engine, "Ben", "How was the interview?", 1, key="turn 1", at=START)
    assert reads(views(engine, second), text=WELL, context=f"{WELL} ‖ before: Ben: How was the interview?")


def test_a_forgotten_turn_is_read_no_more(engine: Engine) -> None:
    first = told(engine, "Ben", "How was it?", 1)
    second = told(engine, "Ann", "It went well.", 2)
    engine.forget(id=first.id)
    assert reads(views(engine, second), text=WELL)


def test_neighbours_are_of_one_session_and_one_scope(engine: Engine) -> None:
    told(engine, "Ben", "How was it?", 1, scope="user:ben")
    engine.remember("Elsewhere.", speaker="Cem", session="other", position=1)
    assert reads(views(engine, told(engine, "Ann", "It went well.", 2)), text=WELL)


def test_what_is_no_turn_is_read_as_it_stands(engine: Engine) -> None:
    loose = engine.remember("A lamp.", at=START - timedelta(days=9))
    assert reads(views(engine, loose), text="A lamp.")


def test_an_agents_steps_stand_alone(engine: Engine) -> None:
    with engine.session("tidy up", "s") as run:
        steps = [run.step("The lamp is on.", "turn it off"), run.step("The lamp is off.", "leave")]
    for step in steps:
        assert reads(views(engine, step), text=step.text)


def test_re_embedding_makes_the_same_views(engine: Engine) -> None:
    told(engine, "Ben", "How was it?", 1)
    second = told(engine, "Ann", "It went well.", 2)
    other = FakeEmbedder(32)
    engine.reembed(other)
    kept = views(engine, second)
    made = other.embed([WELL, f"{WELL} ‖ before: Ben: How was it?"], purpose="memory")
    assert kept.keys() == {"text", "context"}
    assert np.allclose(kept["text"], made[0], atol=2e-3)
    assert np.allclose(kept["context"], made[1], atol=2e-3)

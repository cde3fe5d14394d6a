"""Two years of a life: moves, jobs, corrections, contradictions, late arrivals, repeats; told in any order.

What is told without a word of change ends nothing, so that two values can be current until a change names a third.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from memorist import Memory
from memorist.engine.engine import Engine
from memorist.model import Filter
from memorist.ports import Store
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeClock
from tests.stores.kinds import STORES, OpenStore

START = datetime(2023, 1, 1, tzinfo=UTC)
DAYS = 731


@dataclass(frozen=True)
class Said:
    """Something said on a day, heard on the same one or later; what it tells, by our own reading of it.

    A text without a value ("no longer") tells no fact.
    """

    day: int
    text: str
    relation: str
    value: str | None
    since: int | None = None
    heard: int | None = None
    speaker: str = "Alice"

    @property
    def replaces(self) -> bool:
        return "moved" in self.text or "Actually" in self.text

    @property
    def at(self) -> datetime:
        return START + timedelta(days=self.day)

    @property
    def known(self) -> datetime:
        return START + timedelta(days=self.day if self.heard is None else self.heard, hours=12)

    @property
    def true_from(self) -> datetime:
        return self.at if self.since is None else START + timedelta(days=self.since)


LIFE = (
    Said(0, "I live in Oslo.", "lives_in", "Oslo"),
    Said(2, "I work at Spotify.", "works_at", "Spotify"),
    Said(40, "I live in Oslo.", "lives_in", "Oslo"),
    Said(90, "I moved to Bergen.", "lives_in", "Bergen"),
    Said(95, "Actually, I live in Trondheim.", "lives_in", "Trondheim"),
    Said(150, "I work at Google.", "works_at", "Google"),
    Said(160, "I no longer work at Google.", "works_at", None),
    Said(200, "I work at Volvo.", "works_at", "Volvo"),
    Said(70, "I live in Rome.", "lives_in", "Rome", heard=210),
    Said(300, "I moved to Stockholm.", "lives_in", "Stockholm"),
    Said(300, "I live in Berlin.", "lives_in", "Berlin", speaker="Bob"),
    Said(310, "I moved to Madrid.", "lives_in", "Madrid", heard=320, speaker="Bob"),
    Said(305, "I live in Lisbon.", "lives_in", "Lisbon", heard=330, speaker="Bob"),
    Said(400, "I work at Volvo.", "works_at", "Volvo"),
    Said(180, "I work at Nokia.", "works_at", "Nokia", heard=450),
    Said(500, "I moved to Oslo.", "lives_in", "Oslo"),
    Said(500, "I work at Ikea.", "works_at", "Ikea", heard=520),
    Said(600, "I no longer live in Oslo.", "lives_in", None),
    Said(640, "I moved to Malmö.", "lives_in", "Malmö"),
    Said(620, "I live in Lund.", "lives_in", "Lund", heard=700),
)


def truth(said: Sequence[Said], who: str, relation: str, as_of: datetime) -> list[str]:
    """The oracle: what was said of it and had become true by then, since the last word of change."""
    heard = [
        saying for saying in said if (saying.speaker, saying.relation) == (who, relation) and saying.true_from <= as_of
    ]
    values: set[str] = set()
    for saying in sorted(heard, key=lambda one: (one.true_from, one.known)):
        if saying.value is not None:
            values = {saying.value} if saying.replaces else {*values, saying.value}
    return sorted(values)


def live(store: Store, said: Sequence[Said]) -> Engine:
    memory = Engine(store, clock=FakeClock(START + timedelta(days=DAYS + 1)))
    for saying in said:
        memory.remember(saying.text, speaker=saying.speaker, at=saying.at, ingested_at=saying.known)
    return memory


def seen(memory: Engine, who: str, relation: str, as_of: datetime, known_at: datetime | None = None) -> list[str]:
    facts = memory.list(limit=1000, kinds="semantic", as_of=as_of, known_at=known_at).items
    about = (fact.fact for fact in facts if fact.fact and (fact.fact.subject, fact.fact.relation) == (who, relation))
    return sorted(fact.object for fact in about)


OF_INTEREST = (("Alice", "lives_in"), ("Alice", "works_at"), ("Bob", "lives_in"))


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, open_store: OpenStore) -> Store:
    return open_store(request.param, "life")


def test_every_day_has_its_right_answer(store: Store) -> None:
    with live(store, LIFE) as memory:
        for day in range(0, DAYS, 5):
            as_of = START + timedelta(days=day, hours=18)
            for who, relation in OF_INTEREST:
                assert seen(memory, who, relation, as_of) == truth(LIFE, who, relation, as_of), (who, day)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_telling_makes_no_difference(seed: int) -> None:
    def facts(said: Sequence[Said]) -> dict[str, Memory]:
        with live(MemoryStore(), said) as memory:
            everything = memory.store.scan(Filter(), 1000).items
            return {row.id: replace(row, metadata={}) for row in everything if row.fact is not None}

    assert facts(Random(seed).sample(LIFE, len(LIFE))) == facts(LIFE)


def test_what_was_known_then_is_what_a_replay_of_it_shows(store: Store) -> None:
    days = [START + timedelta(days=day, hours=18) for day in range(0, DAYS, 40)]
    with live(store, LIFE) as memory:
        for moment in sorted({saying.known for saying in LIFE}):
            heard = [saying for saying in LIFE if saying.known <= moment]
            with live(MemoryStore(), heard) as replay:
                for as_of in days:
                    for who, relation in OF_INTEREST:
                        assert seen(memory, who, relation, as_of, moment) == seen(replay, who, relation, as_of)


def test_the_present_has_what_no_word_of_change_ended_and_the_history_everything(store: Store) -> None:
    with live(store, LIFE) as memory:
        now = START + timedelta(days=DAYS)
        assert seen(memory, "Alice", "lives_in", now) == ["Malmö"]
        assert seen(memory, "Alice", "works_at", now) == ["Google", "Ikea", "Nokia", "Spotify", "Volvo"]
        told = {
            version.fact.object
            for version in memory.history("Alice")
            if version.fact and version.fact.relation == "lives_in"
        }
        assert told == {"Oslo", "Bergen", "Trondheim", "Rome", "Stockholm", "Malmö", "Lund"}


def test_telling_it_all_again_adds_nothing(store: Store) -> None:
    with live(store, LIFE) as memory:
        before = memory.stats()
        for saying in LIFE:
            memory.remember(saying.text, speaker=saying.speaker, at=saying.at, ingested_at=saying.known)
        assert memory.stats() == before

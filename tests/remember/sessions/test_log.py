"""Keeping a session: every step verbatim, numbered, found at once, whatever else fails."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from math import nan
from pathlib import Path
from typing import Any

import pytest

from memorist.errors import InvalidInput, ModelUnavailable, NotFound
from memorist.model import PROVENANCE, Filter, Kind, Link
from memorist.ports import Job
from memorist.remember.sessions.session import IDLE
from memorist.stores.sqlite import SqliteStore
from memorist.testing import FakeEmbedder
from tests.remember.sessions.worlds import EMBEDDER, World


class SilentEmbedder(FakeEmbedder):
    """An embedder whose server is away until it is back."""

    away = True

    def embed(self, texts: Sequence[str], **how: Any) -> Any:
        if self.away:
            raise ModelUnavailable("the embedder is away", remedy="Wait.")
        return super().embed(texts, **how)


def test_a_step_is_kept_as_it_was_said_and_found_at_once() -> None:
    world = World()
    step = world.sessions.open("Sell lamps.", "shop").step(" The lamp is\nlit. ", "sell it", 0.25)
    assert step.text == " The lamp is\nlit. \nAction: sell it"
    assert (step.kind, step.origin.session, step.origin.position) == (Kind.EPISODIC, "shop", 1)
    assert step.metadata == {"observation": " The lamp is\nlit. ", "action": "sell it", "reward": 0.25}
    view = world.store.view()
    assert [hit.id for hit in view.search_text("lit", Filter(kinds=(Kind.EPISODIC,)), 5)] == [step.id]
    near = view.search_vector(EMBEDDER.embed([step.text], purpose="query"), Filter(kinds=(Kind.EPISODIC,)), 1)
    assert near[0].score == pytest.approx(1, abs=1e-3)


def test_each_step_comes_from_a_source_of_its_own_and_not_from_its_session() -> None:
    world = World()
    session = world.sessions.open("Sell lamps.", "shop")
    step, later = session.step("A customer.", "greet her"), session.step("", "wait")
    (run,) = world.runs()
    assert (run.text, run.origin.key, run.metadata["state"]) == ("Sell lamps.", "session/shop", "open")
    first, second = (memory for memory in world.all(Kind.SOURCE) if memory != run)
    assert (first.text, first.origin.key) == ("A customer.", "source/step/1/session/shop")
    assert second.text == later.text == "Action: wait"  # nothing was observed: the action is all there is
    assert world.store.links([step.id, later.id, run.id]) == [
        Link(step.id, PROVENANCE, first.id),
        Link(later.id, PROVENANCE, second.id),
    ]
    assert World().sessions.open(id="x").goal is None
    nameless = World()
    nameless.sessions.open(id="x")
    assert nameless.all(Kind.SOURCE)[0].text == "Session x."


def test_each_step_puts_off_the_moment_of_idleness() -> None:
    world = World()
    session = world.sessions.open(id="shop")
    assert world.store.jobs() == [Job("session", "shop", world.clock.now() + IDLE)]
    world.clock.advance(timedelta(minutes=20))
    session.step("A customer.")
    assert world.store.jobs() == [Job("session", "shop", world.clock.now() + IDLE)]


@pytest.mark.parametrize(
    ("observation", "action", "reward"),
    [("", None, None), ("  ", "  ", None), ("a", None, 1.1), ("a", None, -0.1), ("a", None, nan), ("a\0", None, None)],
)
def test_a_step_that_cannot_be_kept_is_refused(observation: str, action: str | None, reward: float | None) -> None:
    world = World()
    session = world.sessions.open(id="shop")
    before = world.snapshot()
    with pytest.raises(InvalidInput):
        session.step(observation, action, reward)
    assert world.snapshot() == before


def test_the_same_step_twice_is_two_steps() -> None:
    world = World()
    session = world.sessions.open(id="shop")
    assert [session.step("tick").origin.position for _ in range(3)] == [1, 2, 3]
    assert len(world.all(Kind.EPISODIC)) == 3


def test_a_step_sent_again_under_its_number_is_the_same_step() -> None:
    world = World()
    session = world.sessions.open(id="shop")
    first = session.step("tick", "wait", number=1)
    before = world.snapshot()
    assert session.step("tick", "wait", number=1).memory == first.memory
    assert world.snapshot() == before
    for text, number in (("tock", 1), ("tick", 3), ("tick", 0)):
        with pytest.raises(InvalidInput, match="is not the next step"):
            session.step(text, number=number)
    assert session.step("tick").origin.position == 2


def test_opening_a_known_session_goes_on_with_it() -> None:
    world = World()
    world.sessions.open("Sell lamps.", "shop", "project:shop").step("one")
    again = world.sessions.open("Sell all lamps.", "shop")
    assert (again.step("two").origin.position, again.goal) == (2, "Sell all lamps.")
    (run,) = world.runs()
    assert (run.text, run.scope) == ("Sell all lamps.", "project:shop")
    assert world.sessions.open(id="shop").goal == "Sell all lamps."
    with pytest.raises(InvalidInput, match="belongs to scope 'project:shop'"):
        world.sessions.open(id="shop", scope="user:bo")


def test_sessions_without_an_id_are_each_their_own() -> None:
    world = World()
    assert world.sessions.open().id != world.sessions.open().id


def test_a_session_named_like_a_step_disturbs_nobody() -> None:
    world = World()
    world.sessions.open(id="a").step("one")
    world.sessions.open(id="a/step/1").step("other")
    assert sorted(memory.text for memory in world.all(Kind.EPISODIC)) == ["one", "other"]


def test_a_forgotten_session_takes_no_more_steps() -> None:
    world = World()
    session = world.sessions.open(id="shop")
    world.store.delete([world.runs()[0].id])
    with pytest.raises(NotFound, match="was forgotten"):
        session.step("a customer")
    with pytest.raises(NotFound):
        session.commit()
    world.clock.advance(IDLE)
    assert world.worker.run_due() == 1
    assert world.store.jobs() == []


def test_a_step_is_kept_without_its_vector_while_the_embedder_is_away() -> None:
    embedder = SilentEmbedder()
    world = World(embedder=embedder)
    session = world.play(goal="Sell lamps.", steps=())
    step = session.step("The lamp costs 5 crowns.", "sell it")
    assert [notice.kind for notice in world.told] == ["unembedded", "unembedded"]
    assert world.store.embedded([step.id]) == set()
    assert session.commit().state == "failed"
    embedder.away = False
    assert session.commit().state == "closed"
    everyone = [
        memory.id for memory in (*world.runs(), *world.all(*(kind for kind in Kind if kind is not Kind.SOURCE)))
    ]
    assert world.store.embedded(everyone) == set(everyone)


def test_many_threads_step_through_one_session_and_no_number_is_lost(tmp_path: Path) -> None:
    world = World(SqliteStore.open(tmp_path / "agent.db"))
    session = world.sessions.open(id="shop")
    with ThreadPoolExecutor(4) as pool:
        steps = list(pool.map(session.step, [f"lamp {number}" for number in range(24)]))
    assert sorted(step.origin.position or 0 for step in steps) == list(range(1, 25))
    assert world.sessions.open(id="shop").step("last").origin.position == 25
    world.store.close()


def test_a_question_in_a_session_is_asked_with_its_last_three_steps_and_goal() -> None:
    world = World()
    session = world.sessions.open("Sell lamps.", "shop")
    for text in ("one", "two", "three " * 200):
        session.step(text)
    session.step("four", "wrap it")
    around = world.sessions.surroundings("shop")
    assert around is not None and around.goal == "Sell lamps."
    assert around.steps == ("two", ("three " * 200).strip(), "four Action: wrap it")
    assert world.sessions.surroundings("nowhere") is None

"""What is forgotten while something is made from it stays forgotten, whichever write was first to begin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist import Engine
from memorist.asking import Askers, Models
from memorist.errors import InvalidInput, NotFound
from memorist.model import Outcome
from memorist.ports import Progress, Purpose, Store
from memorist.stores.sqlite import SqliteStore
from memorist.testing import FakeEmbedder
from memorist.testing.fakes import FakeClock
from server_tests.rest.conftest import Serve, serve
from tests.asking.fakes import FakeLLM
from tests.stores.kinds import STORES, OpenStore

__all__ = ["serve"]
SECRET = "quincunx"
TEXT = f"The {SECRET} is under the mat"


class Interrupted(FakeEmbedder):
    """An embedder during whose work something else happens, once."""

    def __init__(self, dim: int = 64) -> None:
        super().__init__(dim)
        self.meanwhile: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None):
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        return super().embed(texts, purpose=purpose, progress=progress)


class World:
    """A store, and an engine over it that is interrupted while it writes."""

    def __init__(self, store: Store) -> None:
        self.store, self.embedder = store, Interrupted()
        self.engine = Engine(store, embedder=self.embedder, background=False)
        self.other = Engine(store, embedder=FakeEmbedder(), background=False)

    def meanwhile(self, happens: Callable[[Engine], object]) -> None:
        self.embedder.meanwhile = lambda: happens(self.other)


@pytest.fixture(params=[pytest.param(sort, marks=[pytest.mark.slow] * (sort == "postgres")) for sort in STORES])
def world(request: pytest.FixtureRequest, open_store: OpenStore) -> Iterator[World]:
    made = World(open_store(request.param, "agent"))
    yield made
    made.engine.close()


def everything(store: Store) -> str:
    return "\n".join(map(repr, store.records()))


def test_an_update_does_not_bring_a_forgotten_memory_back(world: World) -> None:
    kept = world.engine.remember(TEXT, session="s", speaker="Ann", position=1)
    world.meanwhile(lambda other: other.forget(kept.id))
    with pytest.raises(NotFound):
        world.engine.update(kept.id, f"{TEXT} of Bo Berg in Oslo")
    assert world.engine.get(kept.id) is None
    assert SECRET not in everything(world.store) and "Berg" not in everything(world.store)


def test_an_update_does_not_show_a_hidden_memory_again(world: World) -> None:
    kept = world.engine.remember(TEXT)
    world.meanwhile(lambda other: other.feedback(kept.id, "hide"))
    with pytest.raises(InvalidInput, match="ended"):
        world.engine.update(kept.id, "It is with a neighbour")
    hidden = world.engine.get(kept.id)
    assert hidden is not None and hidden.times.retracted_at is not None and hidden.text == TEXT


def test_of_two_updates_at_once_neither_is_lost(world: World) -> None:
    kept = world.engine.remember(TEXT)
    world.meanwhile(lambda other: other.update(kept.id, topic="keys"))
    done = world.engine.update(kept.id, "It is with a neighbour")
    assert (done.outcome, done.text, done.topic, done.version) == (
        Outcome.MERGED,
        "It is with a neighbour",
        "keys",
        3,
    )


def test_a_turn_is_not_embedded_with_a_turn_that_was_forgotten(world: World) -> None:
    kept = world.engine.remember(TEXT, session="s", speaker="Ann", position=1)
    world.meanwhile(lambda other: other.forget(kept.id))
    turn = world.engine.remember("Thank you for telling me", session="s", speaker="Bo", position=2)
    assert world.store.vectors([turn.id])[turn.id].keys() == {"text"}


def test_a_name_that_was_forgotten_is_not_written_again(world: World) -> None:
    kept = world.engine.remember("We met Bartholomew Quincunx in the harbour.")
    assert world.store.entities(["Bartholomew Quincunx"])
    world.meanwhile(lambda other: other.forget(kept.id))
    world.engine.remember("Today Bartholomew Quincunxx was late again.")
    assert not world.store.entities(["Bartholomew Quincunx"])


def test_a_session_learns_nothing_from_a_step_that_was_forgotten(world: World) -> None:
    session = world.engine.session("Open the door")
    step = session.step(f"The door needs the {SECRET}", "look under the mat", reward=1.0)
    session.step("The door is open", None, reward=1.0)
    world.meanwhile(lambda other: other.forget(step.id))
    session.commit()
    assert SECRET not in everything(world.store)


def test_undo_does_not_bring_back_a_withheld_text_that_was_forgotten(open_store: OpenStore) -> None:
    world = World(open_store("sqlite", "agent"))
    world.engine.remember("The lamp of Ann is red.")
    text = world.engine.recall("lamp").context
    withheld = world.engine.remember(text)
    assert withheld.outcome is Outcome.WITHHELD
    (entry,) = world.engine.journal("gate", withheld.id)
    world.meanwhile(lambda other: other.forget(withheld.id))
    with pytest.raises(InvalidInput):
        world.engine.undo(entry.id)
    assert world.engine.get(withheld.id) is None and text not in everything(world.store)
    world.engine.close()


def test_a_forget_wins_over_an_update_by_another_replica_that_is_made_during_its_sync(tmp_path: Path) -> None:
    here, there = (World(SqliteStore.open(tmp_path / f"{name}.db")) for name in ("here", "there"))
    kept = here.engine.remember(TEXT)
    for world in (here, there):
        memorist.sync(world.engine, tmp_path / "shared")
    there.engine.update(kept.id, f"The {SECRET} is with a neighbour")
    here.engine.forget(kept.id)
    for world in (there, here, there, here):
        memorist.sync(world.engine, tmp_path / "shared")
    for world in (here, there):
        assert world.engine.get(kept.id) is None and SECRET not in everything(world.store)
        world.engine.close()
    for file in (file for file in tmp_path.rglob("*") if file.is_file()):
        assert SECRET.encode() not in file.read_bytes(), file.name


def test_a_sync_does_not_bring_back_what_is_forgotten_between_its_reading_and_its_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (World(SqliteStore.open(tmp_path / f"{name}.db")) for name in ("here", "there"))
    kept = here.engine.remember(TEXT)
    for world in (here, there):
        memorist.sync(world.engine, tmp_path / "shared")
    there.engine.update(kept.id, f"The {SECRET} is with a neighbour")
    memorist.sync(there.engine, tmp_path / "shared")
    update, waiting = here.store.update, [kept.id]

    def after_a_forget(*given: Any) -> Any:
        if waiting:
            here.other.forget(waiting.pop())
        return update(*given)

    monkeypatch.setattr(here.store, "update", after_a_forget)
    for world in (here, there, here):
        memorist.sync(world.engine, tmp_path / "shared")
    assert not waiting
    for world in (here, there):
        assert SECRET not in everything(world.store)
        world.engine.close()
    for file in (file for file in tmp_path.rglob("*") if file.is_file()):
        assert SECRET.encode() not in file.read_bytes(), file.name


def test_re_embedding_leaves_no_vector_of_what_is_forgotten_meanwhile(world: World) -> None:
    kept = world.engine.remember(TEXT)
    other = world.engine.remember("The lamp of Ann is red.")
    embedder = Interrupted(32)
    embedder.meanwhile = lambda: world.other.forget(kept.id)
    world.engine.reembed(embedder)
    assert not embedder.meanwhile
    assert world.store.vectors([kept.id, other.id]).keys() == {other.id}
    assert SECRET not in everything(world.store)


def asking(store: Store, happens: Callable[[], object], **answers: Any) -> Engine:
    """An engine whose language model answers once something else has happened."""

    def answered(answer: object) -> Callable[[object], object]:
        def answering(_: object) -> object:
            happens()
            return answer

        return answering

    scripted: dict[str, Any] = {step: answered(answer) for step, answer in answers.items()}
    llm = FakeLLM(**scripted)
    return Engine(store, askers=Askers(Models(llm)), clock=FakeClock(), background=False)


def test_a_note_of_a_model_is_not_kept_if_what_it_sums_up_is_forgotten_meanwhile(open_store: OpenStore) -> None:
    store, happened = open_store("sqlite", "agent"), list[str]()
    other = Engine(store, clock=FakeClock(), background=False)
    kept = [other.remember(text, at="2024-06-28") for text in (TEXT, "The lamp of Ann is red.", "Rain fell.")]

    def forget() -> None:
        if not happened:
            happened.append(kept[0].id)
            other.forget(kept[0].id)

    note = {"note": f"# Friday\n\n- The {SECRET} is hidden [1] [2] [3]."}
    engine = asking(store, forget, note=note, facts={"entities": [], "statements": []})
    engine.consolidate("daily")
    assert happened and SECRET not in everything(store)
    engine.close()


def test_facts_that_a_model_reads_in_what_is_forgotten_meanwhile_are_not_kept(open_store: OpenStore) -> None:
    store, happened = open_store("sqlite", "agent"), list[str]()
    other = Engine(store, clock=FakeClock(), background=False)

    def forget() -> None:
        happened.extend(memory.id for memory in other.list().items)
        other.forget(happened)

    said = {"number": 1, "subject": "Ann", "relation": "owns", "object": f"a {SECRET}", "quote": TEXT}
    said |= {"negated": False, "since": None, "until": None, "confidence": 1.0}
    named = {"name": SECRET.title(), "kind": "thing", "aliases": []}
    engine = asking(store, forget, facts={"entities": [named], "statements": [said]})
    engine.remember(TEXT)
    engine.work()
    assert happened and SECRET not in everything(store) and not engine.jobs()
    engine.close()


def test_over_rest_a_delete_during_a_patch_wins(serve: Serve) -> None:
    server = serve()
    with server.http() as http:
        for number in range(20):
            kept = http.post("/v1/spaces/agent/memories", json={"text": f"{TEXT} {number}"}).json()["id"]
            path = f"/v1/spaces/agent/memories/{kept}"
            with ThreadPoolExecutor(2) as pool:
                patched = pool.submit(http.patch, path, json={"text": f"{TEXT} of a neighbour {number}"})
                deleted = pool.submit(http.delete, path)
            assert deleted.result().is_success and patched.result().status_code in (200, 404)
            assert http.get(path).status_code == 404


FORGET = """
import sys, memorist
with memorist.open(sys.argv[1], embedder="none", background=False, config={}) as memory:
    memory.forget(sys.argv[2])
"""


def test_an_update_in_one_process_and_a_forget_in_another_leave_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    embedder = Interrupted()
    with memorist.open(path, embedder=embedder, background=False, config={}) as memory:
        kept = memory.remember(TEXT)
        command = [sys.executable, "-c", FORGET, str(path), kept.id]
        embedder.meanwhile = lambda: subprocess.run(command, check=True)
        with pytest.raises(NotFound):
            memory.update(kept.id, f"The {SECRET} is with a neighbour")
        assert memory.get(kept.id) is None
        memory.work()
    for file in tmp_path.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file.name

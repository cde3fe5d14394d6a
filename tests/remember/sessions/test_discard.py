"""Discarding what a session has not learnt from, also while it is committed."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist.asking.sessions import AgentStep, Annotation
from memorist.errors import NotFound
from memorist.model import Kind
from memorist.ports import Batch
from memorist.remember.sessions.rules import SessionRules
from memorist.remember.sessions.run import run_of
from tests.remember.sessions.worlds import World

STEPS = [
    ("The disk of oslo-2 is full.", "Next, free some space on oslo-2.", 0.9),
    ("The old logs take 80 GB.", "delete the old logs", 0.9),
    ("The shop answers with HTTP 200.", None, 1.0),
]


def opened(path: Path) -> memorist.Engine:
    return memorist.open(path, embedder="none", background=False, config={})


def learnt(world: World) -> list[str]:
    return [memory.text for memory in world.all(Kind.SEMANTIC, Kind.PROCEDURAL, Kind.SUBGOAL, Kind.INTENT, Kind.TAG)]


def test_a_discarded_step_leaves_nothing_but_the_goal() -> None:
    world = World()
    session = world.play()
    told = len(world.all()) - 1
    receipt = session.discard()
    assert len(receipt.forgotten) == told > 2
    assert [memory.text for memory in world.all()] == [session.goal]
    run = run_of(world.store, "run")
    assert run is not None and (run.state, run.steps, run.learnt) == ("closed", told // 2, told // 2)
    assert world.store.jobs() == []
    before = world.snapshot()
    assert session.discard().forgotten == () and world.snapshot() == before


def test_an_idle_session_that_was_discarded_teaches_nothing() -> None:
    world = World()
    session = world.play()
    session.discard()
    world.clock.advance(timedelta(hours=2))
    assert world.worker.run_due() == 0 and learnt(world) == []


def test_what_was_committed_stays_as_it_was() -> None:
    world = World()
    session = world.play()
    session.commit()
    before = world.snapshot()
    session.step("The moon is made of cheese.", "eat it", 1.0)
    session.discard()
    memories, links, jobs = world.snapshot()
    runs = {memory.id for memory in world.runs()}
    assert [memory for memory in memories if memory.id not in runs] == [
        memory for memory in before[0] if memory.id not in runs
    ]
    assert (set(links), jobs) == (set(before[1]), before[2])


def test_an_unknown_or_forgotten_session_is_refused() -> None:
    world = World()
    session = world.play()
    world.store.delete([memory.id for memory in world.runs()])
    with pytest.raises(NotFound, match="'run'"):
        session.discard()


def test_a_commit_that_reads_while_the_steps_are_discarded_learns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    session = world.play()
    annotate = SessionRules.annotate

    def slowly(self: SessionRules, goal: str, turns: Sequence[AgentStep]) -> Sequence[Annotation]:
        if turns:
            session.discard()
        return annotate(self, goal, turns)

    monkeypatch.setattr(SessionRules, "annotate", slowly)
    done = session.commit()
    assert (done.state, done.steps, done.memories) == ("closed", 0, ())
    assert [memory.text for memory in world.all()] == [session.goal] and world.store.jobs() == []


def test_a_discard_that_comes_after_a_commit_inside_the_write_erases_nothing() -> None:
    world = World()
    session = world.play()

    def commit_first(ids: object, now: object) -> tuple[str, ...]:
        session.commit()
        return ()

    world.sessions._cut_notes = commit_first  # pyright: ignore[reportPrivateUsage]
    assert session.discard().forgotten == ()
    assert learnt(world) and len(world.all(Kind.EPISODIC)) > 2


def test_a_note_loses_the_lines_about_a_discarded_step(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as engine:
        session = engine.session("Look around", id="run")
        step = session.step("The zebra of Bergen is blue.")
        early = step.times.valid_from - timedelta(days=2)
        dated = replace(step.memory, times=replace(step.times, valid_from=early, ingested_at=early))
        engine.store.put(Batch(revised=[dated]))
        engine.consolidate()
        assert any("zebra" in memory.text for memory in engine.list(kinds="note").items)
        receipt = session.discard()
        assert not any("zebra" in memory.text for memory in engine.list(include_expired=True).items)
        assert len(receipt.forgotten) > 2 and not receipt.pending
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files and not [file for file in files if b"zebra" in file.read_bytes()]


def consistent(engine: memorist.Engine, id: str) -> None:
    """Either every step is there and was learnt from, or none is and nothing was learnt."""
    steps = [memory for memory in engine.list(kinds="episodic").items if memory.origin.session == id]
    lessons = [memory for memory in engine.list(kinds="subgoal").items if memory.origin.session == id]
    assert (len(steps), bool(lessons)) in ((len(STEPS), True), (0, False)), (steps, lessons)
    assert [job for job in engine.jobs() if job.subject == id] == []


def test_a_commit_and_a_discard_in_two_threads_never_mix(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as engine:
        for number in range(12):
            session = engine.session("Bring the shop back.", id=f"run-{number}")
            for observation, action, reward in STEPS:
                session.step(observation, action, reward)
            begin = threading.Barrier(2)
            verbs = (session.commit, session.discard)
            threads = [threading.Thread(target=_at, args=(begin, verb)) for verb in verbs]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            consistent(engine, session.id)


def _at(begin: threading.Barrier, verb: Any) -> None:
    begin.wait(60)
    verb()


def test_a_commit_and_a_discard_in_two_processes_never_mix(tmp_path: Path) -> None:
    path, rounds = tmp_path / "agent.db", 8
    with opened(path) as engine:
        for number in range(rounds):
            session = engine.session("Bring the shop back.", id=f"run-{number}")
            for observation, action, reward in STEPS:
                session.step(observation, action, reward)
    spawn = multiprocessing.get_context("spawn")
    begin = spawn.Barrier(2)
    processes = [spawn.Process(target=_each, args=(path, verb, rounds, begin)) for verb in ("commit", "discard")]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    with opened(path) as engine:
        for number in range(rounds):
            consistent(engine, f"run-{number}")


def _each(path: Path, verb: str, rounds: int, begin: Any) -> None:
    with opened(path) as engine:
        sessions = [engine.session(id=f"run-{number}") for number in range(rounds)]
        for session in sessions:
            begin.wait(60)
            getattr(session, verb)()

"""Sessions through the verbs: learning in the background, asking from within, other processes, and failing models."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import memorist
from memorist import Engine
from memorist.errors import InvalidInput
from memorist.model import Surroundings
from memorist.ports.notices import Notice
from memorist.remember.sessions import IDLE
from memorist.testing import FakeClock, FakeEmbedder
from memorist.testing.llm_server import Fault, OpenAIServer
from tests.recorded_run import GOAL, STEPS

LIVE_AND_HANG = """
import sys, time, memorist
from memorist.testing import FakeEmbedder
from tests.recorded_run import GOAL, STEPS
memory = memorist.open(sys.argv[1], embedder=FakeEmbedder())
session = memory.session(GOAL, "run")
for step in STEPS:
    session.step(step.observation, step.action, step.reward)
    print("kept", flush=True)
time.sleep(600)
"""
LIVE_MANY = """
import sys, memorist
from memorist.testing import FakeEmbedder
path, name = sys.argv[1:]
with memorist.open(path, embedder=FakeEmbedder()) as memory:
    for number in range(5):
        with memory.session(id=f"{name}{number}") as session:
            session.step(f"Box {name}{number} is in Oslo.", f"Subgoal: move box {name}{number}")
            session.step("It is done.")
        memory.session(id="shared").step(f"{name}{number}")
"""
PATIENCE = 20
"""Seconds after which a test that waits for a thread gives up."""


def opened(path: object = ":memory:", **options: Any) -> Engine:
    return memorist.open(str(path), **{"embedder": FakeEmbedder(), "clock": FakeClock(), **options})


def live(memory: Engine) -> None:
    with memory.session(GOAL, "run") as session:
        for step in STEPS:
            session.step(step.observation, step.action, step.reward)


def kinds(memory: Engine) -> dict[str, int]:
    return dict(memory.stats().kinds)


LEARNT = {"source": 1 + 20, "episodic": 20, "subgoal": 2, "semantic": 10, "tag": 18, "procedural": 2, "intent": 2}


def test_a_session_learns_when_its_block_ends() -> None:
    with opened() as memory:
        live(memory)
        assert kinds(memory) == LEARNT
        assert memory.jobs() == []


def test_every_recipe_finds_a_step_at_once() -> None:
    with opened() as memory:
        step = memory.session(id="run").step("The lantern is under the bridge.", "fetch the lantern")
        for recipe in memory.recipes:
            found = memory.recall("Where is the lantern?", recipe=recipe)
            assert step.id in [item.memory.id for item in found.items], recipe


def test_an_idle_session_closes_itself_in_the_background() -> None:
    clock, committed = FakeClock(), Event()

    def hear(notice: Notice) -> None:
        if notice.kind == "commit":
            committed.set()

    with opened(clock=clock, notify=hear) as memory:
        memory.session(GOAL, "run").step("The port of Heron is 8080.", "note it")
        clock.advance(IDLE)
        memory.session(id="other")  # anything that leaves something to do wakes the worker
        assert committed.wait(PATIENCE)
        assert kinds(memory)["semantic"] == 1
        assert [job.subject for job in memory.jobs()] == ["other"]


def test_without_a_background_work_does_what_is_due() -> None:
    clock = FakeClock()
    with opened(clock=clock, background=False, config={"session_idle": 5}) as memory:
        memory.session(id="run").step("The port of Heron is 8080.", "note it")
        assert memory.work() == 0
        clock.advance(timedelta(minutes=5))
        assert memory.work() == 1
        assert memory.jobs() == []


def test_closing_leaves_an_open_session_to_whoever_opens_next(tmp_path: Path) -> None:
    clock = FakeClock()
    with opened(tmp_path / "a.db", clock=clock) as memory:
        memory.session(GOAL, "run").step("The port of Heron is 8080.", "note it")
    clock.advance(IDLE)
    with opened(tmp_path / "a.db", clock=clock, background=False) as memory:
        assert memory.work() == 1
        assert kinds(memory)["semantic"] == 1


def test_a_question_in_context_is_asked_with_goal_and_steps() -> None:
    with opened() as memory:
        memory.remember("Pelican is slow on Mondays.")
        memory.session("Speed up Pelican.", "run").step("The queue is long.")
        found, plain = (memory.recall_in_context(id, "When is it slow?") for id in ("run", "nowhere"))
        assert (found.query, found.request.session) == ("When is it slow?", "run")
        assert found.request.surroundings.goal == "Speed up Pelican."
        assert found.request.surroundings.steps == ("The queue is long.",)
        assert plain.request.surroundings == Surroundings()


def test_forgetting_a_session_leaves_nothing_to_do() -> None:
    clock = FakeClock()
    with opened(clock=clock, background=False) as memory:
        memory.session(id="run").step("a step")
        memory.forget(kinds="source")
        clock.advance(IDLE)
        memory.work()
        assert memory.jobs() == []


def test_notices_tell_of_commits_and_recalls_without_texts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "memorist")
    told: list[Notice] = []
    with opened(notify=told.append) as memory:
        live(memory)
        memory.recall("Where is the sync log?")
    assert [(notice.kind, notice.texts) for notice in told] == [("commit", ()), ("recall", ())]
    assert told[0].counts == {"steps": 20, "trajectories": 2, **{k: LEARNT[k] for k in told[0].counts if k in LEARNT}}
    with opened(notify=told.append, config={"notice_text": 1}) as memory:
        memory.recall("Where is the sync log?")
    assert told[-1].texts == ("Where is the sync log?",)
    with opened() as memory:
        live(memory)
    assert "commit · run" in caplog.text
    assert "Heron" not in caplog.text


def test_sessions_work_awaited() -> None:
    async def main() -> dict[str, int]:
        async with memorist.open_async(":memory:", embedder=FakeEmbedder()) as memory:
            with pytest.raises(InvalidInput, match="has not started"):
                _ = memory.session().id
            async with memory.session(GOAL, "run") as session:
                await session.step("The port of Heron is 8080.", "note it")
                assert (await session.commit()).state == "closed"
            assert session.id == "run"
            assert (await memory.recall_in_context("run", "Which port?")).items
            async with memory.session(id="run") as again:
                wrong = await again.step("The port of Heron is purple.")
                assert wrong.id in (await again.discard()).forgotten
            assert await memory.get(wrong.id) is None
            assert "8080" in (await memory.wake_up()).context and (await memory.sleep()).run is None
            assert await memory.jobs() == []
            return dict((await memory.stats()).kinds)

    assert asyncio.run(main())["semantic"] == 1


@pytest.mark.parametrize(
    "fault", [Fault.SERVER_ERROR, Fault.CUT, Fault.BAD_JSON, Fault.WRONG_SCHEMA, Fault.HUGE, Fault.REFUSAL, Fault.EMPTY]
)
def test_whatever_goes_wrong_with_a_model_no_step_is_lost(fault: Fault) -> None:
    clock = FakeClock()
    with OpenAIServer([fault]) as server:
        options = {"llm_options": {"url": server.url, "retries": 0}}
        with opened(clock=clock, llm="openai-compatible:any", config=options, background=False) as memory:
            live(memory)
            (job,) = memory.jobs()
            assert job.attempts == 1 and job.error
            assert kinds(memory) == {"source": 1 + 20, "episodic": 20}
            run = memory.list(kinds="source").items[0]
            assert run.metadata["state"] == "failed"
            assert memory.recall("sync log", recipe="memorist").items
            for _ in range(4):
                clock.set(memory.jobs()[0].due)
                assert memory.work() == 1
            clock.set(memory.jobs()[0].due)
            assert memory.work() == 1
            assert kinds(memory) == LEARNT
            run = memory.list(kinds="source").items[0]
            assert (run.metadata["state"], run.metadata["by"]) == ("closed", "rules")
            assert run.metadata["note"] == job.error


def test_an_agent_that_was_killed_is_learnt_from_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    agent = subprocess.Popen([sys.executable, "-c", LIVE_AND_HANG, str(file)], stdout=subprocess.PIPE, text=True)
    assert agent.stdout is not None
    for _ in STEPS:
        assert agent.stdout.readline() == "kept\n"
    agent.send_signal(signal.SIGKILL)
    agent.communicate()
    clock = FakeClock(datetime.now(UTC))
    with opened(file, clock=clock, background=False) as memory:
        assert memory.work() == 0
        clock.advance(IDLE + timedelta(minutes=1))
        assert memory.work() == 1
        assert kinds(memory) == LEARNT


@pytest.mark.slow
def test_processes_with_many_sessions_do_not_disturb_each_other(tmp_path: Path) -> None:
    file = tmp_path / "agent.db"
    command = [sys.executable, "-c", LIVE_MANY, str(file)]
    agents = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in "abc"]
    assert [(agent.communicate()[1], agent.returncode) for agent in agents] == [("", 0)] * 3
    with opened(file, clock=FakeClock(datetime.now(UTC)), background=False) as memory:
        shared = [row for row in memory.list(limit=500, kinds="episodic").items if row.origin.session == "shared"]
        assert sorted(row.origin.position or 0 for row in shared) == list(range(1, 16))
        assert kinds(memory)["semantic"] == 15
        assert [job.subject for job in memory.jobs()] == ["shared"]

"""Helpers: few threads for all engines, nobody waits for a free one, and closing waits for its own work only."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import memorist
from memorist.engine.helpers import Helpers

PATIENCE = 20
MOST = max(2, os.cpu_count() or 1)


class Held:
    """Work that has begun and goes on until it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.let_go.wait(PATIENCE)
        return "done"


@pytest.fixture
def busy() -> ExitStack:
    """All helpers of the process, busy for another engine until the block ends."""
    other, held = Helpers(), [Held() for _ in range(MOST)]
    for job in held:
        other.submit(job)
    assert all(job.begun.wait(PATIENCE) for job in held)
    stack = ExitStack()
    stack.callback(other.shutdown)
    for job in held:
        stack.callback(job.let_go.set)
    return stack


def test_whoever_asks_for_a_result_does_the_work_if_no_helper_is_free(busy: ExitStack) -> None:
    helpers, failing = Helpers(), Helpers()
    with busy:
        assert helpers.submit(threading.get_ident).result() == threading.get_ident()
        failed = failing.submit(list[int]().pop)
        assert isinstance(failed.exception(), IndexError)
        with pytest.raises(IndexError):
            failed.result()
    helpers.shutdown()


def test_work_within_work_cannot_block_however_deep() -> None:
    helpers = Helpers()

    def deep(levels: int) -> int:
        return 0 if not levels else 1 + helpers.submit(deep, levels - 1).result()

    assert deep(20 * MOST) == 20 * MOST
    helpers.shutdown()


def test_work_is_done_once() -> None:
    helpers, done = Helpers(), list[int]()
    tasks = [helpers.submit(done.append, number) for number in range(200)]
    with ThreadPoolExecutor(4) as askers:
        list(askers.map(lambda task: task.result(), tasks * 3))
    assert sorted(done) == list(range(200))


def test_closing_waits_for_its_own_work_and_drops_what_nobody_began(busy: ExitStack) -> None:
    helpers, own = Helpers(), Held()
    with busy:
        waiting = helpers.submit(own)
        helpers.shutdown()  # returns although the helpers are busy
        assert waiting.cancelled() and not own.begun.is_set()
        with pytest.raises(CancelledError):
            waiting.result()
    running, own = Helpers(), Held()
    task = running.submit(own)
    assert own.begun.wait(PATIENCE)
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(running.shutdown)
        own.let_go.set()
        closing.result(PATIENCE)
    assert task.result() == "done"
    with pytest.raises(RuntimeError):
        running.submit(own)


@pytest.mark.slow
def test_fifty_open_memories_keep_as_few_threads_as_one(tmp_path: Path) -> None:
    before = threading.active_count()
    with ExitStack() as opened:
        for number in range(50):
            engine = opened.enter_context(memorist.open(tmp_path / f"{number}.db"))
            engine.remember(f"Anna keeps lamp {number} in the barn.")
            assert engine.recall("What does Anna keep?").items
            with engine.session("Count the lamps") as session:
                session.step("Looked into the barn.")
        ours = [thread.name for thread in threading.enumerate() if thread.name.startswith("memorist")]
        assert threading.active_count() <= before + len(ours)
        assert sum(not name.startswith("memorist-") for name in ours) <= MOST  # "memorist_0": a helper

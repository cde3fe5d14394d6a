"""The worker: due jobs are claimed once, failures wait and are told, threads live only while there is work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as threads
from time import monotonic, sleep

import pytest

from memorist.ports import Batch, Job, Store
from memorist.ports.notices import Notice, Notices
from memorist.remember.jobs import LEASE, MOST_ROUNDS, Schedule, Worker
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing import FakeClock

CLOCK = FakeClock()
NOW = CLOCK.now()
PATIENCE = 20
"""Seconds after which a test that waits for a thread gives up."""


def with_jobs(*subjects: str, store: Store | None = None, due_in: timedelta = timedelta(0)) -> Store:
    store = store or MemoryStore()
    store.put(Batch(jobs=[Job("read", subject, NOW + due_in) for subject in subjects]))
    return store


OTHERS: set[Thread] = set()
"""Threads that were there before a test: an earlier one may have left a memory open with work to wait for."""


@pytest.fixture(autouse=True)
def _own_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    OTHERS.update(threads())
    own = Schedule()
    monkeypatch.setattr("memorist.remember.jobs.schedule", lambda: own)


def at_work() -> list[Thread]:
    return [thread for thread in threads() if thread.name == "memorist-work" and thread not in OTHERS]


def running() -> list[str]:
    return [thread.name for thread in at_work()]


def over() -> bool:
    """Whether the threads end: they are the schedule's, and closing a worker waits for its own round only."""
    for thread in at_work():
        thread.join(PATIENCE)
    return not running()


def test_due_jobs_are_run_and_done_and_others_wait() -> None:
    store = with_jobs("b", "a")
    with_jobs("later", store=store, due_in=timedelta(seconds=1))
    store.put(Batch(jobs=[Job("unknown", "x", NOW)]))
    ran: list[str] = []
    worker = Worker(store, CLOCK, {"read": lambda job: ran.append(job.subject)})
    assert worker.run_due() == 2
    assert ran == ["a", "b"]
    assert [(job.task, job.subject) for job in store.jobs()] == [("unknown", "x"), ("read", "later")]
    assert [job.subject for job in worker.jobs()] == ["later"]


def test_a_failure_is_kept_told_and_tried_again_later() -> None:
    store, told = with_jobs("a"), list[Notice]()
    clock = FakeClock()

    def fail(job: Job) -> None:
        raise ValueError(f"attempt {job.attempts}")

    worker = Worker(store, clock, {"read": fail}, Notices(told.append))
    assert worker.run_due() == 1
    first = Job("read", "a", NOW + timedelta(minutes=1), 1, "ValueError: attempt 0")
    assert store.jobs() == [first]
    assert told == [Notice("work_failed", NOW, ("read/a",), {"attempts": 1}, "ValueError: attempt 0")]
    assert worker.run_due() == 0
    clock.advance(timedelta(minutes=1))
    assert worker.run_due() == 1
    assert store.jobs() == [Job("read", "a", clock.now() + timedelta(minutes=2), 2, "ValueError: attempt 1")]


def test_a_job_belongs_to_who_claimed_it_until_the_lease_ends() -> None:
    store, clock = with_jobs("a"), FakeClock()
    seen: list[int] = []
    other = Worker(store, clock, {"read": lambda _: None})

    def meanwhile(job: Job) -> None:
        assert store.jobs() == [job]
        assert job.due == NOW + LEASE
        seen.append(other.run_due())
        clock.advance(LEASE)  # the first has taken too long: it is thought dead
        seen.append(other.run_due())

    Worker(store, clock, {"read": meanwhile}).run_due()
    assert seen == [0, 1]
    assert store.jobs() == []


def test_what_a_task_writes_about_its_own_job_stands() -> None:
    store = with_jobs("a")
    later = Job("read", "a", NOW + timedelta(days=1), 7, "not yet")
    Worker(store, CLOCK, {"read": lambda _: store.put(Batch(jobs=[later]))}).run_due()
    assert store.jobs() == [later]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_two_workers_never_run_the_same_job(kind: str, tmp_path: Path) -> None:
    stores: list[Store] = [MemoryStore()] * 2
    if kind == "sqlite":
        stores = [SqliteStore.open(tmp_path / "agent.db") for _ in range(2)]
    with_jobs(*(str(number) for number in range(30)), store=stores[0])
    ran: Counter[str] = Counter()
    workers = [Worker(store, CLOCK, {"read": lambda job: ran.update([job.subject])}) for store in stores]
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda worker: worker.run_due(), workers))
    assert sum(counts) == 30
    assert ran == Counter(str(number) for number in range(30))
    for store in stores:
        store.close()


def test_without_work_there_is_no_thread_and_with_work_it_ends_when_done() -> None:
    store, ran = MemoryStore(), Event()
    worker = Worker(store, CLOCK, {"read": lambda _: ran.set()})
    worker.wake()
    assert running() == []
    with_jobs("a", store=store)
    worker.wake()
    assert ran.wait(PATIENCE)
    worker.close()
    assert over()
    assert store.jobs() == []


def test_a_sleeping_thread_wakes_up_when_told() -> None:
    clock, ran = FakeClock(), Event()
    store = with_jobs("a", due_in=timedelta(hours=1))
    worker = Worker(store, clock, {"read": lambda _: ran.set()})
    worker.wake()
    assert running() == ["memorist-work"]
    assert not ran.is_set()
    clock.advance(timedelta(hours=1))
    worker.wake()
    assert ran.wait(PATIENCE)
    worker.close()


def test_closing_loses_nothing_and_ends_the_thread() -> None:
    store = with_jobs("a", due_in=timedelta(hours=1))
    worker = Worker(store, CLOCK, {"read": lambda _: None})
    worker.wake()
    worker.close()
    worker.close()
    assert over()
    worker.wake()
    assert running() == []
    assert [job.subject for job in store.jobs()] == ["a"]


def test_a_store_that_breaks_under_the_thread_is_told_and_work_goes_on_later() -> None:
    store, told, broke = with_jobs("a"), list[Notice](), Event()
    real = store.update

    def broken(plan: object) -> None:
        store.update = real  # pyright: ignore[reportAttributeAccessIssue]
        raise OSError("disk full")

    def hear(notice: Notice) -> None:
        told.append(notice)
        broke.set()

    store.update = broken  # pyright: ignore[reportAttributeAccessIssue]
    worker = Worker(store, CLOCK, {"read": lambda _: None}, Notices(hear))
    worker.wake()
    assert broke.wait(PATIENCE)
    assert told[0].error == "OSError: disk full"
    worker.wake()  # it has gone to sleep for a minute, and is still there
    worker.close()
    assert over()


def test_a_job_is_done_however_many_wait() -> None:
    store, clock = MemoryStore(), FakeClock()
    store.put(Batch(jobs=[Job("task", f"job {number}", clock.now()) for number in range(1100)]))
    assert Worker(store, clock, {"task": lambda job: None}).run_due() == 1100
    assert store.jobs() == []


def test_many_workers_have_few_threads_and_every_job_runs() -> None:
    clock, ran = FakeClock(), Counter[str]()
    stores = [with_jobs("soon", "later") for _ in range(50)]
    for store in stores:
        store.put(Batch(jobs=[Job("read", "later", NOW + timedelta(hours=1))]))
    workers = [Worker(store, clock, {"read": lambda job: ran.update([job.subject])}) for store in stores]
    for worker in workers:
        worker.wake()
        assert len(running()) <= MOST_ROUNDS
    settle(lambda: ran == Counter(soon=50))
    settle(lambda: len(running()) == 1)  # it watches the clock for all of them
    clock.advance(timedelta(hours=1))
    for worker in workers:
        worker.wake()
    settle(lambda: ran == Counter(soon=50, later=50))
    assert over()


def test_a_job_that_takes_long_delays_no_other_worker_and_is_waited_for_by_its_own_alone() -> None:
    begun, end, ran = Event(), Event(), Event()

    def slow(_: Job) -> None:
        begun.set()
        assert end.wait(PATIENCE)

    store = with_jobs("a")
    first = Worker(store, CLOCK, {"read": slow})
    second = Worker(with_jobs("b"), CLOCK, {"read": lambda _: ran.set()})
    first.wake()
    assert begun.wait(PATIENCE)
    second.wake()
    assert ran.wait(PATIENCE)
    second.close()
    assert running()
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(first.close)
        end.set()
        closing.result(PATIENCE)
    assert over() and store.jobs() == []


def test_a_worker_that_is_told_during_its_round_has_another_one() -> None:
    store, begun, go, ran = with_jobs("a"), Event(), Event(), list[str]()

    def work(job: Job) -> None:
        ran.append(job.subject)
        begun.set()
        assert go.wait(PATIENCE)

    worker = Worker(store, CLOCK, {"read": work})
    worker.wake()
    assert begun.wait(PATIENCE)
    with_jobs("b", store=store)
    worker.wake()
    go.set()
    assert over() and ran == ["a", "b"]


def test_a_job_may_close_its_own_worker() -> None:
    closed = Event()

    def close(_: Job) -> None:
        worker.close()
        closed.set()

    worker = Worker(with_jobs("a", "b"), CLOCK, {"read": close})
    worker.wake()
    assert closed.wait(PATIENCE) and over()
    assert [job.subject for job in worker.jobs()] == ["b"]


def test_what_ends_a_round_ends_no_thread_for_the_others() -> None:
    plan, ran = Schedule(1), list[str]()

    def exits() -> float | None:
        ran.append("exits")
        raise SystemExit

    def goes_on() -> float | None:
        ran.append("goes on")
        return None

    plan.now(exits)
    plan.now(goes_on)
    settle(lambda: ran == ["exits", "goes on"])
    assert over() and not plan.has(exits)


def settle(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < until
        sleep(0.001)

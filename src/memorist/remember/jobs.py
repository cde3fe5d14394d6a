"""Background jobs: claimed in the store, run, and retried later when they fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from math import inf
from threading import Condition, Thread, get_ident
from time import monotonic

from memorist.errors import Closed
from memorist.ports import Batch, Clock, Job, Reader, Store
from memorist.ports.notices import Notice, Notices, span

COMMIT_TASK = "session"
"""The task of a session's job, which commits the session once it is idle."""
FACTS_TASK = "facts"
"""The task of having a model read facts in memories, and the verb of the journal's entries about its answers."""
LEASE = timedelta(minutes=30)
"""How long a claimed job belongs to its worker; after that it counts as abandoned."""
FIRST_RETRY, LONGEST_RETRY = timedelta(minutes=1), timedelta(hours=6)
LONGEST_WAIT = timedelta(minutes=5)
"""The longest time between two rounds of a worker that has jobs: another process may have left a job."""
PATIENCE = timedelta(seconds=5)
"""How long closing waits for a running job; if it takes longer, its lease runs out."""

Task = Callable[[Job], object]
"""Runs a job. It may replace or remove the job in the same transaction as its result."""


def retry_after(attempts: int) -> timedelta:
    """The wait after n failures: 1 min · 2^(n−1), at most 6 h."""
    return min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(max(attempts - 1, 0), 20))


class Worker:
    """Runs due jobs, in the calling thread or, while there are any, when the schedule of the process says. Thread-safe.

    A job is claimed inside a write of the store, so two processes never run the same one. Nothing is raised into
    callers: a failure is recorded in the job and reported as a notice.
    """

    def __init__(self, store: Store, clock: Clock, tasks: Mapping[str, Task], notices: Notices | None = None) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._notices = notices or Notices()
        self._closing = self._has_job = False
        self.seen: Sequence[Job] = ()
        """The pending jobs as of the last look at them."""
        self._looked = -inf

    def jobs(self) -> list[Job]:
        """The pending jobs that this worker can run, earliest due first."""
        self._looked = monotonic()
        self.seen = jobs = [job for job in self._store.jobs() if job.task in self._tasks]
        return jobs

    def run_due(self) -> int:
        """Run every job that is due, one after another; returns how many ran."""
        ran = 0
        while not self._closing and (job := self._claim()) is not None:
            self._run(job)
            self._has_job = False
            ran += 1
        return ran

    def wake(self) -> None:
        """Check for jobs now; if there are any, they run in the background."""
        if not self._closing and (schedule().has(self._round) or self.jobs()):
            schedule().now(self._round)

    def glance(self) -> None:
        """Check for jobs that another process may have left, if the last look was a while ago."""
        if monotonic() - self._looked > LONGEST_WAIT.total_seconds():
            self.wake()

    def close(self) -> None:
        """Stop. A running job may finish if it is quick, else another worker runs it again. Safe to call twice."""
        self._closing = True
        schedule().remove(self._round, PATIENCE.total_seconds() if self._has_job else 0)  # not for a lock of the store

    def _round(self) -> float | None:
        """Run due jobs; returns the seconds until the next round, or None if it needs none."""
        try:
            self.run_due()
            return self._pause()
        except Closed:
            return None
        except Exception as error:  # a store that is busy or full: it may get better
            self._tell(Notice("work_failed", self._clock.now(), error=_words(error)))
            return FIRST_RETRY.total_seconds()

    def _pause(self) -> float | None:
        """Seconds until the next job is due; None if there is none."""
        left = [] if self._closing else self.jobs()
        if not left:
            return None
        until = left[0].due - self._clock.now()
        return min(max(until, timedelta(0)), LONGEST_WAIT).total_seconds()

    def _claim(self) -> Job | None:
        claimed: list[Job] = []
        now = self._clock.now()

        def plan(reader: Reader) -> Batch:
            due = [job for job in reader.jobs() if job.task in self._tasks and job.due <= now]
            claimed[:] = [replace(job, due=now + LEASE) for job in due[:1] if not self._closing]
            self._has_job = bool(claimed)
            return Batch(jobs=tuple(claimed))

        if any(job.due <= now for job in self.jobs()):
            self._store.update(plan)
        return claimed[0] if claimed else None

    def _run(self, job: Job) -> None:
        try:
            with span("memorist.job", {"memorist.task": job.task, "memorist.attempts": job.attempts}):
                self._tasks[job.task](job)
        except Exception as error:
            self._failed(job, _words(error))
        else:
            self._settle(job, Batch(done=[(job.task, job.subject)]))

    def _failed(self, job: Job, error: str) -> None:
        now = self._clock.now()
        attempts = job.attempts + 1
        self._settle(job, Batch(jobs=[replace(job, due=now + retry_after(attempts), attempts=attempts, error=error)]))
        self._tell(Notice("work_failed", now, (f"{job.task}/{job.subject}",), {"attempts": attempts}, error))

    def _settle(self, job: Job, batch: Batch) -> None:
        """Write the outcome of a job, unless its task or another process has replaced the job since it was claimed."""
        self._store.update(lambda reader: batch if job in reader.jobs(job.task, 1, job.subject) else Batch())

    def _tell(self, notice: Notice) -> None:
        if not self._closing:  # a store closed under a job is no news
            self._notices.tell(notice)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


MOST_ROUNDS = 4
"""Rounds that run at the same time in a process: most of their time they wait for a language model."""

Round = Callable[[], float | None]
"""Does what is due, and returns the seconds until its next turn; None if it needs none."""


@cache
def _of_process(_pid: int) -> Schedule:
    return Schedule()


def schedule() -> Schedule:
    """The schedule of this process; a fork has one of its own."""
    return _of_process(os.getpid())


class Schedule:
    """Runs rounds when they are due, each in one thread at a time. Thread-safe.

    Threads live while there is a round to wait for: one of them watches the clock, the others end when nothing is due.
    """

    def __init__(self, most: int = MOST_ROUNDS) -> None:
        self._most = most
        self._changed = Condition()
        self._due: dict[Round, float] = {}
        self._running: dict[Round, int] = {}
        self._threads = 0
        self._watching = False

    def has(self, turn: Round) -> bool:
        """Whether a round waits for its turn, or runs."""
        with self._changed:
            return turn in self._due or turn in self._running

    def now(self, turn: Round) -> None:
        """Run a round at once; if it is running, again after that."""
        with self._changed:
            self._due[turn] = 0.0
            self._staff()

    def remove(self, turn: Round, patience: float) -> None:
        """Run a round no more, and wait for the running one, unless that is who calls."""
        with self._changed:
            self._due.pop(turn, None)
            self._changed.notify_all()
            if self._running.get(turn) != get_ident():
                self._changed.wait_for(lambda: turn not in self._running, patience)

    def _staff(self) -> None:
        """Have somebody look at what is due: whoever watches the clock, or else a new thread."""
        if self._watching:
            self._changed.notify_all()
        elif self._threads < self._most:
            self._threads += 1
            Thread(target=self._live, name="memorist-work", daemon=True).start()

    def _live(self) -> None:
        while (turn := self._next()) is not None:
            try:
                pause = turn()
            except BaseException:  # what is worth telling, a round has told
                pause = None
            self._ran(turn, pause)

    def _next(self) -> Round | None:
        """The round whose turn it is; None if the thread may end."""
        with self._changed:
            while waiting := [(due, turn) for turn, due in self._due.items() if turn not in self._running]:
                due, turn = min(waiting, key=lambda one: one[0])
                left = due - monotonic()
                if left <= 0:
                    del self._due[turn]
                    self._running[turn] = get_ident()
                    if len(waiting) > 1:
                        self._staff()
                    return turn
                if self._watching:
                    break
                self._watching = True
                self._changed.wait(left)
                self._watching = False
            self._threads -= 1
            return None

    def _ran(self, turn: Round, pause: float | None) -> None:
        with self._changed:
            del self._running[turn]
            if pause is not None:
                self._due.setdefault(turn, monotonic() + pause)
            self._changed.notify_all()

"""Background jobs: claimed in the store, run, and retried later when they fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from threading import Event, Lock, Thread, current_thread

from memorist.errors import Closed
from memorist.ports import Batch, Clock, Job, Reader, Store
from memorist.ports.notices import Notice, Notices

COMMIT_TASK = "session"
"""The task of a session's job, which commits the session once it is idle."""
FACTS_TASK = "facts"
"""The task of having a model read facts in memories, and the verb of the journal's entries about its answers."""
LEASE = timedelta(minutes=30)
"""How long a claimed job belongs to its worker; after that it counts as abandoned."""
FIRST_RETRY, LONGEST_RETRY = timedelta(minutes=1), timedelta(hours=6)
LONGEST_WAIT = timedelta(minutes=5)
"""The longest sleep of the thread: another process may have left a job."""
PATIENCE = timedelta(seconds=5)
"""How long closing waits for a running job; if it takes longer, its lease runs out."""

Task = Callable[[Job], object]
"""Runs a job. It may replace or remove the job in the same transaction as its result."""


def retry_after(attempts: int) -> timedelta:
    """The wait after n failures: 1 min · 2^(n−1), at most 6 h."""
    return min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(max(attempts - 1, 0), 20))


class Worker:
    """Runs due jobs, in the calling thread or in its own thread, which lives while there are jobs. Thread-safe.

    A job is claimed inside a write of the store, so two processes never run the same one. Nothing is raised into
    callers: a failure is recorded in the job and reported as a notice.
    """

    def __init__(self, store: Store, clock: Clock, tasks: Mapping[str, Task], notices: Notices | None = None) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._notices = notices or Notices()
        self._lock = Lock()
        self._awake = Event()
        self._closing = False
        self._thread: Thread | None = None

    def jobs(self) -> list[Job]:
        """The pending jobs that this worker can run, earliest due first."""
        return [job for job in self._store.jobs() if job.task in self._tasks]

    def run_due(self) -> int:
        """Run every job that is due, one after another; returns how many ran."""
        ran = 0
        while not self._closing and (job := self._claim()) is not None:
            self._run(job)
            ran += 1
        return ran

    def wake(self) -> None:
        """Check for jobs now; start the thread if there are any."""
        with self._lock:
            if self._closing:
                return
            if self._thread is not None:
                self._awake.set()
            elif self.jobs():
                self._awake.clear()
                self._thread = Thread(target=self._live, name="memorist-work", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop. A running job may finish if it is quick, else another worker runs it again. Safe to call twice."""
        with self._lock:
            self._closing = True
            thread = self._thread
            self._awake.set()
        if thread is not None and thread is not current_thread():
            thread.join(PATIENCE.total_seconds())

    def _live(self) -> None:
        wait: float | None = 0.0
        while wait is not None:
            self._awake.wait(wait)
            self._awake.clear()
            wait = self._round()

    def _round(self) -> float | None:
        """Run due jobs; returns how long to sleep, or None if the thread must end."""
        try:
            self.run_due()
            return self._pause()
        except Closed:
            return None
        except Exception as error:  # a store that is busy or full: it may get better
            self._tell(Notice("work_failed", self._clock.now(), error=_words(error)))
            return FIRST_RETRY.total_seconds()

    def _pause(self) -> float | None:
        """Seconds until the next job is due; None if there is none, and the thread ends."""
        with self._lock:
            left = [] if self._closing else self.jobs()
            if not left:
                self._thread = None
                return None
        until = left[0].due - self._clock.now()
        return min(max(until, timedelta(0)), LONGEST_WAIT).total_seconds()

    def _claim(self) -> Job | None:
        claimed: list[Job] = []
        now = self._clock.now()

        def plan(reader: Reader) -> Batch:
            due = [job for job in reader.jobs() if job.task in self._tasks and job.due <= now]
            claimed[:] = [replace(job, due=now + LEASE) for job in due[:1]]
            return Batch(jobs=tuple(claimed))

        if any(job.due <= now for job in self.jobs()):
            self._store.update(plan)
        return claimed[0] if claimed else None

    def _run(self, job: Job) -> None:
        try:
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

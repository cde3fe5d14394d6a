"""Learn from a session: read its steps, and write all that they teach in one piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from memorist.errors import ModelUnavailable, NotFound
from memorist.model import Memory
from memorist.notices import Notice, Notices
from memorist.ports import Batch, Clock, Job, Reader, Store
from memorist.remember.sessions.embedding import Embedding
from memorist.remember.sessions.extractor import Extractor
from memorist.remember.sessions.intents import resolve
from memorist.remember.sessions.lessons import Findings, lesson
from memorist.remember.sessions.run import TASK, Run, State, run_of, turns_of
from memorist.remember.sessions.trajectory import annotated, cut
from memorist.remember.sessions.write import Lessons, vectors_of
from memorist.work import retry_after

MOST_ATTEMPTS = 5
"""After so many failures of a model the rules read the session instead."""


@dataclass(frozen=True, slots=True)
class Commit:
    """How a session was learnt from: its state now, who read it, and how many new memories of each kind there are."""

    session: str
    state: State
    steps: int = 0
    trajectories: int = 0
    by: str | None = None
    memories: tuple[Memory, ...] = ()
    error: str | None = None
    note: str | None = None
    """Why the rules read it though there is a model."""

    @property
    def counts(self) -> Mapping[str, int]:
        """New memories by kind."""
        return Counter(str(memory.kind) for memory in self.memories)


@dataclass(slots=True)
class Committer:
    """Commits sessions. Thread-safe; what two processes commit at once is written once."""

    store: Store
    embedding: Embedding
    clock: Clock
    rules: Extractor
    model: Extractor | None
    notices: Notices
    _lock: Lock = field(default_factory=Lock)

    def commit(self, session: str) -> Commit:
        """Learn from the steps that nothing was learnt from yet, and close the session.

        A model that fails leaves the session failed and its job due again later; after five failures the rules read it.
        """
        run = run_of(self.store, session)
        if run is None:
            raise NotFound(f"There is no session {session!r}", remedy="Open one with session().")
        job = next((job for job in self.store.jobs(TASK) if job.subject == session), None)
        attempts, note = (0, None) if job is None else (job.attempts, job.error)
        extractor = self.rules if self.model is None or attempts >= MOST_ATTEMPTS else self.model
        try:
            done = self._commit(run, extractor, note if extractor is self.rules else None)
        except ModelUnavailable as error:
            done = self._failed(run, attempts + 1, extractor.name, str(error))
        self._tell(done, attempts)
        return done

    def _commit(self, run: Run, extractor: Extractor, note: str | None) -> Commit:
        steps = run.steps_after(run.learnt, self.store)
        goal, turns = run.goal or "", turns_of(steps)
        taken = annotated(steps, turns, extractor.annotate(goal, turns) if turns else (), goal)
        trajectories = cut(taken, self.embedding.rows)
        findings = Findings(run, self.clock.now(), extractor.name)
        for trajectory in trajectories:
            findings.add(lesson(extractor, goal, trajectory))
        vectors = vectors_of(findings, self.embedding, [run.memory, *steps])
        with self._lock:  # two of our own sessions must not both bring the same intent in two wordings
            intents = resolve(
                findings.wanted.values(), {id: views["text"] for id, views in vectors.items()}, self.store
            )
            lessons = Lessons(run, taken, findings, intents, vectors, note)
            self.store.update(lessons.plan)
        learnt, cuts = len(lessons.steps), len(trajectories) if lessons.steps else 0
        return Commit(run.id, lessons.state, learnt, cuts, extractor.name, tuple(lessons.written), note=note)

    def _failed(self, run: Run, attempts: int, by: str, error: str) -> Commit:
        """Keep the failure with the session and try again later; its steps are as they were."""
        due = self.clock.now() + retry_after(attempts)

        def plan(reader: Reader) -> Batch:
            now = run_of(reader, run.id)
            if now is None or now.learnt != run.learnt:
                return Batch()
            failed = now.revised(state="failed", error=error)
            return Batch(revised=[failed], jobs=[Job(TASK, run.id, due, attempts, error)])

        self.store.update(plan)
        return Commit(run.id, "failed", run.steps - run.learnt, by=by, error=error)

    def _tell(self, done: Commit, attempts: int) -> None:
        now = self.clock.now()
        if done.error is not None:
            counts = {"steps": done.steps, "attempts": attempts + 1}
            self.notices.tell(Notice("extraction_failed", now, (done.session,), counts, done.error))
        elif done.steps:
            self._tell_commit(done, now)

    def _tell_commit(self, done: Commit, now: datetime) -> None:
        counts = {"steps": done.steps, "trajectories": done.trajectories, **done.counts}
        texts = tuple(memory.text for memory in done.memories)
        self.notices.tell(Notice("commit", now, (done.session,), counts, texts=texts))

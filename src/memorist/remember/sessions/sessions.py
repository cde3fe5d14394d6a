"""All sessions of a space: opening them, committing those that were left, and asking from within one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from memorist.asking import Askers
from memorist.asking.fence import clipped
from memorist.errors import NotFound
from memorist.notices import Notices
from memorist.ports import Clock, Embedder, Job, Store
from memorist.remember.sessions.commit import Commit, Committer
from memorist.remember.sessions.embedding import Embedding
from memorist.remember.sessions.log import IDLE, Log
from memorist.remember.sessions.model import Model
from memorist.remember.sessions.rules import Rules
from memorist.remember.sessions.run import run_of
from memorist.remember.sessions.session import Session

STEPS_IN_CONTEXT = 3
LONGEST_IN_CONTEXT = 160
"""Characters of the goal and of each step before a question: small embedders read only a page."""


class Sessions:
    """The sessions of one store. `waiting` is called when something was left to do."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        *,
        askers: Askers | None = None,
        notices: Notices | None = None,
        idle: timedelta = IDLE,
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._waiting = waiting
        notices = notices or Notices()
        embedding, rules = Embedding(store, embedder), Rules()
        model = Model(askers, rules) if askers is not None and askers.models else None
        self.log = Log(store, embedding, clock, notices, idle)
        self._committer = Committer(store, embedding, clock, rules, model, notices)

    def open(self, goal: str | None = None, id: str | None = None, scope: str | None = None) -> Session:
        """Begin a session, or go on with the one of that id."""
        run = self.log.open(goal, id, scope)
        self._waiting()
        return Session(self, run)

    def commit(self, id: str) -> Commit:
        """Learn from a session's steps and close it."""
        done = self._committer.commit(id)
        if done.state != "closed":
            self._waiting()
        return done

    def work(self, job: Job) -> None:
        """Commit the session that a job names; one that was forgotten needs nothing."""
        with suppress(NotFound):
            self._committer.commit(job.subject)

    def question(self, session: str, query: str) -> str | None:
        """A query after the goal and the last three steps of a session; None where there is no such session."""
        run = run_of(self._store, session)
        if run is None:
            return None
        last = run.steps_after(max(0, run.steps - STEPS_IN_CONTEXT), self._store)
        texts = [run.goal or "", *(step.text for step in last)]
        lines = [clipped(" ".join(text.split()), LONGEST_IN_CONTEXT) for text in texts if text]
        return "\n".join([*lines, query])

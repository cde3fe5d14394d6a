"""A run of an agent: its log of steps, and the verbs to go on with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self, TypeVar
from uuid import uuid4

from memorist.asking import Asker, Askers, BudgetSpent
from memorist.asking import sessions as asking_session
from memorist.asking import sessions as asking_trajectory
from memorist.asking.sessions import Annotation, Instruction, Proposition, Turn
from memorist.asking.wording import clipped
from memorist.errors import InvalidInput, ModelUnavailable, NotFound
from memorist.model import Memory
from memorist.ports import Batch, Clock, Embedder, Job, Reader, Store, Vectors
from memorist.ports.notices import Notice, Notices, logger
from memorist.remember.entities import about
from memorist.remember.sessions.commit import Commit, Committer, SessionEmbedding
from memorist.remember.sessions.rules import SessionRules
from memorist.remember.sessions.run import TASK, Extractor, SessionRun, checked_step, run_memory, run_of, step_link

T = TypeVar("T")


class Model:
    """Asks a model, with a budget for the annotations and one for each thing asked of a trajectory.

    A step that has no model, or finds its budget spent, is done by `otherwise`: asking again would spend it again.
    """

    def __init__(self, askers: Askers, otherwise: Extractor) -> None:
        self._askers = askers
        self._otherwise = otherwise

    @property
    def name(self) -> str:
        """The models in use."""
        asker = self._askers.for_extraction()
        steps = ("annotate", "propositions", "instructions")
        names = dict.fromkeys(asker and asker.model_for(step) for step in steps)
        return ", ".join(name or self._otherwise.name for name in names)

    def annotate(self, goal: str, turns: Sequence[Turn]) -> Sequence[Annotation]:
        """State, subgoal and reward of each step."""
        return self._asked(
            "annotate",
            lambda asker: asking_session.annotate(asker, goal, turns),
            lambda: self._otherwise.annotate(goal, turns),
        )

    def propositions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> Sequence[Proposition]:
        """What a trajectory shows to be so."""
        return self._asked(
            "propositions",
            lambda asker: asking_trajectory.propositions(asker, goal, subgoal, turns),
            lambda: self._otherwise.propositions(goal, subgoal, turns),
        )

    def instructions(self, goal: str, subgoal: str, turns: Sequence[Turn]) -> Sequence[Instruction]:
        """What a trajectory shows about how to do things."""
        return self._asked(
            "instructions",
            lambda asker: asking_trajectory.instructions(asker, goal, subgoal, turns),
            lambda: self._otherwise.instructions(goal, subgoal, turns),
        )

    def _asked(self, step: str, ask: Callable[[Asker], T], otherwise: Callable[[], T]) -> T:
        asker = self._askers.for_extraction()
        if asker is None or asker.model_for(step) is None:
            return otherwise()
        try:
            return ask(asker)
        except BudgetSpent:
            return otherwise()


IDLE = timedelta(minutes=30)
"""A session without a step for so long is committed by whoever works next."""


@dataclass(frozen=True, slots=True)
class Log:
    """Writes sessions and steps. Each step puts off the moment at which its session counts as idle."""

    store: Store
    embedding: SessionEmbedding
    clock: Clock
    notices: Notices
    idle: timedelta = IDLE

    def open(self, goal: str | None, id: str | None, scope: str | None) -> SessionRun:
        """Begin a session, or go on with the one of that id; a goal given then replaces the old one."""
        now = self.clock.now()
        id = uuid4().hex if id is None else id
        fresh = run_memory(id, goal or None, scope or "global", now)
        views = self._views(fresh)

        def plan(reader: Reader) -> Batch:
            known = run_of(reader, id)
            if known is not None:
                return self._resumed(known, fresh, views, scope, reader)
            entities, links = about([fresh], reader.entities)
            return Batch([fresh], _of(fresh, views), links, entities, jobs=[self._job(id, now, reader)])

        self.store.update(plan)
        return self._run(self.store, id)

    def _resumed(self, run: SessionRun, fresh: Memory, views: Vectors, scope: str | None, reader: Reader) -> Batch:
        if scope is not None and scope != run.memory.scope:
            raise InvalidInput(
                f"Session {run.id!r} belongs to scope {run.memory.scope!r}",
                remedy="Leave scope out to go on with it, or give the new session another id.",
            )
        jobs = [self._job(run.id, fresh.times.ingested_at, reader)]
        goal = fresh.metadata["goal"]
        if goal is None or goal == run.goal:
            return Batch(revised=[run.revised(state="open")], jobs=jobs)
        revised = replace(run.revised(state="open", goal=goal), text=fresh.text)
        return Batch(revised=[revised], vectors=_of(revised, views), jobs=jobs)

    def step(self, run: SessionRun, observation: str, action: str | None, reward: float | None) -> Memory:
        """Keep a step; it can be found as soon as this returns. Its number is drawn inside the write."""
        now = self.clock.now()
        views = self._views(checked_step(run, observation, action, reward, now))

        def plan(reader: Reader) -> Batch:
            current = self._run(reader, run.id)
            step = checked_step(current, observation, action, reward, now)
            entities, links = about([step], reader.entities)
            return Batch(
                memories=[step],
                vectors=_of(step, views),
                links=[step_link(current, step), *links],
                entities=entities,
                revised=[current.revised(state="open", steps=current.steps + 1)],
                jobs=[self._job(run.id, now, reader)],
            )

        return self.store.update(plan)[0]

    def _run(self, reader: Reader, id: str) -> SessionRun:
        run = run_of(reader, id)
        if run is None:
            raise NotFound(f"Session {id!r} was forgotten", remedy="Open a new one with session().")
        return run

    def _job(self, id: str, now: datetime, reader: Reader) -> Job:
        known = next((job for job in reader.jobs(TASK) if job.subject == id), None)
        due = now + self.idle
        return Job(TASK, id, due) if known is None else replace(known, due=due)

    def _views(self, memory: Memory) -> Vectors:
        """A memory's vectors; one that cannot be embedded now is kept without, and gets them with the commit."""
        try:
            return self.embedding.views(memory.text)
        except ModelUnavailable as error:
            self.notices.tell(Notice("unembedded", self.clock.now(), (memory.id,), error=str(error)))
            return {}


def _of(memory: Memory, views: Vectors) -> dict[str, Vectors]:
    return {memory.id: views} if views else {}


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
        embedding, rules = SessionEmbedding(store, embedder), SessionRules()
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


class Session:
    """A run of an agent: keeps its steps, and learns from them when it is committed. Thread-safe."""

    def __init__(self, sessions: Sessions, run: SessionRun) -> None:
        self._sessions = sessions
        self._run = run

    @property
    def id(self) -> str:
        """The session's id, by which it can be gone on with."""
        return self._run.id

    @property
    def goal(self) -> str | None:
        """What the agent is to achieve."""
        return self._run.goal

    def step(self, observation: str, action: str | None = None, reward: float | None = None) -> Memory:
        """Keep what was observed and what was then done, verbatim; it can be found as soon as this returns.

        `reward`, from 0 to 1, tells how well the action went; left out, it is judged by what is observed next.
        """
        return self._sessions.log.step(self._run, observation, action, reward)

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again.

        A failing model raises nothing here: the steps stay, and the commit is tried again later.
        """
        return self._sessions.commit(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, also after a failure: an agent learns from those too."""
        try:
            self.commit()
        except Exception:
            if error is None:
                raise
            logger.warning("session %s was not committed and will be when it is idle", self.id, exc_info=True)

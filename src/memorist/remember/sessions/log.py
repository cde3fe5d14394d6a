"""Keep sessions and their steps as they come: verbatim, at once, and without asking a language model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import uuid4

from memorist.errors import InvalidInput, ModelUnavailable, NotFound
from memorist.model import Memory
from memorist.notices import Notice, Notices
from memorist.ports import Batch, Clock, Job, Reader, Store, Vectors
from memorist.remember.entities import about
from memorist.remember.sessions.embedding import Embedding
from memorist.remember.sessions.run import TASK, Run, checked_step, run_memory, run_of, step_link

IDLE = timedelta(minutes=30)
"""A session without a step for so long is committed by whoever works next."""


@dataclass(frozen=True, slots=True)
class Log:
    """Writes sessions and steps. Each step puts off the moment at which its session counts as idle."""

    store: Store
    embedding: Embedding
    clock: Clock
    notices: Notices
    idle: timedelta = IDLE

    def open(self, goal: str | None, id: str | None, scope: str | None) -> Run:
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

    def _resumed(self, run: Run, fresh: Memory, views: Vectors, scope: str | None, reader: Reader) -> Batch:
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

    def step(self, run: Run, observation: str, action: str | None, reward: float | None) -> Memory:
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

    def _run(self, reader: Reader, id: str) -> Run:
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

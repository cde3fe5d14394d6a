"""A session of an agent: its log of steps, and the verbs to continue and commit it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Concatenate, ParamSpec, Self, TypeVar
from uuid import uuid4

from memorist.asking import Askers, BudgetSpent, LLMAsker
from memorist.asking import sessions as asking_sessions
from memorist.asking.sessions import LONGEST_SIDE, AgentStep, Annotation, Instruction, Proposition
from memorist.asking.wording import clip
from memorist.errors import InvalidInput, ModelUnavailable, NotFound, Remedy, VerbCall, no_session
from memorist.model import (
    CITES,
    INSTRUCTIONS,
    PROVENANCE,
    USUAL_CLASSIFICATION,
    GateDecision,
    Link,
    Memory,
    Outcome,
    Remembered,
    Surroundings,
)
from memorist.model.arguments import checks_arguments
from memorist.ports import Batch, Clock, Job, Reader, Store
from memorist.ports.notices import Notice, Notices, logger
from memorist.remember.forgetting import dependents, erase_chosen
from memorist.remember.incoming import Incoming
from memorist.remember.jobs import COMMIT_TASK
from memorist.remember.journal import rename_decision, shared_entry
from memorist.remember.sessions.commit import Committer
from memorist.remember.sessions.rules import SessionRules
from memorist.remember.sessions.run import (
    Extractor,
    SessionRun,
    number_step,
    run_memory,
    run_of,
    source_of,
    step_memory,
    step_text,
    turns_of,
)
from memorist.remember.writer import Writer
from memorist.results.records import Receipt
from memorist.results.writing import Commit

P = ParamSpec("P")
T = TypeVar("T")


class ModelExtractor:
    """Asks a language model, with one budget for the annotations and one for each question about a trajectory.

    If a question has no model, or its budget is spent, `otherwise` answers it.
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

    def annotate(self, goal: str, turns: Sequence[AgentStep]) -> Sequence[Annotation]:
        """State, subgoal and reward of each step."""
        return self._asked(asking_sessions.annotate, self._otherwise.annotate, goal, turns)

    def propositions(self, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> Sequence[Proposition]:
        """The facts that a trajectory shows."""
        return self._asked(asking_sessions.propositions, self._otherwise.propositions, goal, subgoal, turns)

    def instructions(self, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> Sequence[Instruction]:
        """The instructions that a trajectory shows."""
        return self._asked(asking_sessions.instructions, self._otherwise.instructions, goal, subgoal, turns)

    def _asked(
        self,
        ask: Callable[Concatenate[LLMAsker, P], Sequence[T]],
        otherwise: Callable[P, Sequence[T]],
        *given: P.args,
        **options: P.kwargs,
    ) -> Sequence[T]:
        asker = self._askers.for_extraction()
        if asker is not None and asker.model_for(otherwise.__name__) is not None:
            with suppress(BudgetSpent):
                return ask(asker, *given, **options)
        return otherwise(*given, **options)


IDLE = timedelta(minutes=30)
"""A session without a step for this long is committed by the next worker."""


@dataclass(frozen=True, slots=True)
class Log:
    """Writes sessions and steps. Each step postpones the moment at which its session counts as idle."""

    store: Store
    writer: Writer
    clock: Clock
    notices: Notices
    idle: timedelta = IDLE
    classification: int = USUAL_CLASSIFICATION

    def open(self, goal: str | None, id: str | None, scope: str | None) -> SessionRun:
        """Begin a session, or continue the one with that id; a goal given then replaces the old one."""
        return self.writer.retry_if_reembedded(lambda: self._open(goal, id, scope))

    def _open(self, goal: str | None, id: str | None, scope: str | None) -> SessionRun:
        now = self.clock.now()
        begun = run_memory(uuid4().hex if id is None else id, goal or None, scope or "global", self.classification, now)
        incoming = self._prepared(begun, embed=bool(goal) or id is None or run_of(self.store, id) is None)
        fresh = incoming.checked.memories[0]
        name = fresh.origin.session or ""

        def plan(reader: Reader) -> Batch:
            known = run_of(reader, name)
            jobs = [self._job(name, now, reader)]
            batch = incoming.batch() if known is None else self._resumed(known, incoming, scope)
            return replace(batch, jobs=jobs)

        self.store.update(plan, incoming.batch())
        return replace(self._run(self.store, name), gates=incoming.checked.answers[0].decisions)

    def _resumed(self, run: SessionRun, incoming: Incoming, scope: str | None) -> Batch:
        fresh = incoming.checked.memories[0]
        if scope is not None and fresh.scope != run.memory.scope:
            raise InvalidInput(
                f"Session {run.id!r} belongs to scope {run.memory.scope!r}",
                remedy="Leave scope out to continue it, or give the new session another id.",
            )
        goal = fresh.metadata["goal"]
        if goal is None or goal == run.goal:
            return Batch(revised=[run.revised(state="open")])
        flags = [flag for flag in run.memory.worth.flags if flag != INSTRUCTIONS]
        worth = replace(run.memory.worth, trust=fresh.worth.trust, flags=(*flags, *fresh.worth.flags))
        revised = replace(run.revised(state="open", goal=goal), text=fresh.text, worth=worth, mentions=fresh.mentions)
        views = incoming.vectors.get(fresh.id)
        return Batch(revised=[revised], vectors={revised.id: views} if views else {}, journal=incoming.entries)

    def step(
        self, run: SessionRun, observation: str, action: str | None, reward: float | None, number: int | None
    ) -> Remembered:
        """Keep a step; it can be found as soon as this returns. Without a number it gets the next one."""
        return self.writer.retry_if_reembedded(lambda: self._step(run, observation, action, reward, number))

    def _step(
        self, run: SessionRun, observation: str, action: str | None, reward: float | None, number: int | None
    ) -> Remembered:
        now = self.clock.now()
        incoming = self._prepared(step_memory(run, observation, action, reward, now))
        outcome = Outcome.KEPT

        def plan(reader: Reader) -> Batch:
            nonlocal outcome
            current = self._run(reader, run.id)
            step = number_step(incoming.memories[0], current, current.steps + 1 if number is None else number)
            outcome = Outcome.KNOWN if _is_known(step, current, reader) else Outcome.KEPT
            if outcome is Outcome.KNOWN:
                return Batch(memories=[step])
            batch, source = incoming.batch_as(step), source_of(step)
            return replace(
                batch,
                memories=[step, source],
                links=[Link(step.id, PROVENANCE, source.id), *batch.links],
                journal=[shared_entry(entry, step.id, source.id) for entry in batch.journal],
                revised=[current.revised(state="open", steps=step.origin.position)],
                jobs=[self._job(run.id, now, reader)],
            )

        probable = self._run(self.store, run.id)
        step = number_step(incoming.memories[0], probable, probable.steps + 1)
        draft = replace(incoming.batch_as(step), memories=[step, source_of(step)])
        kept = self.store.update(plan, draft)[0]
        decisions = incoming.checked.answers[0].decisions
        return Remembered.of(kept, outcome, [rename_decision(decision, kept) for decision in decisions])

    def _run(self, reader: Reader, id: str) -> SessionRun:
        run = run_of(reader, id)
        if run is None:
            raise NotFound(
                f"Session {id!r} was forgotten", remedy=Remedy("Open a new one with ", VerbCall("session"), ".")
            )
        return run

    def _job(self, id: str, now: datetime, reader: Reader) -> Job:
        known = next(iter(reader.jobs(COMMIT_TASK, 1, id)), None)
        due = now + self.idle
        return Job(COMMIT_TASK, id, due) if known is None else replace(known, due=due)

    def _prepared(self, memory: Memory, *, embed: bool = True) -> Incoming:
        """A memory ready to be written; if it cannot be embedded now, it gets its vectors with the commit."""
        try:
            return self.writer.prepare([memory], embed=embed)
        except ModelUnavailable as error:
            self.notices.tell(Notice("unembedded", self.clock.now(), (memory.id,), error=str(error)))
            return self.writer.prepare([memory], embed=False)


def _is_known(step: Memory, run: SessionRun, reader: Reader) -> bool:
    """Whether a numbered step was kept before; a number that is taken or skips some is refused."""
    known = reader.get([step.id]).get(step.id)
    if known is None and step.origin.position == run.steps + 1:
        return False
    if known is not None and known.text == step.text:
        return True
    problem = f"is not the next step of session {run.id!r}, which has {run.steps}"
    raise InvalidInput(f"{step.origin.position} {problem}", remedy="Leave the number out, or count from 1.")


STEPS_IN_CONTEXT = 3


def _as_line(text: str) -> str:
    """A goal, an observation or an action on one line, as long as a model reads it at a commit."""
    return clip(" ".join(text.split()), LONGEST_SIDE)


class Sessions:
    """The sessions of one store.

    `on_new_job` is called when there is a new job, `cut_notes` before memories are erased, to remove the lines of notes
    that cite them, and `overwrite` afterwards; it returns whether no byte of them is left.
    """

    def __init__(
        self,
        store: Store,
        writer: Writer,
        clock: Clock,
        *,
        askers: Askers | None = None,
        notices: Notices | None = None,
        idle: timedelta = IDLE,
        on_new_job: Callable[[], None] = lambda: None,
        cut_notes: Callable[[Collection[str], datetime], Collection[str]] = lambda ids, now: (),
        overwrite: Callable[[], bool] = lambda: True,
        classification: int = USUAL_CLASSIFICATION,
    ) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock
        self._on_new_job = on_new_job
        self._cut_notes = cut_notes
        self._overwrite = overwrite
        notices = notices or Notices()
        rules = SessionRules()
        model = ModelExtractor(askers, rules) if askers is not None and askers.models else None
        self.log = Log(store, writer, clock, notices, idle, classification)
        self._committer = Committer(store, writer, clock, rules, model, notices)

    def open(self, goal: str | None = None, id: str | None = None, scope: str | None = None) -> Session:
        """Begin a session, or continue the one with that id."""
        run = self.log.open(goal, id, scope)
        self._on_new_job()
        return Session(self, run)

    def commit(self, id: str) -> Commit:
        """Learn from a session's steps and close it."""
        done = self._committer.commit(id)
        if done.state != "closed":
            self._on_new_job()
        return done

    def discard(self, id: str) -> Receipt:
        """Erase the steps of a session that nothing was learnt from yet, and close it.

        Which steps these are is decided inside the write: either a commit at the same moment has learnt from a step, or
        the step is gone and the commit learns nothing.
        """
        now, probable = self._clock.now(), self._discarded(id, self._store)[0]
        lines = self._cut_notes(dependents(probable, self._store).keys(), now) if probable else ()
        gone = sorted({*lines, *erase_chosen(self._store, lambda reader: self._discarded(id, reader))})
        return Receipt(tuple(gone), now, pending=bool(gone) and not self._overwrite())

    def _discarded(self, id: str, reader: Reader) -> tuple[list[str], Batch]:
        """The steps to erase with the lines of notes that cite them, and what closes the session."""
        run = run_of(reader, id)
        if run is None:
            raise no_session(id)
        steps = [step.id for step in run.steps_after(run.learnt, reader)]
        citing = {link.source for link in reader.links(sorted(dependents(steps, reader)), CITES)} if steps else ()
        closed = run.revised(state="closed", learnt=run.steps, error=None)
        revised = [] if closed == run.memory else [closed]
        return [*steps, *sorted(citing)], Batch(revised=revised, done=[(COMMIT_TASK, id)])

    def work(self, job: Job) -> None:
        """Commit the session of a job; a forgotten session is skipped."""
        with suppress(NotFound):
            self._committer.commit(job.subject)

    def surroundings(self, session: str) -> Surroundings | None:
        """The goal and the last three steps of a session; None if there is no such session."""
        run = run_of(self._store, self._writer.text(session))
        if run is None:
            return None
        last = turns_of(run.steps_after(max(0, run.steps - STEPS_IN_CONTEXT), self._store))
        steps = [step_text(_as_line(step.observation), _as_line(step.action)).replace("\n", " ") for step in last]
        return Surroundings(_as_line(run.goal or ""), tuple(steps), run.not_learnt_from())


@checks_arguments
class Session:
    """A session of an agent: keeps its steps, and learns from them when it is committed. Thread-safe."""

    def __init__(self, sessions: Sessions, run: SessionRun) -> None:
        self._sessions = sessions
        self._run = run

    @property
    def id(self) -> str:
        """The session's id, by which it can be continued."""
        return self._run.id

    @property
    def goal(self) -> str | None:
        """The agent's goal."""
        return self._run.goal

    @property
    def gates(self) -> tuple[GateDecision, ...]:
        """What gates decided about the goal when the session was opened."""
        return self._run.gates

    def step(
        self,
        observation: str,
        action: str | None = None,
        reward: float | None = None,
        *,
        number: int | None = None,
    ) -> Remembered:
        """Keep what was observed and what was then done, verbatim; it can be found as soon as this returns.

        `reward`, from 0 to 1, says how well the action went; by default the next observation decides. With its
        `number`, counted from 1, a step can safely be sent again: the same step is kept once.
        """
        return self._sessions.log.step(self._run, observation, action, reward, number)

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again.

        If the model fails, nothing is raised: the steps stay, and the commit is tried again later.
        """
        return self._sessions.commit(self.id)

    def discard(self) -> Receipt:
        """Erase, as `forget` does, the steps that were not committed, and close the session.

        Nothing is learnt from them. What was committed before stays, and so does the goal. Another step opens the
        session again.
        """
        return self._sessions.discard(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, *_: object) -> None:
        """Commit, even after an exception: an agent learns from failures too."""
        try:
            self.commit()
        except Exception:
            if kind is None:
                raise
            logger.warning("session %r was not committed and will be when it is idle", self.id, exc_info=True)

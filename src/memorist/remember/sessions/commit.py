"""Commit: a run becomes nodes, links and rewards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from memorist.errors import ModelUnavailable, NotFound
from memorist.model import Link, Memory
from memorist.ports import Batch, Clock, Embedded, Embedder, Job, Reader, Store, Vectors
from memorist.ports.notices import Notice, Notices
from memorist.remember.entities import about
from memorist.remember.jobs import retry_after
from memorist.remember.sessions.lessons import Findings, lesson
from memorist.remember.sessions.rules import Resolved, resolve
from memorist.remember.sessions.run import (
    HIERARCHY,
    TASK,
    Extractor,
    RunStep,
    SessionRun,
    State,
    annotated,
    cut,
    run_of,
    turns_of,
)

if TYPE_CHECKING:
    from memorist.ports import Vector


class SessionEmbedding:
    """An embedder and the store that keeps its vectors; without an embedder it gives none."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self._embedder = embedder

    def rows(self, texts: Sequence[str]) -> Vector | None:
        """A row per text; the store then knows what made them."""
        if self._embedder is None or not texts:
            return None
        rows = self._embedder.embed(texts, purpose="memory")
        self._store.adopt(self._embedder.generation, self._embedder.dim)
        return rows

    def views(self, text: str) -> Vectors:
        """The vectors of one text."""
        rows = self.rows([text])
        return {} if rows is None else self.made({"text": rows[0]})

    def made(self, views: Vectors) -> Vectors:
        """Vectors that tell who made them, so that a store re-embedded meanwhile refuses them."""
        return views if self._embedder is None else Embedded(self._embedder.generation, views)

    def missing(self, ids: Sequence[str]) -> list[str]:
        """Which of these memories have no vector though there is an embedder."""
        if self._embedder is None:
            return []
        having = self._store.embedded(ids)
        return [id for id in ids if id not in having]


INTENT_VIEW = "intent"
"""The view of a procedure that is only what it is for: that is how people ask for one."""


def vectors_of(findings: Findings, embedding: SessionEmbedding, kept: Sequence[Memory]) -> dict[str, Vectors]:
    """Vectors of everything found, a second view of procedures, and those that kept memories lack; in one call."""
    lacking = set(embedding.missing([memory.id for memory in kept]))
    asked = [(one.id, "text", one.text) for one in (*findings.memories.values(), *findings.wanted.values())]
    asked += [(id, INTENT_VIEW, intent.text) for id, intent in findings.wanted.items()]
    asked += [(memory.id, "text", memory.text) for memory in kept if memory.id in lacking]
    rows = embedding.rows([text for _, _, text in asked])
    vectors: dict[str, dict[str, Vector]] = {}
    if rows is not None:
        for (id, view, _), row in zip(asked, rows, strict=True):
            vectors.setdefault(id, {})[view] = row
    return {id: embedding.made(views) for id, views in vectors.items()}


@dataclass(slots=True)
class Lessons:
    """A plan for the store: what one commit writes. Afterwards it tells what was new, and the session's state."""

    run: SessionRun
    steps: Sequence[RunStep]
    findings: Findings
    intents: Resolved
    vectors: Mapping[str, Vectors]
    note: str | None = None
    written: Sequence[Memory] = ()
    state: State = "closed"

    def plan(self, reader: Reader) -> Batch:
        """Everything, unless somebody has learnt from these steps meanwhile; later steps keep the session open."""
        now = run_of(reader, self.run.id)
        if now is None or now.learnt != self.run.learnt:
            self.state, self.steps = now.state if now else "closed", ()
            return Batch()
        self.state = "closed" if now.steps == self.run.steps else "open"
        done = [(TASK, self.run.id)] if self.state == "closed" else []
        if not self.steps and now.state == "closed":
            return Batch(done=done)
        return replace(self._content(reader, now), done=done)

    def _content(self, reader: Reader, now: SessionRun) -> Batch:
        given = {**self.findings.memories, **self.intents.new}
        links = [*self.findings.links, *self._purposes()]
        there = reader.get(list({*given, *self.intents.wordings, *(end for link in links for end in _ends(link))}))
        self.written = [self._reworded(memory) for id, memory in given.items() if id not in there]
        steps = [self._read(there[step.memory.id], step) for step in self.steps if step.memory.id in there]
        merged = [self._reworded(there[id]) for id in self.intents.wordings if id in there]
        entities, mentions = about(self.written, reader.alike)
        ids = {*there, *given}
        changed = {memory.id for memory in (*self.written, *steps, now.memory)}
        return Batch(
            memories=self.written,
            revised=[*steps, *merged, self._closed(now)],
            vectors={id: views for id, views in self.vectors.items() if id in changed},
            links=[*(link for link in links if ids.issuperset(_ends(link))), *mentions],
            entities=entities,
            rewards={id: rewards for id, rewards in self.findings.rewards.items() if id in ids},
        )

    def _purposes(self) -> Iterator[Link]:
        for procedure, intent in self.findings.wanted.items():
            yield Link(procedure, HIERARCHY, self.intents.chosen[intent.id])

    def _reworded(self, memory: Memory) -> Memory:
        """An intent with the other wordings that were found for it."""
        new = self.intents.wordings.get(memory.id)
        if not new:
            return memory
        aliases = list(dict.fromkeys([*memory.metadata.get("aliases", ()), *new]))
        return replace(memory, metadata={**memory.metadata, "aliases": aliases})

    def _read(self, memory: Memory, step: RunStep) -> Memory:
        found: dict[str, Any] = {"state": step.turn.state, "subgoal": step.subgoal, "reward": step.reward}
        return replace(memory, metadata={**memory.metadata, **found})

    def _closed(self, now: SessionRun) -> Memory:
        return now.revised(
            state=self.state,
            learnt=self.run.steps,
            subgoal=self.findings.subgoal,
            by=self.findings.by,
            note=self.note,
            error=None,
        )


def _ends(link: Link) -> tuple[str, str]:
    return link.source, link.target


MOST_ATTEMPTS = 5
"""After so many failures of a model the rules read the session instead."""


@dataclass(frozen=True, slots=True)
class Commit:
    """How a session was learnt from: its state now, who read it, and how many new memories of each kind there are."""

    IN_JSON: ClassVar = ("counts",)

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
    embedding: SessionEmbedding
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

    def _commit(self, run: SessionRun, extractor: Extractor, note: str | None) -> Commit:
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

    def _failed(self, run: SessionRun, attempts: int, by: str, error: str) -> Commit:
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

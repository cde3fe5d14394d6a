"""Commit: a session becomes memories, links and rewards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from memorist.errors import ModelUnavailable, no_session
from memorist.model import HIERARCHY, Link, Memory
from memorist.models.embedding_text import TEXT
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Batch, Clock, Job, Reader, Store, Vectors
from memorist.ports.notices import Notice, Notices
from memorist.remember.incoming import Incoming
from memorist.remember.jobs import COMMIT_TASK, retry_after
from memorist.remember.rereading import ChangedMeanwhile, check_as_read
from memorist.remember.sessions.lessons import Findings
from memorist.remember.sessions.rules import Resolved, resolve
from memorist.remember.sessions.run import Extractor, RunStep, SessionRun, annotate_steps, cut, run_of, turns_of
from memorist.remember.writer import Writer
from memorist.results.writing import Commit, SessionState

INTENT_VIEW = "intent"
"""The view of a procedure that embeds only its intent: people ask for procedures by their purpose."""


def vectors_of(
    findings: Findings, embedder: StoreEmbedder | None, store: Store, kept: Sequence[Memory]
) -> dict[str, Vectors]:
    """Vectors of all findings, a second view of procedures, and the vectors that kept memories lack; in one call."""
    if embedder is None:
        return {}
    embedded = store.embedded([memory.id for memory in kept])
    lacking = [memory for memory in kept if memory.id not in embedded]
    texts: dict[str, dict[str, str]] = {
        memory.id: {TEXT: memory.text} for memory in (*findings.memories.values(), *findings.wanted.values(), *lacking)
    }
    for procedure, intent in findings.wanted.items():
        texts[procedure][INTENT_VIEW] = intent.text
    return embedder.of_views(texts)


@dataclass(slots=True)
class Lessons:
    """The write of one commit; afterwards it holds the new memories and the session's state."""

    run: SessionRun
    steps: Sequence[RunStep]
    findings: Findings
    incoming: Incoming
    intents: Resolved
    vectors: Mapping[str, Vectors]
    note: str | None = None
    written: Sequence[Memory] = ()
    state: SessionState = "closed"

    def plan(self, reader: Reader) -> Batch:
        """The batch; empty if another process has learnt from these steps. Later steps keep the session open."""
        now = run_of(reader, self.run.id)
        if now is None or now.learnt != self.run.learnt:
            self.state, self.steps = now.state if now else "closed", ()
            return Batch()
        self.state = "closed" if now.steps == self.run.steps else "open"
        done = [(COMMIT_TASK, self.run.id)] if self.state == "closed" else []
        if not self.steps and now.state == "closed":
            return Batch(done=done)
        if now.goal != self.run.goal:
            raise ChangedMeanwhile(self.run.id)
        check_as_read([step.memory for step in self.steps], reader)
        return replace(self._content(reader, now), done=done)

    def draft(self) -> Batch:
        """The memories that the plan will probably write."""
        return Batch(list({**self.findings.memories, **self.intents.new}.values()), self.vectors)

    def _content(self, reader: Reader, now: SessionRun) -> Batch:
        given = {**self.findings.memories, **self.intents.new}
        links = [*self.findings.links, *self._purposes()]
        there = reader.get(list({*given, *self.intents.wordings, *(end for link in links for end in _ends(link))}))
        self.written = [self._reworded(memory) for id, memory in given.items() if id not in there]
        steps = [self._read(there[step.memory.id], step) for step in self.steps if step.memory.id in there]
        merged = [self._reworded(there[id]) for id in self.intents.wordings if id in there]
        new = {memory.id for memory in self.written}
        mentions = [link for link in self.incoming.links if link.source in new]
        mentioned = {link.target for link in mentions}
        ids = {*there, *given}
        changed = {memory.id for memory in (*self.written, *steps, now.memory)}
        return Batch(
            memories=self.written,
            revised=[*steps, *merged, self._closed(now)],
            vectors={id: views for id, views in self.vectors.items() if id in changed},
            links=[*(link for link in links if ids.issuperset(_ends(link))), *mentions],
            entities=[entity for entity in self.incoming.entities if entity.id in mentioned],
            rewards={id: rewards for id, rewards in self.findings.rewards.items() if id in ids},
            journal=[entry for entry in self.incoming.entries if new.intersection(entry.subjects)],
        )

    def _purposes(self) -> Iterator[Link]:
        for procedure, intent in self.findings.wanted.items():
            yield Link(procedure, HIERARCHY, self.intents.chosen[intent.id])

    def _reworded(self, memory: Memory) -> Memory:
        """An intent with its new aliases."""
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
"""After this many failures of the model, the rules read the session instead."""


@dataclass(slots=True)
class Committer:
    """Commits sessions. Thread-safe; if two processes commit the same session, it is written once."""

    store: Store
    writer: Writer
    clock: Clock
    rules: Extractor
    model: Extractor | None
    notices: Notices
    _lock: Lock = field(default_factory=Lock)

    def commit(self, session: str) -> Commit:
        """Learn from the steps that are new since the last commit, and close the session.

        A model that fails leaves the session failed and its job due again later; after five failures the rules read it.
        """
        run = run_of(self.store, session)
        if run is None:
            raise no_session(session)
        job = next(iter(self.store.jobs(COMMIT_TASK, 1, session)), None)
        attempts, note = (0, None) if job is None else (job.attempts, job.error)
        extractor = self.rules if self.model is None or attempts >= MOST_ATTEMPTS else self.model
        try:
            by_rules = note if extractor is self.rules else None
            done = self.writer.retry_if_reembedded(
                lambda: self._commit(run_of(self.store, session) or run, extractor, by_rules)
            )
        except ModelUnavailable as error:
            done = self._failed(run, attempts + 1, extractor.name, self.writer.derived_text(str(error)))
        self._tell(done, attempts)
        return done

    def _commit(self, run: SessionRun, extractor: Extractor, note: str | None) -> Commit:
        steps = run.steps_after(run.learnt, self.store)
        goal, embedder = run.goal or "", self.writer.embedder
        taken = self._annotated(steps, goal, extractor)
        trajectories = cut(taken, embedder.of_texts if embedder else lambda texts: {})
        findings = Findings(run, self.clock.now(), extractor.name)
        for trajectory in trajectories:
            findings.add(trajectory, extractor)
        incoming = self._checked(findings)
        vectors = vectors_of(findings, embedder, self.store, [run.memory, *steps])
        with self._lock:  # two of our own sessions must not both bring the same intent in two wordings
            intents = resolve(findings.wanted.values(), {id: views[TEXT] for id, views in vectors.items()}, self.store)
            lessons = Lessons(run, taken, findings, incoming, intents, vectors, note)
            self.store.update(lessons.plan, lessons.draft())
        learnt, cuts = len(lessons.steps), len(trajectories) if lessons.steps else 0
        return Commit(run.id, lessons.state, learnt, cuts, extractor.name, tuple(lessons.written), note=note)

    def _annotated(self, steps: Sequence[Memory], goal: str, extractor: Extractor) -> list[RunStep]:
        """Steps with what an extractor read in them, as the gates leave it."""
        turns, clean = turns_of(steps), self.writer.derived_text
        found = extractor.annotate(goal, turns) if turns else ()
        found = [
            replace(annotation, state=clean(annotation.state), subgoal=clean(annotation.subgoal))
            for annotation in found
        ]
        return annotate_steps(steps, turns, found, goal)

    def _checked(self, findings: Findings) -> Incoming:
        """Pass findings through the gates; they are embedded later, together with the steps."""
        given = [*findings.memories.values(), *findings.wanted.values()]
        incoming = self.writer.prepare(given, derived=True, embed=False)
        checked = {before.id: answer.memory for before, answer in zip(given, incoming.checked.answers, strict=True)}
        dated = {memory.id: memory for memory in incoming.memories}
        findings.replace_memories({id: dated.get(memory.id, memory) for id, memory in checked.items()})
        return incoming

    def _failed(self, run: SessionRun, attempts: int, by: str, error: str) -> Commit:
        """Record the failure in the session and try again later; the steps stay unchanged."""
        due = self.clock.now() + retry_after(attempts)

        def plan(reader: Reader) -> Batch:
            now = run_of(reader, run.id)
            if now is None or now.learnt != run.learnt:
                return Batch()
            failed = now.revised(state="failed", error=error)
            return Batch(revised=[failed], jobs=[Job(COMMIT_TASK, run.id, due, attempts, error)])

        self.store.update(plan)
        return Commit(run.id, "failed", run.steps - run.learnt, by=by, error=error)

    def _tell(self, done: Commit, attempts: int) -> None:
        kind, counts = "commit", {"steps": done.steps, "trajectories": done.trajectories, **done.counts}
        if done.error is not None:
            kind, counts = "extraction_failed", {"steps": done.steps, "attempts": attempts + 1}
        elif not done.steps:
            return
        texts = tuple(memory.text for memory in done.memories)
        self.notices.tell(Notice(kind, self.clock.now(), (done.session,), counts, done.error, texts=texts))

"""Write what a session taught: everything or nothing, once, and into the store as it stands by then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memorist.model import Link, Memory
from memorist.ports import Batch, Reader, Vectors
from memorist.remember.entities import about
from memorist.remember.sessions.embedding import Embedding
from memorist.remember.sessions.intents import Resolved
from memorist.remember.sessions.lessons import Findings
from memorist.remember.sessions.links import HIERARCHY
from memorist.remember.sessions.run import TASK, Run, State, run_of
from memorist.remember.sessions.trajectory import Step

if TYPE_CHECKING:
    from memorist.ports import Vector

INTENT_VIEW = "intent"
"""The view of a procedure that is only what it is for: that is how people ask for one."""


def vectors_of(findings: Findings, embedding: Embedding, kept: Sequence[Memory]) -> dict[str, Vectors]:
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

    run: Run
    steps: Sequence[Step]
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

    def _content(self, reader: Reader, now: Run) -> Batch:
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

    def _read(self, memory: Memory, step: Step) -> Memory:
        found: dict[str, Any] = {"state": step.turn.state, "subgoal": step.subgoal, "reward": step.reward}
        return replace(memory, metadata={**memory.metadata, **found})

    def _closed(self, now: Run) -> Memory:
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

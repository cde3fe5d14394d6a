"""Lessons: what the trajectories of a session teach, as memories, links and rewards to be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from memorist.asking.sessions import Instruction, Proposition
from memorist.model import HIERARCHY, MEMBERSHIP, PROVENANCE, SIBLING, Kind, Link, Memory, fingerprint
from memorist.remember.derived import session_key, subgoal_key
from memorist.remember.record import Fields, record
from memorist.remember.sessions.rules import is_boilerplate
from memorist.remember.sessions.run import SELF, Extractor, SessionRun, Trajectory, clean
from memorist.text.sameness import canonical


class Findings:
    """The memories, links and rewards of one session; intents are not compared with known ones yet."""

    def __init__(self, run: SessionRun, now: datetime, by: str) -> None:
        self._run = run
        self._now = now
        self.by = by
        self.memories: dict[str, Memory] = {}
        self.links: dict[Link, None] = {}
        self.rewards: defaultdict[str, list[float]] = defaultdict(list)
        self.wanted: dict[str, Memory] = {}
        """The intent of each procedure, by the procedure's id."""
        self.subgoal: str | None = run.memory.metadata.get("subgoal")
        """The id of the last trajectory's subgoal."""

    def add(self, trajectory: Trajectory, extractor: Extractor) -> None:
        """Add what an extractor reads in a trajectory."""
        about = (self._run.goal or "", trajectory.subgoal, trajectory.turns)
        propositions, instructions = extractor.propositions(*about), extractor.instructions(*about)
        self._add_subgoal(trajectory)
        for step in trajectory.steps:
            self.rewards[step.memory.id].append(step.reward)
        for proposition in propositions:
            self._add_proposition(proposition, trajectory)
        for instruction in instructions:
            self._add_instruction(instruction, trajectory)

    def replace_memories(self, checked: Mapping[str, Memory]) -> None:
        """Take memories as the gates left them, given by the ids they had before."""
        ids = {before: after.id for before, after in checked.items()}
        self.memories = {ids[id]: checked[id] for id in self.memories}
        self.wanted = {ids[id]: checked[intent.id] for id, intent in self.wanted.items()}
        self.links = {
            replace(link, source=ids.get(link.source, link.source), target=ids.get(link.target, link.target)): None
            for link in self.links
        }
        for before, after in ids.items():
            if before != after and before in self.rewards:
                self.rewards[after] += self.rewards.pop(before)
        if self.subgoal is not None:
            self.subgoal = ids.get(self.subgoal, self.subgoal)

    def _add_subgoal(self, trajectory: Trajectory) -> None:
        first, last = trajectory.steps[0].memory, trajectory.steps[-1].memory
        subgoal = self._derived(
            trajectory.subgoal,
            kind=Kind.SUBGOAL,
            key=subgoal_key(self._run.id, first.origin.position),
            at=first.times.valid_from,
            session=self._run.id,
            metadata={"steps": [first.origin.position, last.origin.position], "reward": trajectory.reward},
        )
        if self.subgoal is not None:
            self.links[Link(self.subgoal, SIBLING, subgoal.id)] = None
        self.subgoal = subgoal.id
        for step in trajectory.steps:
            self.links[Link(step.memory.id, HIERARCHY, subgoal.id)] = None

    def _add_proposition(self, given: Proposition, trajectory: Trajectory) -> None:
        text = clean(given.text)
        if not text:
            return
        semantic = self._learnt(
            text, f"proposition/{fingerprint(canonical(text))}", Kind.SEMANTIC, trajectory, given.confidence
        )
        for concept in given.concepts:
            label = " ".join(clean(concept).lower().split())
            if not is_boilerplate(label):
                tag = self._derived(label, kind=Kind.TAG, key=f"tag/{label}", at=_end(trajectory))
                self.links[Link(semantic.id, MEMBERSHIP, tag.id)] = None

    def _add_instruction(self, given: Instruction, trajectory: Trajectory) -> None:
        parts = {name: clean(getattr(given, name)) for name in ("intent", "condition", "instruction", "outcome")}
        if not parts["intent"] or not parts["instruction"]:
            return
        key = f"procedure/{fingerprint(canonical(parts['intent']), canonical(parts['instruction']))}"
        procedure = self._learnt(procedure_text(**parts), key, Kind.PROCEDURAL, trajectory, 1.0, **parts)
        self.wanted[procedure.id] = self._made(
            parts["intent"], kind=Kind.INTENT, key=f"intent/{canonical(parts['intent'])}", at=_end(trajectory)
        )

    def _learnt(
        self, text: str, key: str, kind: Kind, trajectory: Trajectory, confidence: float, **metadata: Any
    ) -> Memory:
        """A semantic or procedural memory, linked to its trajectory's steps and rewarded with their mean reward."""
        memory = self._derived(
            text,
            kind=kind,
            key=key,
            at=_end(trajectory),
            session=self._run.id,
            confidence=confidence,
            metadata=metadata,
        )
        self.rewards[memory.id].append(trajectory.reward)
        for step in trajectory.steps:
            self.links[Link(memory.id, PROVENANCE, step.memory.id)] = None
        return memory

    def _derived(self, text: str, **fields: Unpack[Fields]) -> Memory:
        memory = self._made(text, **fields)
        return self.memories.setdefault(memory.id, memory)

    def _made(self, text: str, **fields: Unpack[Fields]) -> Memory:
        given: Fields = {
            **fields,
            "scope": self._run.memory.scope,
            "source": session_key(self._run.id),
            "trust": SELF,
            "classification": self._run.memory.worth.classification,
            "metadata": {**(fields.get("metadata") or {}), "by": self.by},
        }
        return record(text, self._now, **given)


def procedure_text(intent: str, condition: str, instruction: str, outcome: str) -> str:
    """A procedure in words: its purpose, condition, action and outcome."""
    lines = (intent, condition and f"When: {condition}", f"Do: {instruction}", outcome and f"Then: {outcome}")
    return "\n".join(line for line in lines if line)


def _end(trajectory: Trajectory) -> datetime:
    return trajectory.steps[-1].memory.times.valid_from

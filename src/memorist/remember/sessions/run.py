"""A session, its steps, and the trajectories that the steps are cut into."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from math import fsum
from typing import Any, Protocol

from memorist.asking.sessions import AgentStep, Annotation, Instruction, Proposition
from memorist.errors import InvalidInput
from memorist.model import GateDecision, Kind, Memory, isoformat, memory_id, within
from memorist.ports import Reader, Vectors
from memorist.remember.derived import content_stems, overlap, session_key, source_key, step_key
from memorist.remember.record import record
from memorist.results.writing import SessionState
from memorist.text.patterns import lazy
from memorist.text.phrases import phrases
from memorist.text.tokens import sentences

Embed = Callable[[Sequence[str]], Mapping[str, Vectors]]
"""Gives texts their vectors, by text; none without an embedder."""


def neighbouring(texts: Sequence[str], embed: Embed) -> list[float]:
    """How similar each text is to the one before it: by vectors if there is an embedder, else by words."""
    vectors = {text: views["text"] for text, views in embed(list(dict.fromkeys(texts))).items()}
    if vectors:
        return [float(vectors[before] @ vectors[text]) for before, text in pairwise(texts)]
    return [overlap(content_stems(before), content_stems(text)) for before, text in pairwise(texts)]


UNKNOWN_REWARD = 0.5
"""The reward of a step if nothing shows whether it helped."""


class Extractor(Protocol):
    """Reads an agent's steps. Raises ModelUnavailable if it cannot at the moment."""

    @property
    def name(self) -> str:
        """Its name: `rules`, or the name of the model."""
        ...

    def annotate(self, goal: str, turns: Sequence[AgentStep]) -> Sequence[Annotation]:
        """State, subgoal and reward of each step; a step's reward shows in the observation after it."""
        ...

    def propositions(self, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> Sequence[Proposition]:
        """The facts that a trajectory shows."""
        ...

    def instructions(self, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> Sequence[Instruction]:
        """The instructions that a trajectory shows."""
        ...


def clean(text: str) -> str:
    """A text without characters that a store cannot keep."""
    return text.replace("\0", "").encode("utf-8", "replace").decode().strip()


SAME_SUBGOAL = 0.75
"""Subgoals that are less similar than this begin a new trajectory."""
LOOK_BACK = 3
"""How many steps back a step may share words with and still continue their subgoal."""
_MOST_WORDS = 12
_LONGEST = 4000

_NAMED = lazy(
    r"^[^\w\n]*+(?:sub-?goal|goal|objective|to-?do|task|目标|任务|子目标)\s*+[:：]\s*+(?P<what>\S.*)",
    re.IGNORECASE | re.MULTILINE,
)
_TURNED = lazy(
    r"^\W*+(?:(?:now|next(?: up| step)?|then|after that|moving on)[\s,:]+|(?:接下来|现在|下一步)[，：,:\s]*)"
    r"(?P<what>\S.*)",
    re.IGNORECASE,
)
_OPENING = lazy(
    r"^(?:(?:to|on to|let's|let us|let me|please|我(?:们)?(?:要|需要)?|去"
    r"|i(?:'ll| will| need to| have to| want to| am going to|'m going to)|we(?:'ll| will| need to| should))\s+)+",
    re.IGNORECASE,
)


def subgoals(goal: str, turns: Sequence[AgentStep]) -> list[str]:
    """A phrase per step; consecutive steps with the same subgoal have the same phrase.

    An announced subgoal lasts until the next one is announced; others end where two steps share no earlier words.
    """
    topics = [content_stems(f"{turn.observation[:_LONGEST]}\n{turn.action[:_LONGEST]}") for turn in turns]
    found: list[str] = []
    stands = False
    for place, turn in enumerate(turns):
        said = announced_subgoal(turn)
        stands = stands or said is not None
        if said is None:
            goes_on = found and (stands or not _turns_away(topics, place))
            said = found[-1] if goes_on else _made_of(turn, "" if found else goal)
        alike = found and overlap(content_stems(found[-1]), content_stems(said)) >= SAME_SUBGOAL
        found.append(found[-1] if alike else said)
    return found


def announced_subgoal(turn: AgentStep) -> str | None:
    """The subgoal that a step names: `Subgoal: …` anywhere in it, or an action that begins with Now or Next."""
    named = _NAMED.search(turn.action) or _NAMED.search(turn.observation[:_LONGEST])
    turned = named or _TURNED.search(turn.action)
    return as_phrase(turned["what"]) if turned else None


def as_phrase(text: str) -> str:
    """The first sentence as a phrase: no opening such as `I will`, no full stop, at most twelve words."""
    first = (sentences(text[:_LONGEST]) or [text.strip()])[0]
    words = _OPENING.sub("", first).rstrip(" .!;:,。！").split()
    return " ".join(words[:_MOST_WORDS])


def _turns_away(topics: Sequence[frozenset[str]], place: int) -> bool:
    """Whether neither this step nor the one after it shares a word with the steps just before."""
    before = frozenset[str]().union(*topics[max(0, place - LOOK_BACK) : place])
    following = topics[place : place + 2]
    return len(following) == 2 and not any(before & topic for topic in following)


def _made_of(turn: AgentStep, goal: str) -> str:
    """A subgoal for a step that names none: from the goal, the action, or the phrases of the observation."""
    if goal or turn.action.strip():
        return as_phrase(goal or turn.action)
    named = list(dict.fromkeys(phrase.text for phrase in phrases(turn.observation[:_LONGEST])))
    return " ".join(named[:3]) or as_phrase(turn.observation)


UNNAMED = "go on"
"""The subgoal of steps that do not show one."""


@dataclass(frozen=True, slots=True)
class RunStep:
    """A step with its memory, its turn as an extractor sees it, and its subgoal."""

    memory: Memory
    turn: AgentStep
    subgoal: str

    @property
    def reward(self) -> float:
        """Its reward: as given, else as the extractor judged it, else 0.5."""
        return UNKNOWN_REWARD if self.turn.reward is None else self.turn.reward


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Consecutive steps that serve one subgoal."""

    steps: tuple[RunStep, ...]

    @property
    def subgoal(self) -> str:
        """The most frequent subgoal of its steps; the first one in a tie."""
        return Counter(step.subgoal for step in self.steps).most_common(1)[0][0]

    @property
    def reward(self) -> float:
        """The mean reward of its steps."""
        return fsum(step.reward for step in self.steps) / len(self.steps)

    @property
    def turns(self) -> list[AgentStep]:
        """Its turns, as an extractor sees them."""
        return [step.turn for step in self.steps]


def annotate_steps(
    memories: Sequence[Memory], turns: Sequence[AgentStep], found: Sequence[Annotation], goal: str
) -> list[RunStep]:
    """Steps with their annotations; a given reward is kept, and a missing subgoal is taken from the step before."""
    steps: list[RunStep] = []
    for memory, turn, one in zip(memories, turns, found, strict=True):
        subgoal = clean(one.subgoal) or (steps[-1].subgoal if steps else goal or UNNAMED)
        reward = one.reward if turn.reward is None else turn.reward
        steps.append(RunStep(memory, replace(turn, state=clean(one.state) or None, reward=reward), subgoal))
    return steps


def cut(steps: Sequence[RunStep], embed: Embed) -> list[Trajectory]:
    """Trajectories: a new one begins where the similarity of a subgoal to the one before it is below 0.75."""
    runs: list[list[RunStep]] = []
    likeness = neighbouring([step.subgoal for step in steps], embed)
    for step, alike in zip(steps, [None, *likeness], strict=False):
        if alike is None or alike < SAME_SUBGOAL:
            runs.append([])
        runs[-1].append(step)
    return [Trajectory(tuple(run)) for run in runs]


SELF = 2
"""The trust in what an agent saw, did and concluded by itself."""
UNNUMBERED = 0
"""The number of a step before it is written; the first step has number 1."""


@dataclass(frozen=True, slots=True)
class SessionRun:
    """A session, read from its memory: how many steps it has, and how many of them were learnt from."""

    id: str
    memory: Memory
    gates: tuple[GateDecision, ...] = ()
    """What gates decided about its goal, if it was just opened."""

    @property
    def goal(self) -> str | None:
        """The agent's goal."""
        return self.memory.metadata.get("goal")

    @property
    def state(self) -> SessionState:
        """Open, closed, or failed: the model did not answer, and the commit will be tried again."""
        return self.memory.metadata.get("state", "open")

    @property
    def steps(self) -> int:
        """The number of the last step."""
        return self.memory.metadata.get("steps", 0)

    @property
    def learnt(self) -> int:
        """The number of the last step that was learnt from, or discarded."""
        return self.memory.metadata.get("learnt", 0)

    def steps_after(self, number: int, reader: Reader) -> list[Memory]:
        """The steps after a number, in order, without forgotten ones."""
        keys = (step_key(self.id, later) for later in range(number + 1, self.steps + 1))
        known = reader.get([_step_id(self.memory, key) for key in keys])
        return sorted(known.values(), key=lambda step: step.origin.position or 0)

    def not_learnt_from(self) -> frozenset[str]:
        """The ids of the steps after the last commit, and of their sources."""
        keys = [step_key(self.id, number) for number in range(self.learnt + 1, self.steps + 1)]
        return frozenset(_step_id(self.memory, step_key) for key in keys for step_key in (key, source_key(key)))

    def revised(self, **metadata: Any) -> Memory:
        """Its memory with other metadata."""
        return replace(self.memory, metadata={**self.memory.metadata, **metadata})


def run_of(reader: Reader, id: str) -> SessionRun | None:
    """The session with an id, or None."""
    found = [
        memory
        for memory in reader.by_key([session_key(id)])
        if memory.version_of is None and memory.kind is Kind.SOURCE
    ]
    return SessionRun(id, found[-1]) if found else None


def run_memory(id: str, goal: str | None, scope: str, classification: int, now: datetime) -> Memory:
    """The memory of a new session; its text is the goal. Steps and lessons have its classification."""
    started = {"goal": goal, "state": "open", "started": isoformat(now), "steps": 0, "learnt": 0, "error": None}
    return record(
        goal or f"Session {id}.",
        now,
        kind=Kind.SOURCE,
        scope=scope,
        key=session_key(id),
        session=id,
        trust=SELF,
        classification=classification,
        metadata=started,
    )


def step_text(observation: str, action: str | None) -> str:
    """A step as text: the observation verbatim, and the action on its own line."""
    did = f"Action: {action}" if action and action.strip() else ""
    return "\n".join(part for part in (observation, did) if part)


def step_memory(run: SessionRun, observation: str, action: str | None, reward: float | None, now: datetime) -> Memory:
    """The memory of a step that has no number yet."""
    for name, side in (("observation", observation), ("action", action or "")):
        if not isinstance(side, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"{name} is a {type(side).__name__}", remedy="Give a string.")
    if reward is not None:
        within("reward", reward, 0, 1)
    return record(
        step_text(observation, action),
        now,
        kind=Kind.EPISODIC,
        scope=run.memory.scope,
        source=session_key(run.id),
        session=run.id,
        position=UNNUMBERED,
        key=step_key(run.id, UNNUMBERED),
        trust=SELF,
        classification=run.memory.worth.classification,
        metadata={"observation": observation, "action": action, "reward": reward},
    )


def number_step(step: Memory, run: SessionRun, number: int) -> Memory:
    """A step under its number."""
    key = step_key(run.id, number)
    origin = replace(step.origin, position=number, key=key)
    return replace(step, id=_step_id(run.memory, key), origin=origin)


def _step_id(beside: Memory, key: str) -> str:
    return memory_id("", scope=beside.scope, key=key, classification=beside.worth.classification)


def source_of(step: Memory) -> Memory:
    """The raw observation behind a step, which provenance follows; the gates have passed it with the step."""
    key, observed = source_key(step.origin.key or ""), step.metadata["observation"]
    return replace(
        step,
        id=_step_id(step, key),
        kind=Kind.SOURCE,
        text=observed if observed.strip() else step.text,
        origin=replace(step.origin, position=None, key=key),
        metadata={},
        mentions=(),
    )


def turns_of(steps: Sequence[Memory]) -> list[AgentStep]:
    """Steps as an extractor sees them."""
    return [_turn(step.metadata) for step in steps]


def _turn(given: Mapping[str, Any]) -> AgentStep:
    return AgentStep(given.get("observation") or "", given.get("action") or "", reward=given.get("reward"))

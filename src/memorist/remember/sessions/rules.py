"""Reading steps by rules: intents, outcomes and statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import fsum
from typing import TYPE_CHECKING

from memorist.asking.sessions import AgentStep, Annotation, Instruction, Proposition
from memorist.model import Filter, Kind, Memory
from memorist.ports import Store
from memorist.remember.derived import content_stems, overlap
from memorist.remember.extract.names import name_runs
from memorist.remember.sessions.run import UNKNOWN_REWARD, announced_subgoal, as_phrase, subgoals
from memorist.text.patterns import lazy
from memorist.text.phrases import phrases
from memorist.text.tokens import sentences

if TYPE_CHECKING:
    from memorist.ports import Vector


SAME = 0.95
"""From this cosine on, the known intent replaces the new one."""
MERGED = 0.80
"""From this cosine on, the new intent becomes an alias of the known one."""
NEAREST = 10


@dataclass(slots=True)
class Resolved:
    """The intent chosen for each given one, by id; the new ones to write; and new aliases of known ones."""

    chosen: dict[str, str] = field(default_factory=dict[str, str])
    new: dict[str, Memory] = field(default_factory=dict[str, Memory])
    wordings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def take(self, intent: Memory, other: str, likeness: float) -> None:
        """Choose another intent for this one, or keep it, by their similarity."""
        if likeness < MERGED:
            self.chosen[intent.id] = intent.id
            self.new[intent.id] = intent
            return
        self.chosen[intent.id] = other
        if likeness < SAME:
            self.wordings.setdefault(other, []).append(intent.text)


def resolve(intents: Iterable[Memory], vectors: Mapping[str, Vector], store: Store) -> Resolved:
    """Drop from a cosine of 0.95 on, merge from 0.80 on; without vectors, by the words that intents share."""
    resolved = Resolved()
    for intent in {memory.id: memory for memory in intents}.values():
        if store.get([intent.id]):
            resolved.chosen[intent.id] = intent.id
            continue
        near = {**_known(intent, vectors, store), **_fresh(intent, vectors, resolved.new.values())}
        other = max(near, key=lambda id: (near[id], id), default="")
        resolved.take(intent, other, near.get(other, 0.0))
    return resolved


def _known(intent: Memory, vectors: Mapping[str, Vector], store: Store) -> dict[str, float]:
    where = Filter(kinds=(Kind.INTENT,), scopes=(intent.scope,))
    row = vectors.get(intent.id)
    if row is not None:
        return {hit.id: hit.score for hit in store.view().search_vector(row[None, :], where, 1)}
    hits = store.view().search_text(intent.text, where, NEAREST)
    known = store.get([hit.id for hit in hits])
    return {id: overlap(content_stems(one.text), content_stems(intent.text)) for id, one in known.items()}


def _fresh(intent: Memory, vectors: Mapping[str, Vector], others: Iterable[Memory]) -> dict[str, float]:
    row = vectors.get(intent.id)
    if row is not None:
        return {memory.id: float(row @ vectors[memory.id]) for memory in others}
    return {memory.id: overlap(content_stems(memory.text), content_stems(intent.text)) for memory in others}


WORKED, FAILED = 0.9, 0.1
"""Not 1 and 0: words are a hint, not proof."""
_LONGEST_OUTCOME = 20_000

_NOTHING_WRONG = lazy(
    r"\b(?:no|0|zero|without(?: any)?|never)\s+(?:\w+\s+)?(?:errors?|failures?|failed|failing|exceptions?|problems?"
    r"|warnings?)\b|\berror[- ]free\b|\bexit(?:ed)?(?: with)?(?: code| status)?:? 0\b|没有(?:错误|异常|失败)",
    re.IGNORECASE,
)
_NOT_YET = lazy(
    r"\bnot(?: yet)?(?: been)? (?:done|ok|okay|completed?|finished|pass(?:ed|ing)|success\w*|fixed|working|merged"
    r"|deployed)\b|未(?:完成|通过|成功)",
    re.IGNORECASE,
)
_WRONG = lazy(
    r"\b(?:\w*errors?|\w*exceptions?|traceback|fail(?:s|ed|ures?|ing)?|fatal|panic|segfault|segmentation fault"
    r"|abort(?:ed)?|denied|refused|rejected|forbidden|unauthori[sz]ed|crash(?:es|ed)?|broken|timed out|timeout expired"
    r"|not found|no such|cannot|can't|could not|couldn't|unable to|does not exist|doesn't exist|invalid|unhealthy"
    r"|did not work|didn't work|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*"
    r"|(?:http|status|code)[ /:]*(?:1\.1 )?[45]\d\d)\b|错误|失败|异常|超时|拒绝|找不到|无法|崩溃",
    re.IGNORECASE,
)
_RIGHT = lazy(
    r"\b(?:success(?:ful|fully|es)?|succeed(?:s|ed)?|pass(?:es|ed|ing)?|done|complete[ds]?|finished|ok|okay|green|healthy"
    r"|works|worked|fixed|resolved|solved|merged|deployed|saved|confirmed|approved|accepted"
    r"|(?:http|status|code)[ /:]*(?:1\.1 )?2\d\d|200)\b|成功|完成|通过|已修复|正常",
    re.IGNORECASE,
)


def outcome(observed: str) -> float | None:
    """WORKED, FAILED, or None if the text does not show it; a failure outweighs a success in the same text."""
    text = observed[:_LONGEST_OUTCOME]
    clean = _NOT_YET.sub(" ", _NOTHING_WRONG.sub(" ", text))
    if _WRONG.search(clean):
        return FAILED
    return WORKED if _RIGHT.search(clean) or _NOTHING_WRONG.search(text) else None


MOST = 5
"""The most statements taken from one trajectory."""
MOST_CONCEPTS = 4
FEWEST_WORDS, MOST_WORDS = 4, 40
STATED, REPORTED = 0.8, 0.6
"""The confidence in a statement of how something is, and of what it did."""
_LONGEST_STATEMENT = 20_000

_IS = lazy(
    r"\b(?:is|are|has|have|had|needs?|requires?|uses?|contains?|means?|must|can|cannot|can't|supports?|depends|expects?"
    r"|accepts?|listens?|returns?|belongs?|lives?|runs?|stores?|holds?|owns?|costs?|takes?|allows?|defaults?|equals?"
    r"|always|never|only|reads?|writes?|starts?|ends?|begins?|consists?)\b",
    re.IGNORECASE,
)
_WAS = lazy(
    r"\b(?:was|were|did|\w{2,}ed|became|went|ran|took|came|gave|got|made|broke|found|sent|set|kept)\b", re.IGNORECASE
)
_HEDGED = lazy(
    r"\b(?:maybe|perhaps|probably|possibly|seems?|might|may|think|guess|suppose|unclear|not sure|should|could|would"
    r"|let's|let me|please|i|we|you)\b",
    re.IGNORECASE,
)
_EXACT = lazy(r"\d|`[^`]+`|\w[.-]*+/[\w./-]|\b\w+[._]\w{2,}\b|\b[A-Z]{2,}\b")
_LETTERS = lazy(r"[^\W\d_]{2,}")


def statements(turns: Sequence[AgentStep]) -> tuple[Proposition, ...]:
    """The most certain statements in the observations, in order; no two with the same words."""
    found: dict[str, Proposition] = {}
    for turn in turns:
        for sentence in sentences(turn.observation[:_LONGEST_STATEMENT]):
            sure = _how_sure(sentence)
            if sure is not None:
                found.setdefault(" ".join(sentence.casefold().split()), _proposition(sentence, sure))
    best = sorted(found.values(), key=lambda one: -one.confidence)[:MOST]
    return tuple(proposition for proposition in found.values() if proposition in best)


def _how_sure(sentence: str) -> float | None:
    """The confidence in a sentence; None if it is not a statement about something specific."""
    words = _LETTERS.findall(sentence)
    if not FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS or len(words) * 2 < len(sentence.split()):
        return None  # a fragment, a page, or a table
    if sentence.rstrip("\"'”’)").endswith(("?", "？", ":", "…")) or _HEDGED.search(sentence):
        return None
    if not (_EXACT.search(sentence) or any(name_runs(sentence))):
        return None
    if _IS.search(sentence):
        return STATED
    return REPORTED if _WAS.search(sentence) else None


def _proposition(sentence: str, sure: float) -> Proposition:
    found = sorted(phrases(sentence), key=lambda phrase: not phrase.name)
    concepts = dict.fromkeys(concept for phrase in found for concept in _things(phrase.words))
    telling = [concept for concept in concepts if not is_boilerplate(concept)]
    return Proposition(sentence, tuple(telling[:MOST_CONCEPTS]), sure)


_BOILERPLATE = lazy(
    r"(?:actions?|goal|input|notes?|observations?|output|results?|reward|state|steps?|subgoal|summary|task|thoughts?"
    r"|todo|tool|turn|动作|行动|观察|备注|笔记|步骤|结果|目标|任务)[:：]?",
    re.IGNORECASE,
)


def is_boilerplate(concept: str) -> bool:
    """Whether a concept is only a word of every transcript, such as `Action:` or `step`; an empty one is."""
    return all(_BOILERPLATE.fullmatch(word) for word in concept.split())


def _things(words: Sequence[str]) -> Iterator[str]:
    """The parts of a phrase between its numbers and verbs."""
    for is_thing, run in groupby(words, key=_is_thing):
        if is_thing:
            yield " ".join(run)


def _is_thing(word: str) -> bool:
    return not (word.isdecimal() or _IS.fullmatch(word) or _WAS.fullmatch(word))


WORTH_REPEATING = 0.4
"""A trajectory with a lower mean reward teaches no procedure: rules cannot tell which of its actions was wrong."""
MOST_ACTIONS = 12
LONGEST_ACTION, LONGEST_STATE = 300, 600


class SessionRules:
    """The deterministic alternative to a model: the same answers in every process, and always available."""

    name = "rules"

    def annotate(self, goal: str, turns: Sequence[AgentStep]) -> list[Annotation]:
        """State = first sentence of the observation; reward by the words of the next observation."""
        aims = subgoals(goal, turns)
        following = [*turns, None][1:]
        return [
            Annotation(first_sentence(turn.observation), aim, _reward(turn, after))
            for turn, aim, after in zip(turns, aims, following, strict=True)
        ]

    def propositions(self, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> tuple[Proposition, ...]:
        """At most five plain statements of what was observed."""
        return statements(turns)

    def instructions(self, goal: str, subgoal: str, turns: Sequence[AgentStep]) -> tuple[Instruction, ...]:
        """The actions that did not fail, in order; none of a trajectory that failed as a whole."""
        rewards = [UNKNOWN_REWARD if turn.reward is None else turn.reward for turn in turns]
        worked = [turn for turn, reward in zip(turns, rewards, strict=True) if reward >= UNKNOWN_REWARD]
        kept = [
            turn.action for turn in worked if announced_subgoal(turn) != as_phrase(subgoal)
        ]  # what for is no what to do
        actions = list(dict.fromkeys(action for text in kept if (action := _clipped(text, LONGEST_ACTION))))
        if not actions or fsum(rewards) / len(rewards) < WORTH_REPEATING:
            return ()
        condition, outcome = first_sentence(turns[0].observation), first_sentence(turns[-1].observation)
        return (Instruction(as_phrase(subgoal), condition, "; ".join(actions[:MOST_ACTIONS]), outcome),)


def first_sentence(text: str) -> str:
    """The first sentence of a text, clipped."""
    found = sentences(text[: 4 * LONGEST_STATE])
    return _clipped(found[0], LONGEST_STATE) if found else ""


def _reward(turn: AgentStep, after: AgentStep | None) -> float | None:
    if turn.reward is not None:
        return turn.reward
    if after is not None:
        return outcome(after.observation)
    return None if turn.action else outcome(turn.observation)  # a last look tells how it all ended


def _clipped(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest].rstrip()} …"

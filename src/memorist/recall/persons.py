"""Who asks, whom a question asks about, and which candidates are somebody else's: by the names of speakers alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memorist.model import Candidate, Memory
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.text.chatter import question_in
from memorist.text.patterns import lazy
from memorist.text.signature import content_stems
from memorist.text.words import STOP_WORDS, fold, language, words

AGENTS = frozenset(("assistant", "ai", "bot", "model", "agent", "system"))
"""Speakers that are programs."""
ROLES = AGENTS | {"user", "tool", "developer", "human"}
"""Speakers whose label does not say who they are: what they say may be about anybody."""


def asked_about(question: str, speakers: Iterable[str | None]) -> tuple[str, ...]:
    """The speakers whom a question names, each once; none for a request, in which a name is part of the task.

    A question names somebody by the whole name, in any case, or by the first word of a longer one, spelt as there. A
    name that is a stop word of the question's language ("Will") does not count.
    """
    said = words(question)
    heard = frozenset(said) - STOP_WORDS.get(language(said), frozenset())
    known = (speaker for speaker in dict.fromkeys(speakers) if speaker is not None and fold(speaker) not in ROLES)
    named = tuple(name for name in known if _is_named(name, heard, question))
    if not named:
        return ()
    from memorist.text.wishes import is_request

    return () if is_request(question) else named


def _is_named(name: str, heard: frozenset[str], question: str) -> bool:
    parts = words(name)
    if not parts:
        return False
    return heard.issuperset(parts) or (parts[0] in heard and name.split(maxsplit=1)[0] in question)


def of_others(candidates: Sequence[Candidate], asked: Sequence[str]) -> list[bool]:
    """For each candidate, whether a named speaker who is not asked about said it without mentioning who is."""
    return [bool(asked) and _is_of_another(candidate.memory, asked) for candidate in candidates]


def _is_of_another(memory: Memory, asked: Sequence[str]) -> bool:
    speaker = memory.origin.speaker
    if speaker is None or speaker in asked or fold(speaker) in ROLES:
        return False
    own = frozenset(words(speaker))
    return frozenset(words(memory.text)).isdisjoint(part for name in asked for part in words(name) if part not in own)


_OWN = lazy(r"\b(?:i|my|me|mine|myself)\b|我(?!们)", re.IGNORECASE)
_TOGETHER = lazy(r"\b(?:we|our|ours|us)\b|我们|咱们", re.IGNORECASE)
_ADDRESSED = lazy(r"\b(?:you|your|yours|yourself)\b|你|您", re.IGNORECASE)
_TELL_ME = lazy(r"\b(?:tell|remind|show|give|help|let) me\b|告诉我|提醒我|给我", re.IGNORECASE)
FEWEST_TURNS, LEAD = 3, 2
"""How many turns of the first person a speaker needs to be the one who asks, and how many times those of the next."""
OWN, ABOUT, OTHERS = range(3)
"""Whose a memory is for a question with `I`: the asker's own, about the asker, somebody else's."""


@dataclass(frozen=True, slots=True)
class Asker(Stage):
    """In a question with `I`, the asker's own memories exchange scores with those about the asker and those of others.

    Among the first `depth`, the best of these scores go to what the asker said in the first person, the next to what
    others said about the asker, and the last to what others said of themselves with a word of the question and without
    addressing anybody. Each of the three keeps its order, and no other candidate moves. The asker is the request's
    `speaker` or else, if there is one, the speaker with at least twice as many candidates in the first person as any
    other, three or more; never an assistant. Not for requests, nor for questions that name another speaker. Keeps the
    scale.
    """

    kind = "asker"
    takes = ("candidates",)
    depth: int = 10

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, with the asker's before those of others."""
        question = question_in(draft.query.text)
        asker = asker_of(draft)
        if asker is None or _names_another(question, asker, draft.candidates):
            return draft
        asked = frozenset(content_stems(words(question)))
        sides = {
            candidate.memory.id: _side(candidate.memory, asker, asked) for candidate in draft.candidates[: self.depth]
        }
        among = [candidate for candidate in draft.candidates if sides.get(candidate.memory.id) is not None]
        if len(set(sides.values()) - {None}) < 2:
            return draft
        order = sorted(among, key=lambda one: (sides[one.memory.id], -one.score))
        scores = {one.memory.id: place.score for one, place in zip(order, among, strict=True)}
        moved = [_placed(candidate, scores.get(candidate.memory.id, candidate.score)) for candidate in draft.candidates]
        return replace(draft, candidates=ranked(moved)).noting(f"asked by {asker}")


def asker_of(draft: Draft) -> str | None:
    """Who asks about themselves: the request's speaker or else the one who says `I` most; None for other questions."""
    if not _asks_about_oneself(question_in(draft.query.text)):
        return None
    return draft.request.speaker or _usual(draft.candidates)


def _placed(one: Candidate, score: float) -> Candidate:
    return one if score == one.score else one.rescored(score, before=one.score, asker=score)


def _asks_about_oneself(question: str) -> bool:
    """Whether a question says `I`, and not only in "tell me"; a request asks for something to be done."""
    if _OWN.search(_TELL_ME.sub(" ", question)) is None:
        return False
    from memorist.text.wishes import is_request

    return not is_request(question)


def _names_another(question: str, asker: str, candidates: Sequence[Candidate]) -> bool:
    named = asked_about(question, (candidate.memory.origin.speaker for candidate in candidates))
    return any(fold(name) != fold(asker) for name in named)


def _usual(candidates: Sequence[Candidate]) -> str | None:
    """The speaker who says `I` in clearly the most candidates."""
    said = Counter(
        name
        for candidate in candidates
        if (name := candidate.memory.origin.speaker) and fold(name) not in AGENTS and _OWN.search(candidate.memory.text)
    )
    (most, first), (_, second) = (*said.most_common(2), ("", 0), ("", 0))[:2]
    return most if first >= max(FEWEST_TURNS, LEAD * second) else None


def concerns(memory: Memory, asker: str) -> bool:
    """Whether the asker says it in the first person, or somebody says it about the asker."""
    return _side(memory, asker, frozenset()) is not None


def _side(memory: Memory, asker: str, asked: frozenset[str]) -> int | None:
    """Whose a memory is: `OWN`, `ABOUT` or `OTHERS`; None if that cannot be said."""
    speaker = memory.origin.speaker
    if speaker is None:
        return None
    own, said = _OWN.search(memory.text) is not None, words(memory.text)
    if fold(speaker) == fold(asker):
        return OWN if own or _TOGETHER.search(memory.text) else None
    if fold(asker) not in ROLES and frozenset(words(asker)) <= frozenset(said):
        return ABOUT
    somebodys = own and fold(speaker) not in AGENTS and _ADDRESSED.search(memory.text) is None
    return OTHERS if somebodys and not asked.isdisjoint(content_stems(said)) else None

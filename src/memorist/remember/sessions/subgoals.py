"""What each step is for, by rules: what the agent says it does next, or whether it still speaks of the same things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memorist.asking.session import Turn
from memorist.remember.sessions.likeness import shared, telling
from memorist.text.phrases import phrases
from memorist.text.sentences import sentences

SAME_SUBGOAL = 0.75
"""Subgoals less alike than this open a new trajectory."""
LOOK_BACK = 3
"""A step goes on with what these many steps before it spoke of."""
_MOST_WORDS = 12
_LONGEST = 4000

_NAMED = re.compile(
    r"^\W*(?:sub-?goal|goal|objective|to-?do|task|目标|任务|子目标)\s*[:：]\s*(?P<what>\S.*)",
    re.IGNORECASE | re.MULTILINE,
)
_TURNED = re.compile(
    r"^\W*(?:(?:now|next(?: up| step)?|then|after that|moving on)[\s,:]+|(?:接下来|现在|下一步)[，：,:\s]*)"
    r"(?P<what>\S.*)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:to|on to|let's|let us|let me|please|我(?:们)?(?:要|需要)?|去"
    r"|i(?:'ll| will| need to| have to| want to| am going to|'m going to)|we(?:'ll| will| need to| should))\s+)+",
    re.IGNORECASE,
)


def subgoals(goal: str, turns: Sequence[Turn]) -> list[str]:
    """A phrase per step; steps that go on with the same thing have the same phrase.

    A subgoal that was announced stands until another is; others end where two steps speak of nothing said before.
    """
    topics = [telling(f"{turn.observation[:_LONGEST]}\n{turn.action[:_LONGEST]}") for turn in turns]
    found: list[str] = []
    stands = False
    for place, turn in enumerate(turns):
        said = announced(turn)
        stands = stands or said is not None
        if said is None:
            goes_on = found and (stands or not _turns_away(topics, place))
            said = found[-1] if goes_on else _made_of(turn, "" if found else goal)
        alike = found and shared(telling(found[-1]), telling(said)) >= SAME_SUBGOAL
        found.append(found[-1] if alike else said)
    return found


def announced(turn: Turn) -> str | None:
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


def _made_of(turn: Turn, goal: str) -> str:
    """A subgoal where none is named: the goal, the action, or the phrases of what was observed."""
    if goal or turn.action.strip():
        return as_phrase(goal or turn.action)
    named = list(dict.fromkeys(phrase.text for phrase in phrases(turn.observation[:_LONGEST])))
    return " ".join(named[:3]) or as_phrase(turn.observation)

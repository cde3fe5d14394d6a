"""The form of a rule: words after a subject, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict, Unpack

from memorist.remember.extract.spans import Shape


@dataclass(frozen=True, slots=True)
class Say:
    """A group of a rule's pattern whose beginning is an object; `{topic}` in a relation is that group's words."""

    group: str
    relation: str
    shape: Shape
    negated: bool = False
    needed: bool = True
    """Without an object for it the rule says nothing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a predicate says: its pattern, matched where the meaning begins, and an object for each of `says`."""

    pattern: re.Pattern[str]
    says: tuple[Say, ...]
    past: bool = False
    """Its verb is in the past by itself."""
    event: bool = False
    """It tells a change, which has a moment, rather than a state, which lasts."""
    negative: str | None = None
    """The relation to which a negation turns it: not to like is to dislike."""
    personal: bool = False
    """Not said of `we`."""
    plain: bool = False
    """A negation says nothing: not to be 22 is no age."""
    timeless: bool = False
    """True for good, so that the past tense says it as well: born, studied."""


class How(TypedDict, total=False):
    """The keywords of `rule`: the fields of `Rule` after its pattern and what it says."""

    past: bool
    event: bool
    negative: str | None
    personal: bool
    plain: bool
    timeless: bool


def rule(pattern: str, *says: Say, **how: Unpack[How]) -> Rule:
    """A rule from the words of its pattern; a blank stands for any blanks."""
    return Rule(re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), says, **how)


def by_word(table: Iterable[tuple[str, Iterable[Rule]]]) -> dict[str, tuple[Rule, ...]]:
    """Rules by each of the words, parted by blanks, that their predicate may begin with."""
    found: dict[str, tuple[Rule, ...]] = {}
    for words, rules in table:
        for word in words.split():
            found[word] = (*found.get(word, ()), *rules)
    return found

"""A form of secrets: a pattern, the hints that it may occur, and a check of what it finds; parts of patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memorist.text.patterns import lazy
from memorist.text.secrets.values import is_real


@dataclass(frozen=True, slots=True)
class Secret:
    """The place and kind of a secret in a text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """A format of secrets: the group `it`, or else the whole match, if `holds` accepts it."""

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """The pattern is tried only if the folded text contains one of these."""
    holds: Callable[[str], bool]

    def matches(self, text: str) -> Iterator[Secret]:
        """The secrets of this form in a text."""
        for found in self.pattern.finditer(text):
            group = "it" if "it" in found.re.groupindex else 0
            if self.holds(found[group]):
                yield Secret(self.kind, found.start(group), found.end(group))


def form(kind: str, pattern: str, hints: str, holds: Callable[[str], bool] = is_real, flags: int = 0) -> SecretFormat:
    """A form whose hints are separated by spaces. The pattern has to be linear: bounded where it may fail late."""
    return SecretFormat(kind, lazy(pattern, flags), tuple(hints.split()), holds)


def ignoring_case(kind: str, pattern: str, hints: str, holds: Callable[[str], bool] = is_real) -> SecretFormat:
    """A form in upper or lower case."""
    return form(kind, pattern, hints, holds, re.IGNORECASE)


# The words between a label and its secret, in several languages

MEANS = r"(?:is|was|are|used to be|will be|should be|ist|war|lautet|heißt|es|era|est|était|c'est|sont|é|è|'s|’s)"
NOW = r"(?: ?:)?(?: (?:now|still|currently|jetzt|ahora|agora|adesso|maintenant|the|die|el|la|le|il))?"
OF = (
    r"(?:,? (?:for|to|of|at|on|in|from|für|zu|zum|zur|von|vom|im|am|meiner?|del|dell[ae]|de|du|da|do|di|der|des|van"
    r"|voor|pour|para|per)\b[^.,;!?\n]{1,40}?)?"
)
SIGN = r"\s{0,4}(?::?={1,3}>?|:(?!//)|：|＝|->|→)\s{0,4}"
IS = rf"(?:(?:,? ?{MEANS}|{SIGN}){NOW}\s{{0,3}})"
QUOTED = r"\"[^\"\n]{3,100}\"|'[^'\n]{3,100}'|`[^`\n]{3,100}`|“[^”\n]{3,100}”|„[^“”\n]{3,100}[“”]|«[^»\n]{3,100}»"
VALUE = rf"(?P<it>{QUOTED}|[^\s\"'`“”<>]{{3,80}}(?<![.,;:)\]]))"
"""A value in a sentence, without the punctuation after it."""

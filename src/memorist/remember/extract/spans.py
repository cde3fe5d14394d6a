"""Results of extraction, and how a capitalised name is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memorist.model import Entity, Fact
from memorist.remember.extract.lexicon import NOT_NAMES
from memorist.text.patterns import lazy


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact stated in a text, with its validity as stated there."""

    fact: Fact
    quote: str
    """The words of the text that state it."""
    negated: bool = False
    """The text says that the fact does not hold, or no longer holds."""
    update: bool = False
    """The text says it as a change: actually, now, no longer, moved, 不再."""
    since: datetime | None = None
    until: datetime | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Named:
    """A name, date, amount or identifier in a text: `text[begin:stop]`."""

    text: str
    kind: str
    begin: int
    stop: int
    entity: Entity | None = None
    """The known entity that the name refers to, if there is exactly one."""


CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪİŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽ]"
CAPITALISED = rf"{CAPITAL}(?:[\w&]|['’.-](?=\w)){{0,63}}"
WORD = lazy(r"[\w&]+(?:['’./-][\w&]+)*")
_NAME = lazy(rf"{CAPITALISED}(?:\s+(?:(?:of|de|del|la|le|van|von|der|da|di)\s+(?:the\s+)?)?{CAPITALISED}){{0,4}}")
_POSSESSIVE = lazy(r"['’]s?$|['’]s?(?=\s)")


def name_at(text: str, begin: int, stop: int) -> tuple[int, int] | None:
    """The run of capitalised words at a place, without a possessive ending; None if it is not a name."""
    found = _NAME.match(text, begin, stop)
    if not found:
        return None
    end = begin
    for word in WORD.finditer(text, begin, found.end()):
        if word[0][0].isupper() and word[0].lower() in NOT_NAMES:
            break
        end = word.end()
    run = _POSSESSIVE.split(text[begin:end], maxsplit=1)[0].rstrip()
    while run and not run.rsplit(None, 1)[-1][0].isupper():  # an incomplete "Bank of"
        run = run.rpartition(" ")[0].rstrip()
    return (begin, begin + len(run)) if len(run) > 1 else None

"""Whom the subject of a clause means: the speaker, somebody named, or the one person that `she` can be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memorist.remember.extract.gazetteer import FIRST_NAMES, PLACES
from memorist.remember.extract.heads import KIN_NAMED, Subject
from memorist.remember.extract.lexicon import HE, NOT_NAMES, ONLY_ONE, SHE
from memorist.remember.extract.spans import CAPITALISED, name_at

LOOK_BACK = 1_000
"""Whom a pronoun means is looked for in so many characters before it."""
_NAMED = re.compile(
    rf"(?<![\w@#’'])(?P<lead>(?:in|at|to|from|near|an?|the|on|of|for|around|visit|visited)\s+)?(?P<name>{CAPITALISED})"
)
_CALLED_BEFORE = re.compile(
    r"(?:^|[.!?,\n]\s*|\b(?:hey|hi|hello|thanks|thank\s+you|yes|yeah|yep|wow|oh|ok|okay|sure|congrats|bye|dear|cool)\W*)$",
    re.IGNORECASE,
)
_CALLED_AFTER = re.compile(r"\s*(?:[,!?.:;\n]|-\s|$)")
_AFTER_APPOSITION = re.compile(r",|\s+(?:is|was|has|lives|works|moved|just|loves|likes)\b")


@dataclass(frozen=True, slots=True)
class People:
    """Those whom a text may speak of: who says it, to whom, and the words that name others."""

    text: str
    speaker: str | None
    addressee: str | None

    def i(self, *, plural: bool = False) -> Subject | None:
        """The speaker, or `we` as the speaker."""
        return Subject(self.speaker, 0.9 if plural else 1.0, plural, first=True) if self.speaker else None

    def third(self, before: int, *, she: bool) -> Subject | None:
        """The one person named before a place whom `she` or `he` can mean; nobody if another name may be a person's."""
        other = HE if she else SHE
        found = {name: kin for name, kin in self._others(before) if kin not in other}
        name, kin = next(iter(found.items()), ("", ""))
        return Subject(name, 0.8) if len(found) == 1 and (kin or name.lower() in FIRST_NAMES) else None

    def _others(self, before: int) -> Iterator[tuple[str, str]]:
        """Third persons named before a place, each with the word of kin that introduced them, or none."""
        kin_names: dict[str, str] = {}
        begin = max(0, before - LOOK_BACK)
        for found in KIN_NAMED.finditer(self.text, begin, before):
            if name := self.kin(found):
                kin_names[name] = found["kin"].lower()
        yield from kin_names.items()
        parts = {part for name in kin_names for part in name.split()}
        for found in _NAMED.finditer(self.text, begin, before):
            name = _bare(found["name"])
            if not found["lead"] and name not in parts and self._may_be_person(name) and not self._is_addressed(found):
                yield name, ""

    def _is_addressed(self, found: re.Match[str]) -> bool:
        """Whether a name stands as one calls somebody: `Hey Anna!`, `Thanks, Anna.`, `Anna: …`."""
        before = self.text[max(0, found.start() - 12) : found.start()]
        return bool(_CALLED_BEFORE.search(before)) and bool(_CALLED_AFTER.match(self.text, found.end()))

    def _may_be_person(self, name: str) -> bool:
        here = {one.casefold().split()[0] for one in (self.speaker, self.addressee) if one and one.strip()}
        lower = name.lower()
        no_person = lower in PLACES or lower in NOT_NAMES or lower in here
        return len(name) > 1 and (not no_person or (lower in FIRST_NAMES and lower not in here))

    def kin(self, found: re.Match[str]) -> str | None:
        """The name of the kin that a match of `KIN_NAMED` speaks of, `Alice's mom` where there is only one such."""
        if found["ex"] or found["own"]:
            return None
        if name := self.kin_name(found):
            return name
        owner = self.owner(found)
        word = found["kin"].lower()
        return f"{owner}'s {word}" if owner and not found["name"] and word in ONLY_ONE else None

    def kin_name(self, found: re.Match[str]) -> str | None:
        """The name given to kin, unless it may be somebody who is spoken to."""
        if found["ex"] or found["own"] or not found["name"]:
            return None
        if found["comma"] and not _AFTER_APPOSITION.match(self.text, found.end("name")):
            return None
        span = name_at(self.text, found.start("name"), found.end("name"))
        name = self.text[span[0] : span[1]] if span else ""
        to = self.addressee or ""
        return name if name and name.casefold() != to.casefold() and name.lower() not in PLACES - FIRST_NAMES else None

    def owner(self, found: re.Match[str]) -> str | None:
        """Whose kin a match of `KIN_NAMED` speaks of."""
        word = found["owner"]
        if word.lower() in {"my", "our"}:
            return self.speaker
        name = _bare(word)
        return name if name.lower() not in NOT_NAMES and name.lower() not in PLACES else None


def _bare(name: str) -> str:
    return re.sub(r"['’]s?$", "", name)

"""Runs of words that are names, people among them, and names that are known."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from memorist.model import Entity
from memorist.remember.extract.clause_subjects import KIN_NAMED, LONGEST_TEXT, Subject
from memorist.remember.extract.lexicon import FIRST_NAMES, HE, NOT_NAMES, ONLY_ONE, PLACES, SHE, word_set
from memorist.remember.extract.spans import CAPITALISED, name_at
from memorist.text.patterns import lazy
from memorist.text.words import beginning, fold

_RUN = lazy(
    rf"(?<![\w@#/\\]){CAPITALISED}(?:[ \t]+(?:(?:of|de|del|la|le|van|von|der|da|di)[ \t]+(?:the[ \t]+)?)?{CAPITALISED}"
    r"|[ \t]+\d{1,4}\b(?![.,]?\d))*"
)
_WORD = lazy(r"\S+")
_OPENS = lazy(r"(?:^|[.!?:;…\n\"“”(\[*•\u2600-\u27bf\U0001f000-\U0001faff]\s*|\n\s*[->]\s*)$")
_TITLE = lazy(r"\b(?:mr|mrs|ms|dr|prof|st)\.\s+$", re.IGNORECASE)
_CONTRACTED = lazy(r"['’](?:m|re|ve|ll|d|t)$|n['’]t$", re.IGNORECASE)
_POSSESSIVE = lazy(r"['’]s?$")
_JOINERS = word_set("of de del la le van von der da di the")


@dataclass(frozen=True, slots=True)
class NameRun:
    """A run of capitalised words; `opens` if it is one word at the beginning of a sentence, which may be anything."""

    text: str
    begin: int
    stop: int
    opens: bool


@lru_cache(maxsize=1024)  # a text that is kept is looked through several times
def name_runs(text: str) -> tuple[NameRun, ...]:
    """The names of a text in order, without words of grammar, greetings, days and possessive endings."""
    return tuple(_runs(text[:LONGEST_TEXT]))


def _runs(head: str) -> Iterator[NameRun]:
    for found in _RUN.finditer(head):
        before = head[max(0, found.start() - 8) : found.start()]
        opens = bool(_OPENS.search(before)) and not _TITLE.search(before)
        for words in _parted(found):
            begin, stop = words[0][0], words[-1][1]
            if stop - begin > 1:
                first = opens and begin == found.start() and len(words) == 1
                yield NameRun(" ".join(head[start:end] for start, end in words), begin, stop, first)


def _parted(run: re.Match[str]) -> Iterator[list[tuple[int, int]]]:
    """The words of a run as spans, parted at words that name nobody and after a possessive."""
    part: list[tuple[int, int]] = []
    for found in _WORD.finditer(run.string, run.start(), run.end()):
        word = _POSSESSIVE.sub("", found[0])
        span = (found.start(), found.start() + len(word))
        if word in _JOINERS:
            part = [*part, span] if part else []
            continue
        if _names_nobody(word) or (word.isdigit() and not part):
            yield from _named(part, run.string)
            part = []
            continue
        part = [*part, span]
        if word != found[0]:
            yield from _named(part, run.string)
            part = []
    yield from _named(part, run.string)


def _names_nobody(word: str) -> bool:
    lower = word.lower().replace("’", "'")
    return not word or lower in NOT_NAMES or bool(_CONTRACTED.search(lower))


def _named(part: list[tuple[int, int]], text: str) -> Iterator[list[tuple[int, int]]]:
    while part and text[part[-1][0] : part[-1][1]] in _JOINERS:
        part = part[:-1]
    if part:
        yield part


LOOK_BACK = 1_000
"""Whom a pronoun means is looked for in so many characters before it."""
_NAMED = lazy(
    rf"(?<![\w@#’'])(?P<lead>(?:in|at|to|from|near|an?|the|on|of|for|around|visit|visited)\s+)?(?P<name>{CAPITALISED})"
)
_CALLED_BEFORE = lazy(
    r"(?:^|[.!?,\n]\s*|\b(?:hey|hi|hello|thanks|thank\s+you|yes|yeah|yep|wow|oh|ok|okay|sure|congrats|bye|dear|cool)\W*)$",
    re.IGNORECASE,
)
_CALLED_AFTER = lazy(r"\s*(?:[,!?.:;\n]|-\s|$)")
_AFTER_APPOSITION = lazy(r",|\s+(?:is|was|has|lives|works|moved|just|loves|likes)\b")


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


NEAR = 0.9
"""How alike a name and its misspelling are at least, by `similarity`; see docs/explanation/extraction.md."""
SHORTEST = 5
"""Shorter names are not corrected: Anna and Anne, Joan and Jean are two people."""


class Dictionary:
    """Known entities by name and alias; a name is looked up exactly, then as a first name, then as a misspelling."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._exact: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._first: dict[str, dict[str, Entity]] = defaultdict(dict)
        self._begins: dict[str, list[tuple[str, Entity]]] = defaultdict(list)
        for entity in entities:
            for name in dict.fromkeys(_key(one) for one in (entity.name, *entity.aliases)):
                if name:
                    self._add(name, entity)

    def _add(self, name: str, entity: Entity) -> None:
        self._exact[name][entity.id] = entity
        self._begins[beginning(name)].append((name, entity))
        first, _, rest = name.partition(" ")
        if rest and _is_person(entity, first):
            self._first[first][entity.id] = entity

    def __call__(self, names: Sequence[str]) -> list[Entity]:
        """The entities that some names mean; in this form it stands for a store."""
        found = (self.find(name) for name in names)
        return list({entity.id: entity for entity in found if entity}.values())

    def find(self, name: str, *, misspelt: bool = True) -> Entity | None:
        """The one entity that a name means; None for a new name, and where two could be meant."""
        key = _key(name)
        for known in (self._exact.get(key), self._first.get(key)):
            if known:
                return next(iter(known.values())) if len(known) == 1 else None
        return self._misspelt(key) if misspelt else None

    def _misspelt(self, key: str) -> Entity | None:
        """The nearest name with the same first letters, if one is nearest; a common name is never a misspelling."""
        if len(key) < SHORTEST or key in FIRST_NAMES or key in PLACES:
            return None
        scored: dict[str, tuple[float, Entity]] = {}
        for name, entity in self._begins.get(beginning(key), ()):
            if not _comparable(key, name):
                continue
            if (score := similarity(key, name)) >= NEAR:
                scored[entity.id] = max(scored.get(entity.id, (0.0, entity)), (score, entity), key=lambda pair: pair[0])
        ranked = sorted(scored.values(), key=lambda pair: -pair[0])
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]


def _comparable(written: str, known: str) -> bool:
    """Whether one name can be the other misspelt: of like length, and not Anna Berg for Anne Berg."""
    first = written.partition(" ")[0]
    alike = len(known) >= SHORTEST and abs(len(written) - len(known)) <= 2
    return alike and (first not in FIRST_NAMES or first == known.partition(" ")[0])


def similarity(one: str, other: str) -> float:
    """Twice the letters in common, in order, over all letters: 2M / T (Ratcliff and Metzener 1988)."""
    if any(sign.isdigit() for sign in one + other):
        return float(one == other)  # GPT-3 and GPT-4, flat 12 and flat 13 are two things
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _is_person(entity: Entity, first: str) -> bool:
    return entity.kind == "person" or (entity.kind is None and first in FIRST_NAMES)


def _key(name: str) -> str:
    return " ".join(fold(name).split())

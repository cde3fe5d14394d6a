"""Lists about ordinary life, written by us: facts that change, standing wishes, few shared words, and no answer at all.

The texts lie in the folder `everyday`, one block of lines for each attribute, wish or pair; `words.txt` fills the
slots. Each list is drawn anew. What a text is to its question stands in `Listed.truth`.
"""

from __future__ import annotations

import random
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path

import render
from lists import ANSWER, OUTDATED, WRONG, Listed
from render import Turn
from slots import DAYS, FIRST_DAY, MADE, spelt
from worlds import worded

FOLDER = Path(__file__).parent / "everyday"
UNANSWERED = 0.22  # of the lists
LONG, DATED_DAY_MONTH = 0.2, 0.75

_SLOT = re.compile(r"\{(\w+)\}")
_SLOTS_OF_KIND = {
    "firm": "firm", "project": "project", "service": "service", "pet": "petname", "trip": "city", "room": "spot",
    "place": "place", "club": "club", "role": "role", "author": "author", "nation": "nation", "invention": "invention",
}  # fmt: skip
_ALIASES = {"P": "person", "P2": "person", "S": "person", "F": "firm", "J": "project", "K": "service", "C": "city"}

ROLES = (
    ("boss", "manager", "line manager", "supervisor"),
    ("daughter", "girl", "little girl"),
    ("son", "boy", "lad"),
    ("husband", "spouse", "other half"),
    ("wife", "spouse", "better half"),
    ("mum", "mother"),
    ("dad", "father", "old man"),
    ("grandmother", "gran", "nan"),
    ("lawyer", "solicitor", "attorney"),
    ("flatmate", "housemate", "roommate"),
    ("brother", "sibling"),
    ("sister", "sibling"),
    ("landlord", "landlady"),
    ("tutor", "supervisor at university"),
    ("coach", "trainer"),
    ("neighbour", "man next door"),
    ("accountant", "tax adviser"),
    ("best friend", "closest friend"),
    ("assistant", "secretary"),
    ("cleaner", "cleaning lady"),
)


@dataclass(slots=True)
class Fact:
    """An attribute of one kind of subject."""

    kind: str
    lines: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Wish:
    """Wishes and the requests that they apply to; wishes of one `group` may apply to the same request."""

    slot: str
    group: str
    wishes: list[tuple[str, str]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom or what a list is about, as texts and as questions name it."""

    told: str
    asked: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a list before it is dressed; `day` is when it was said."""

    text: str
    truth: int = WRONG
    day: date | None = None


Slots = dict[str, str]


class EverydayMaker:
    """Makes lists without any source."""

    def __init__(self, negatives: int = 7, folder: Path = FOLDER) -> None:
        self.negatives = negatives
        self.words = _words(folder / "words.txt")
        self.facts = [_fact(block) for block in _blocks(folder / "facts.txt")]
        self.wishes = [_wish(place, block) for place, block in enumerate(_blocks(folder / "wishes.txt"))]
        self.pairs = [_by_mark(block) for block in _blocks(folder / "pairs.txt")]
        self.chatter = _lines(folder / "chatter.txt")
        self.events = _lines(folder / "events.txt")

    def make(self, draw: random.Random) -> Listed:
        """A list; where nothing answers, the first text is as wrong as the others."""
        kinds: Sequence[tuple[float, Callable[[random.Random], tuple[str, list[Text]]]]] = (
            (0.30, self._of_fact),
            (0.28, self._of_change),
            (0.22, self._of_wish),
            (0.14, self._of_pair),
            (0.06, self._of_day),
        )
        place = bisect(list(accumulate(share for share, _ in kinds)), draw.random())
        _, maker = kinds[min(place, len(kinds) - 1)]
        query, texts = maker(draw)
        if draw.random() < UNANSWERED:
            texts = [text for text in texts if text.truth == WRONG]
        texts = texts[: self.negatives + 1]
        while len(texts) < self.negatives + 1:
            texts.append(Text(self._anything(draw)))
        dressed = self._dressed(texts, query, draw)
        return Listed(worded(query, draw), dressed, [text.truth for text in texts])

    # What lists are about

    def _of_fact(self, draw: random.Random) -> tuple[str, list[Text]]:
        fact, subject = self._some_fact(draw)
        value = self.value(fact, draw)
        statements = fact.lines["s"] + fact.lines.get("u", []) * (draw.random() < 0.3)
        statement = draw.choice([stated for stated in statements if "{old}" not in stated])
        answer = self.filled(statement, draw, {"S": subject.told, "v": value})
        query = self.filled(draw.choice(fact.lines["q"]), draw, {"S": subject.asked})
        return query, [Text(answer, ANSWER), *self.beside(fact, subject, draw)]

    def _of_change(self, draw: random.Random) -> tuple[str, list[Text]]:
        """The value then and the value now; a question about now wants the later one."""
        while True:
            fact, subject = self._some_fact(draw)
            if "u" in fact.lines and "b" in fact.lines:
                break
        old, new = self.value(fact, draw), self.value(fact, draw)
        slots = {"S": subject.told}
        past = draw.random() < 0.3
        changes = [name for name in fact.lines["u"] if not past or "{old}" not in name]
        plain = draw.random() < 0.3
        later_form = draw.choice(fact.lines["s"] if plain or not changes else changes)
        first, second = sorted(draw.sample(range(DAYS), 2))
        days = FIRST_DAY + timedelta(first), FIRST_DAY + timedelta(second)
        before = self.filled(draw.choice(fact.lines["s"]), draw, {**slots, "v": old})
        after = self.filled(later_form, draw, {**slots, "v": new, "old": old})
        query = self.filled(draw.choice(fact.lines["b" if past else "q"]), draw, {"S": subject.asked})
        texts = [Text(before, OUTDATED, days[0]), Text(after, ANSWER, days[1])]
        if past:
            texts = [Text(before, ANSWER, days[0]), Text(after, OUTDATED, days[1])]
        texts.sort(key=lambda text: text.truth != ANSWER)
        return query, [*texts, *self.beside(fact, subject, draw)]

    def _of_wish(self, draw: random.Random) -> tuple[str, list[Text]]:
        wish = draw.choice(self.wishes)
        number, request = draw.choice(wish.requests)
        fitting = [text for numbers, text in wish.wishes if not numbers or not number or set(numbers) & set(number)]
        slots: Slots = {} if wish.slot == "-" else {wish.slot: self._named(wish.slot, draw)}
        texts = [Text(self.filled(draw.choice(fitting), draw, slots), ANSWER)]
        texts += [Text(self.filled(name, draw, slots)) for name in draw.sample(wish.nouns, min(2, len(wish.nouns)))]
        alike = [other for other in self.wishes if other.slot == wish.slot and other.group != wish.group]
        for other in draw.sample(alike, min(2, len(alike))):
            texts.append(Text(self.filled(draw.choice(other.wishes)[1], draw, slots)))
        if slots:
            for _ in range(draw.randint(1, 2)):
                other_slots = {wish.slot: self._named(wish.slot, draw)}
                if other_slots != slots:
                    texts.append(Text(self.filled(draw.choice(fitting), draw, other_slots)))
            kind = {"S": "person", "F": "firm", "J": "project", "K": "service", "C": "trip"}[wish.slot]
            fact = draw.choice([known_fact for known_fact in self.facts if known_fact.kind == kind])
            texts.append(Text(self.statement(fact, slots[wish.slot], draw)))
        return self.filled(request, draw, slots), texts

    def _of_pair(self, draw: random.Random) -> tuple[str, list[Text]]:
        pair, slots = draw.choice(self.pairs), self._cast(draw)
        texts = [Text(self.filled(draw.choice(pair["m"]), draw, slots), ANSWER)]
        texts += [Text(self.filled(name, draw, slots)) for name in pair["x"]]
        for other in draw.sample(self.pairs, 3):
            if other is not pair:
                texts.append(Text(self.filled(draw.choice(other["m"] + other["x"]), draw, slots)))
        return self.filled(draw.choice(pair["q"]), draw, slots), texts

    def _of_day(self, draw: random.Random) -> tuple[str, list[Text]]:
        """What happened on a day: the day stands in the text or is the day of the text."""
        days = [FIRST_DAY + timedelta(number) for number in draw.sample(range(DAYS), 6)]
        inside = draw.random() < 0.5
        texts = []
        for place, event in enumerate(draw.sample(self.events, 6)):
            told = self.filled(event, draw, self._cast(draw))
            told = f"{told} on {spelt(days[place], draw)}." if inside else f"{told} today."
            texts.append(Text(_upper(told), ANSWER if not place else WRONG, None if inside else days[place]))
        asked = spelt(days[0], draw, year=not inside or draw.random() < 0.5)
        forms = (
            "What happened on {}?",
            "What did we do on {}?",
            "What was on {}?",
            "{}: what was that?",
            "Events of {}",
        )
        return draw.choice(forms).format(asked), texts

    def beside(self, fact: Fact, subject: Subject, draw: random.Random) -> list[Text]:
        """Wrong texts on the same topic: of others, of other attributes, and of no value."""
        texts = [self.filled(name, draw, {"S": subject.told}) for name in fact.lines.get("t", [])]
        same_kind = [known_fact for known_fact in self.facts if known_fact.kind == fact.kind and known_fact is not fact]
        texts += [
            self.statement(known_fact, subject.told, draw)
            for known_fact in draw.sample(same_kind, min(2, len(same_kind)))
        ]
        if fact.kind not in ("home", "self"):
            others = [self.subject(fact.kind, draw) for _ in range(2)]
            texts += [self.statement(fact, other.told, draw) for other in others if other.asked != subject.asked]
        draw.shuffle(texts)
        return [Text(text) for text in texts]

    # Words

    def _some_fact(self, draw: random.Random) -> tuple[Fact, Subject]:
        fact = draw.choice(self.facts)
        return fact, self.subject(fact.kind, draw)

    def subject(self, kind: str, draw: random.Random) -> Subject:
        if kind == "sample":
            name = f"{draw.choice(('sample', 'run', 'batch', 'specimen'))} {self._some('code', draw)}"
            return Subject(name, name)
        if kind != "person":
            name = self._some(_SLOTS_OF_KIND.get(kind, "person"), draw)
            return Subject(name, name)
        name, role = self._some("person", draw), draw.choice(ROLES)
        form = draw.random()
        if form < 0.6:
            return Subject(name, name)
        told, asked = draw.choice(role), draw.choice(role)
        if form < 0.75:
            return Subject(f"my {told} {name}", draw.choice((name, f"my {asked}")))
        if form < 0.9:
            return Subject(f"my {told}", f"my {asked}")
        return Subject(name, f"my {asked}")  # the role is known from elsewhere

    def statement(self, fact: Fact, subject: str, draw: random.Random) -> str:
        forms = [name for name in fact.lines["s"] + fact.lines.get("u", []) if "{old}" not in name]
        return self.filled(draw.choice(forms), draw, {"S": subject, "v": self.value(fact, draw)})

    def value(self, fact: Fact, draw: random.Random) -> str:
        return self.filled(draw.choice(fact.lines["v"]), draw, {}, upper=False)

    def _anything(self, draw: random.Random) -> str:
        if draw.random() < 0.7:
            fact, subject = self._some_fact(draw)
            return self.statement(fact, subject.told, draw)
        wish = draw.choice(self.wishes)
        return self.filled(draw.choice(wish.wishes)[1], draw, self._cast(draw))

    def _cast(self, draw: random.Random) -> Slots:
        one, other = draw.sample(self.words["person"], 2)
        return {"P": one, "P2": other, "F": self._some("firm", draw), "J": self._some("project", draw)}

    def _named(self, slot: str, draw: random.Random) -> str:
        return self._some(_ALIASES[slot], draw)

    def filled(self, template: str, draw: random.Random, slots: Mapping[str, str], *, upper: bool = True) -> str:
        known = dict(slots)

        def value_of(found: re.Match[str]) -> str:
            name = found[1]
            if name not in known:
                known[name] = self._some(_ALIASES.get(name, name), draw)
            return known[name]

        text = _SLOT.sub(value_of, template)
        return _upper(text) if upper else text

    def _some(self, name: str, draw: random.Random) -> str:
        if name in MADE:
            return MADE[name](draw)
        return self.filled(draw.choice(self.words[name]), draw, {}, upper=False)

    # Dress

    def _dressed(self, texts: Sequence[Text], query: str, draw: random.Random) -> list[str]:
        """As the engine shows memories: turns with day and speaker, some after another turn, and plain notes."""
        talk = draw.choice((0.0, 0.5, 0.8, 1.0))
        around = draw.choice((0.0, 0.0, 0.3, 0.6))
        long = draw.random() < LONG
        form = render.DATE_FORMATS[3] if draw.random() < DATED_DAY_MONTH else draw.choice(render.DATE_FORMATS)
        voices = draw.choice(
            (draw.sample(self.words["person"], 2), ["user", "assistant"], draw.sample(render.NAMES, 3))
        )
        dated = any(text.day for text in texts)
        written = []
        for given_text in texts:
            text = self._padded(given_text.text, draw) if long and draw.random() < 0.7 else given_text.text
            if not dated and draw.random() >= talk:
                written.append(text)
                continue
            said = render.written(given_text.day or FIRST_DAY + timedelta(draw.randrange(DAYS)), form, draw)
            before = Turn(self._said_before(query, draw), draw.choice(voices)) if draw.random() < around else None
            written.append(render.memory(Turn(text, draw.choice(voices)), said, before))
        return written

    def _padded(self, text: str, draw: random.Random) -> str:
        parts = draw.sample(self.chatter, draw.randint(1, 4))
        parts += [self._anything(draw) for _ in range(draw.randint(0, 3))]
        draw.shuffle(parts)
        parts.insert(draw.randint(0, len(parts)), text)
        return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts)

    def _said_before(self, query: str, draw: random.Random) -> str:
        if draw.random() < 0.25 and query.endswith("?"):
            return query
        return draw.choice(self.chatter) if draw.random() < 0.5 else self._anything(draw)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


# Reading the files


def _lines(file: Path) -> list[str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _blocks(file: Path) -> list[list[str]]:
    parts = file.read_text(encoding="utf-8").split("\n\n")
    blocks = ([line for line in part.splitlines() if not line.startswith("#")] for part in parts)
    return [block for block in blocks if block]


def _words(file: Path) -> dict[str, list[str]]:
    rows = (line.split(": ", 1) for line in _lines(file))
    return {name: [part.strip() for part in text.split("|")] for name, text in rows}


def _by_mark(lines: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        mark, text = line.split(" ", 1)
        found.setdefault(mark, []).append(text)
    return found


def _fact(lines: Sequence[str]) -> Fact:
    return Fact(lines[0].removeprefix("= "), _by_mark(lines[1:]))


def _wish(place: int, lines: Sequence[str]) -> Wish:
    slot, _, group = lines[0].removeprefix("= ").partition(" ")
    wish = Wish(slot, group or str(place))
    for line in lines[1:]:
        mark, text = line.split(" ", 1)
        number = mark[1:].strip("0")
        if mark[0] == "n":
            wish.nouns.append(text)
        else:
            (wish.wishes if mark[0] == "w" else wish.requests).append((number, text))
    return wish

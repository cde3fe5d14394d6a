"""Training lists: a query, a text that answers it and texts that do not, dressed as memories."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import render
import wording
from corpus import CHATS, Question, Source
from render import Turn

SERIES_CAST = ("Ross", "Rachel", "Monica", "Chandler", "Joey", "Phoebe")
_CAST = re.compile(rf"\b({'|'.join(SERIES_CAST)})\b")
LONG_TURN = 1100

Pools = tuple[list[int], list[int], list[int]]
"""Candidates for negatives of one question: dense, lexical, from the same group."""


@dataclass(frozen=True, slots=True)
class Dress:
    """How often lists come in which form; shares of 1."""

    date: float = 0.5
    before: float = 0.2
    after: float = 0.05
    both: float = 0.25
    long: float = 0.1
    oneself: float = 0.15
    claim: float = 0.12
    keywords: float = 0.06
    request: float = 0.08
    asked: float = 0.35  # the turn before is a question about this one
    stray: float = 0.15  # the turn before has nothing to do with this one
    unanswered: float = 0.0  # the text that answers is left out
    misleading: float = 0.0  # the question asks for the same of somebody else
    short: float = 0.0  # the turns around are cut to `SHORT_CONTEXT_CHARACTERS`
    near: int = 2  # negatives from the positive's own group
    dense: int = 3
    lexical: int = 1

    @property
    def context(self) -> float:
        return self.before + self.after + self.both


ANSWER, WRONG, OUTDATED, MISLEADING, PART = 1, 0, -1, 2, 3
"""What a text is to its question. An outdated one answered it once, or will not any more. A misleading one is what the
question is after, but of somebody else: it comes first and answers nothing. A part leads to the answer."""

RANKED_FIRST = (ANSWER, MISLEADING, PART)
JUDGED = (ANSWER, WRONG, MISLEADING)


@dataclass(frozen=True, slots=True)
class Listed:
    """One list; the first text is what the query is after, if any is."""

    query: str
    texts: list[str]
    truth: list[int]


@dataclass(slots=True)
class ListMaker:
    """Makes lists of one source."""

    source: Source
    pools: Sequence[Pools]
    dress: Dress
    negatives: int = 7
    _asked: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, question in enumerate(self.source.questions):
            if question.form == "question":
                for unit in question.positives[:1]:
                    self._asked.setdefault(unit, []).append(place)

    def make(self, place: int, names: Sequence[str], draw: random.Random) -> Listed:
        """The list of a question, told with these names."""
        question = self.source.questions[place]
        positive = draw.choice(question.positives)
        units = [positive, *self._pick_negatives(place, draw)]
        style = _Style.drawn(self, question, positive, names, draw)
        if style.long:
            units = self._without_group_of(positive, units, draw)
        answered = draw.random() >= self.dress.unanswered or question.form != "question"
        if not answered:
            units = [*units[1:], draw.choice(units[1:])] if style.long else self._without_answer(place, draw)
        texts = [style.text(unit) for unit in units]
        query, first = style.query(), ANSWER if answered else WRONG
        if answered and draw.random() < self.dress.misleading:
            other = style.of_somebody_else(query)
            query, first = (other, MISLEADING) if other else (query, first)
        return Listed(query, texts, [first, *[WRONG] * (len(texts) - 1)])

    def _without_answer(self, place: int, draw: random.Random) -> list[int]:
        """Wrong texts alone, most of them of the answer's own post or scene: the question fits and nothing answers."""
        dense, _, near = self.pools[place]
        picked = draw.sample(near, min(len(near), (self.negatives + 1) // 2))
        fresh = [number for number in dense if number not in picked]
        picked += draw.sample(fresh, min(len(fresh), self.negatives + 1 - len(picked)))
        rest = [number for number in self._pick_negatives(place, draw) if number not in picked]
        picked += rest[: self.negatives + 1 - len(picked)]
        return picked + draw.choices(picked, k=self.negatives + 1 - len(picked))

    def _pick_negatives(self, place: int, draw: random.Random) -> list[int]:
        dense, lexical, near = self.pools[place]
        picked: list[int] = []
        dress = self.dress
        for pool, count in (
            (near, dress.near),
            (dense, dress.dense),
            (lexical, dress.lexical),
            (dense, self.negatives),
        ):
            fresh = [number for number in pool if number not in picked]
            picked += draw.sample(fresh, min(count, len(fresh), self.negatives - len(picked)))
        self._fill(picked, self.source.questions[place], draw)
        draw.shuffle(picked)
        return picked

    def _fill(self, picked: list[int], question: Question, draw: random.Random) -> None:
        forbidden = {*question.positives, *question.related}
        for _ in range(20 * self.negatives):
            if len(picked) >= self.negatives:
                return
            unit = draw.randrange(len(self.source.units))
            if unit not in forbidden and unit not in picked:
                picked.append(unit)
        picked += draw.choices(range(len(self.source.units)), k=self.negatives - len(picked))

    def _without_group_of(self, positive: int, units: list[int], draw: random.Random) -> list[int]:
        """Long turns hold their whole group, so a negative of the positive's group would hold the answer."""
        group = self.source.groups[positive]
        others = [unit for unit in units[1:] if self.source.groups[unit] != group]
        spare = others or [unit for unit, its in enumerate(self.source.groups) if its != group] or units[1:]
        while len(others) < len(units) - 1:
            others.append(draw.choice(spare))
        return [positive, *others]

    def other_question(self, unit: int, than: Question, draw: random.Random) -> str | None:
        """Another question that this unit answers."""
        places = [number for number in self._asked.get(unit, ()) if self.source.questions[number] != than]
        return self.source.questions[draw.choice(places)].text if places else None


@dataclass(slots=True)
class _Style:
    """What the texts of one list have in common."""

    maker: ListMaker
    question: Question
    positive: int
    names: Sequence[str]
    draw: random.Random
    speakers: bool
    date_form: str | None
    before: bool
    after: bool
    long: bool
    oneself: bool
    short: bool
    cast: dict[str, str]
    dates: dict[int, str] = field(default_factory=dict)
    voices: dict[int, str] = field(default_factory=dict)

    @classmethod
    def drawn(
        cls, maker: ListMaker, question: Question, positive: int, names: Sequence[str], draw: random.Random
    ) -> _Style:
        dress, source = maker.dress, maker.source
        passage = source.kind == "passage"
        around = draw.random()
        first_person = source.kind == "fp" or wording.AUTHOR in question.text
        style = cls(
            maker,
            question,
            positive,
            names,
            draw,
            speakers=draw.random() < (0.25 if passage else 0.93 if first_person or source.kind == "dialog" else 0.55),
            date_form=draw.choice(render.DATE_FORMATS)
            if draw.random() < dress.date * (0.3 if passage else 1)
            else None,
            before=around < dress.before + dress.both,
            after=dress.before <= around < dress.context,
            long=source.kind in ("fp", "chunk") and draw.random() < dress.long and question.form == "question",
            short=draw.random() < dress.short,
            oneself=first_person and source.kind != "dialog" and draw.random() < dress.oneself,
            cast=dict(zip(render_cast(source), draw.sample(render.NAMES, len(SERIES_CAST)), strict=False)),
        )
        style.voices[source.groups[positive]] = "user" if style.oneself else names[0]
        return style

    def query(self) -> str:
        return self._recast(self._told(self._worded()))

    def _worded(self) -> str:
        """The question, or another wording of it."""
        text, dress, chance = self.question.text, self.maker.dress, self.draw.random()
        if self.question.form != "question":
            return text
        other = None
        if chance < dress.claim:
            other = wording.claim(text, self.draw.choice(self.question.answers)) if self.question.answers else None
        elif chance < dress.claim + dress.keywords:
            other = wording.keywords(text)
        elif chance < dress.claim + dress.keywords + dress.request:
            other = wording.request(text, self.draw.randrange(6))
        return other or text

    def _told(self, text: str) -> str:
        """With the author named as the texts name them."""
        if wording.AUTHOR not in text:
            return text
        if self.oneself:
            return wording.to_first_person(text) if self.draw.random() < 0.6 else wording.named(text, "the user")
        if not self.speakers:
            return wording.named(text, self.draw.choice(("the author", self.names[0], "someone")))
        return wording.named(text, self._speaker(self.positive) or self.names[0])

    def of_somebody_else(self, query: str) -> str | None:
        """The question with another name for who said the answer; none where it does not name them."""
        said = self._speaker(self.positive)
        name = self._recast(said).split()[0] if said else ""
        if (
            self.oneself
            or self.question.form != "question"
            or not name
            or not re.search(rf"\b{re.escape(name)}\b", query)
        ):
            return None
        others = [text for text in (*self.cast.values(), *self.names) if text != name and text not in query]
        return re.sub(rf"\b{re.escape(name)}\b", self.draw.choice(others), query) if others else None

    def text(self, unit: int) -> str:
        date = None
        if self.date_form:
            group = self.maker.source.groups[unit]
            if group not in self.dates:
                self.dates[group] = render.some_date(self.draw, self.date_form)
            date = self.dates[group]
        before = self._before(unit) if self.before else None
        after = self._beside(unit, 1) if self.after else None
        most = render.SHORT_CONTEXT_CHARACTERS if self.short else render.CONTEXT_CHARACTERS
        return self._recast(render.memory(self._turn(unit), date, before, after, most))

    def _turn(self, unit: int) -> Turn:
        return Turn(self._long_text(unit) if self.long else self.maker.source.units[unit], self._speaker(unit))

    def _long_text(self, unit: int) -> str:
        source, parts, following = self.maker.source, [self.maker.source.units[unit]], unit
        # From the beginning of the post where that fits, so that the answer stands anywhere in it.
        back = source.neighbour(unit, -1)
        while back is not None and sum(map(len, parts)) + len(source.units[back]) < LONG_TURN * 0.6:
            parts.insert(0, source.units[back])
            back = source.neighbour(back, -1)
        while (step := source.neighbour(following, 1)) is not None and sum(map(len, parts)) < LONG_TURN:
            parts.append(source.units[step])
            following = step
        return " ".join(parts)

    def _before(self, unit: int) -> Turn | None:
        source, dress = self.maker.source, self.maker.dress
        if source.kind != "dialog":
            chance = self.draw.random()
            if chance < dress.asked or source.kind == "passage":
                asked = self.maker.other_question(unit, self.question, self.draw)
                if asked is not None:
                    return Turn(wording.to_second_person(asked), self._other_voice(unit))
            elif chance < dress.asked + dress.stray:
                stray = self.draw.randrange(len(source.units))
                hidden = stray in self.question.hidden
                return None if hidden else Turn(source.units[stray], self._other_voice(unit))
        return self._beside(unit, -1)

    def _beside(self, unit: int, step: int) -> Turn | None:
        source = self.maker.source
        other = source.neighbour(unit, step)
        if other is None or other in self.question.hidden or self.long:
            return None
        return Turn(source.units[other], self._speaker(other))

    def _speaker(self, unit: int) -> str | None:
        if not self.speakers:
            return None
        source = self.maker.source
        if source.kind == "dialog":
            return source.speakers[unit] or "Note"
        if source.kind == "passage":
            return "assistant"
        group = source.groups[unit]
        if group not in self.voices:
            own, other = ("user", "assistant") if self.oneself else (self.names[0], self.names[1])
            self.voices[group] = self.draw.choices((own, other, self.names[2]), (0.5, 0.4, 0.1))[0]
        return self.voices[group]

    def _other_voice(self, unit: int) -> str | None:
        own = self._speaker(unit)
        if own is None:
            return None
        if own in ("user", "assistant"):
            return "assistant" if own == "user" else "user"
        return self.names[1] if own == self.names[0] else self.names[0]

    def _recast(self, text: str) -> str:
        """The characters of the series under other names, so that no name is a clue."""
        return _CAST.sub(lambda found: self.cast[found[0]], text) if self.cast else text


def render_cast(source: Source) -> tuple[str, ...]:
    return SERIES_CAST if source.name == "friends" else ()


def plain(question: Question, source: Source) -> str:
    """The query as mining reads it."""
    return wording.named(question.text, "someone") if source.name in CHATS else question.text

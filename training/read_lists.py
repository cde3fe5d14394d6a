"""Lists for the list reader: a question and memories in the order of their days, and what each is to the question.

Most are of worlds, with what a search finds beside the answers. Some are chains: what is said of one thing over time,
of which the last value holds. Some are of public data, in any order.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import render
from everyday import EverydayMaker, Fact
from lists import ANSWER, Listed
from render import Turn
from slots import DAYS, FIRST_DAY
from worlds import Asked, World, worded

MOST_MEMORIES = 8
SIZES, SIZE_WEIGHTS = (1, 2, 3, 4, 5, 6, 7, 8), (1, 1, 3, 4, 6, 8, 6, 6)
BESIDE, FOUND = 0.9, 0.85  # shares of the seeming answers, and of what a search finds, that a list shows
UNANSWERED = 0.12  # share of the lists whose answers are left out
CHANGING = ("update", "history", "multi", "two-hop")  # kinds whose answers stay
DATED_QUESTION, ASKED_LATER = 0.7, 0.2  # shares of the questions with the day they are asked, and with a later one
DAY_FIRST = 0.85
SHORT, SHOWN_SHORT, SHOWN_LONG = 60, 0.8, 0.3  # characters of a short turn; how often the turn before is shown
ASKED_BY_I, ASKED_BY = 0.6, 0.1  # how often a question with `I`, and any other, says who asks
ASKED_BEFORE, SEARCHED, IGNORANT = 0.14, 0.06, 0.06  # shares with an earlier question, words searched for, ignorance
CHAIN, CHAIN_WEIGHTS = (1, 2, 3, 4), (3, 5, 3, 1)  # values of a chain
MINE = 0.8  # share of the chains about the one who asks in which others say the same of themselves
AGAIN, PLAIN = 0.2, 0.75  # shares: the current value is said once more; a new value is said without a word of change
CLOSE, CLOSE_DAYS = 0.3, 6  # share of the chains that are told within days
OWN = re.compile(r"\b(?:i|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)
PROGRAMS = ("assistant", "agent", "user", "bot", "ai")
NOTHING = (
    "I don't have any information about that.",
    "I'm sorry, I don't know. Could you tell me more?",
    "I couldn't find anything on that in our conversations.",
    "You haven't told me that yet.",
    "Good question! I'm not sure, let me know and I'll remember it.",
)


@dataclass(frozen=True, slots=True)
class ReadList:
    """A question and memories, oldest first; which of them answer it, and which did so once."""

    query: str
    texts: list[str]
    answers: list[bool]
    outdated: list[bool]


@dataclass(frozen=True, slots=True)
class Said:
    """A memory of a chain before it is dressed."""

    text: str
    answers: bool = False
    outdated: bool = False


def wordings(world: World) -> Iterator[tuple[Asked, str]]:
    """Every wording of every question of a world."""
    for question in world.questions:
        for wording in question.wordings:
            yield question, wording


class WorldLists:
    """Lists of worlds: the answers of a question, what seems to answer it, and what a search finds beside."""

    def __init__(self, worlds: Sequence[World], found: Sequence[Sequence[Sequence[int]]]) -> None:
        """`found` has, for each world and each wording of its questions, the places that a search finds."""
        self.asked = [
            (world, question, wording, near)
            for world, rows in zip(worlds, found, strict=True)
            for (question, wording), near in zip(wordings(world), rows, strict=True)
        ]

    def make(self, place: int, draw: random.Random) -> ReadList:
        """The list of a wording."""
        world, question, wording, near = self.asked[place]
        picked = self._picked(question, near, draw)
        newest = min((number for number in picked if number in question.answers), default=-1)
        gone = question.beside if question.kind == "update" else ()
        query = worded(wording, draw)
        asker = only_speaker(world) if draw.random() < (ASKED_BY_I if OWN.search(query) else ASKED_BY) else None
        made = ReadList(
            dated(f"{asker}: {query}" if asker else query, world.now, draw),
            dress(world, picked, draw),
            [number in question.answers for number in picked],
            [number in gone and number < newest for number in picked],
        )
        return with_talk(made, draw.choice(question.wordings), [world.memories[number].day for number in picked], draw)

    @staticmethod
    def _picked(question: Asked, near: Sequence[int], draw: random.Random) -> list[int]:
        size = draw.choices(SIZES, SIZE_WEIGHTS)[0]
        unanswered = question.kind not in CHANGING and draw.random() < UNANSWERED
        picked = [] if unanswered else draw.sample(question.answers, min(len(question.answers), size))
        beside = [number for number in draw.sample(question.beside, len(question.beside)) if draw.random() < BESIDE]
        picked += beside[: max(0, size - len(picked))]
        for number in near:
            if len(picked) < size and number not in picked and number not in question.answers and draw.random() < FOUND:
                picked.append(number)
        return sorted(picked) or [near[0]]


def only_speaker(world: World) -> str | None:
    """The one person who speaks in a world; None if there are several or none."""
    people = {memory.turn.speaker for memory in world.memories} - {None, *PROGRAMS}
    return people.pop() if len(people) == 1 else None


def dated(query: str, day: date, draw: random.Random) -> str:
    """A question, mostly with the day it is asked."""
    chance = draw.random()
    if chance > DATED_QUESTION:
        return query
    if chance < ASKED_LATER:
        day += timedelta(days=draw.randint(30, 900))
    return f"[{render.written(day, render.DATE_FORMATS[3], draw)}] {query}"


def dress(world: World, places: Sequence[int], draw: random.Random) -> list[str]:
    """Memories as the engine shows them: always with the day; a short turn mostly with the one before."""
    form = some_form(draw)
    written: list[str] = []
    for place in places:
        memory = world.memories[place]
        before = world.memories[place - 1] if place else None
        shown = SHOWN_SHORT if len(memory.turn.text) <= SHORT else SHOWN_LONG
        if before is not None and (before.day != memory.day or before.turn.speaker is None or draw.random() > shown):
            before = None
        said = render.written(memory.day, form, draw)
        near = before.turn if before else None
        written.append(render.memory(memory.turn, said, near, most=render.SHORT_CONTEXT_CHARACTERS))
    return written


def some_form(draw: random.Random) -> str:
    return render.DATE_FORMATS[3] if draw.random() < DAY_FIRST else draw.choice(render.DATE_FORMATS)


def with_talk(one: ReadList, question: str, days: Sequence[date], draw: random.Random) -> ReadList:
    """The list, at times with what was once asked or with an assistant's ignorance: neither answers anything."""
    chance = draw.random()
    if chance > ASKED_BEFORE + SEARCHED + IGNORANT or len(one.texts) >= MOST_MEMORIES:
        return one
    turn = Turn(draw.choice(NOTHING), "assistant")
    if chance < ASKED_BEFORE + SEARCHED:
        asked = question if chance < ASKED_BEFORE else some_words(question, draw)
        turn = Turn(asked, draw.choice(("user", None, "user")))
    place = draw.randint(1, len(days))
    told = render.memory(turn, render.written(days[place - 1], render.DATE_FORMATS[3], draw))
    texts, answers, outdated = [*one.texts], [*one.answers], [*one.outdated]
    texts.insert(place, told)
    answers.insert(place, False)
    outdated.insert(place, False)
    return ReadList(one.query, texts, answers, outdated)


def some_words(question: str, draw: random.Random) -> str:
    """One to three words of a question in their order, as somebody types them into a search."""
    known = re.findall(r"\w{4,}", question) or [question]
    first = draw.randrange(len(known))
    return " ".join(known[first : first + draw.randint(1, 3)]).lower()


class ChainLists:
    """Lists of what is said of one thing over time, in the words of the patterns."""

    def __init__(self) -> None:
        self.maker = EverydayMaker()

    def make(self, draw: random.Random) -> ReadList:
        """A chain of values, the last of which holds, among statements about others."""
        maker, fact = self.maker, draw.choice(self.maker.facts)
        subject = maker.subject(fact.kind, draw)
        values = list(dict.fromkeys(maker.value(fact, draw) for _ in range(20)))
        values = values[: draw.choices(CHAIN, CHAIN_WEIGHTS)[0]]
        chain = self._chain(fact, subject.told, values, draw)
        mine = fact.kind == "self" and draw.random() < MINE
        beside = [Said(text.text) for text in maker.beside(fact, subject, draw)]
        beside += self._of_others(fact, {subject.told, subject.asked}, values, draw)
        draw.shuffle(beside)
        if mine:
            beside = [*(Said(maker.statement(fact, "", draw)) for _ in range(draw.randint(1, 3))), *beside]
        if draw.random() < UNANSWERED and beside:
            chain = []
        people = draw.sample(render.NAMES, 3)
        voices = people[1:] if mine else draw.choice(([None], [None], ["user"], people[:2]))
        told = self._in_order(chain, beside, draw)
        days, form = some_days(len(told), draw), some_form(draw)
        texts = [
            render.memory(
                Turn(said.text, people[0] if mine and said in chain else draw.choice(voices)),
                render.written(day, form, draw),
            )
            for said, day in zip(told, days, strict=True)
        ]
        question = maker.filled(draw.choice(fact.lines["q"]), draw, {"S": subject.asked})
        query = f"{people[0]}: {worded(question, draw)}" if mine else worded(question, draw)
        made = ReadList(
            dated(query, days[-1], draw), texts, [said.answers for said in told], [said.outdated for said in told]
        )
        return with_talk(made, question, days, draw)

    def _chain(self, fact: Fact, subject: str, values: Sequence[str], draw: random.Random) -> list[Said]:
        said = [*values, *[values[-1]] * (draw.random() < AGAIN)]
        chain: list[Said] = []
        for place, value in enumerate(said):
            changed = fact.lines.get("u") if place and draw.random() > PLAIN else None
            slots = {"S": subject, "v": value, "old": said[max(0, place - 1)]}
            text = self.maker.filled(draw.choice(changed or fact.lines["s"]), draw, slots)
            chain.append(Said(text, value == values[-1], value != values[-1]))
        return chain

    def _of_others(self, fact: Fact, own: set[str], values: Sequence[str], draw: random.Random) -> list[Said]:
        """The same said of others, at times with a value of the chain."""
        if fact.kind in ("home", "self"):
            return []
        others = (self.maker.subject(fact.kind, draw) for _ in range(3))
        forms = [form for form in fact.lines["s"] if "{old}" not in form]
        return [
            Said(
                self.maker.filled(
                    draw.choice(forms),
                    draw,
                    {"S": other_subject.told, "v": draw.choice((self.maker.value(fact, draw), *values))},
                )
            )
            for other_subject in others
            if own.isdisjoint((other_subject.told, other_subject.asked))
        ]

    @staticmethod
    def _in_order(chain: Sequence[Said], beside: Sequence[Said], draw: random.Random) -> list[Said]:
        """The chain in its order, among the others."""
        size = max(len(chain), draw.choices(SIZES, SIZE_WEIGHTS)[0])
        others = list(beside[: max(0 if chain else 1, size - len(chain))])
        places = set(draw.sample(range(len(chain) + len(others)), len(chain)))
        own, rest = iter(chain), iter(others)
        return [next(own if place in places else rest) for place in range(len(chain) + len(others))]


def some_days(count: int, draw: random.Random) -> list[date]:
    """As many days in their order, within days or years."""
    span, start = (CLOSE_DAYS if draw.random() < CLOSE else DAYS), draw.randrange(DAYS)
    return sorted(FIRST_DAY + timedelta((start + draw.randrange(span)) % DAYS) for _ in range(count))


def of_public(listed: Listed, draw: random.Random) -> ReadList:
    """A list of public data, shorter and in any order."""
    size = min(len(listed.texts), max(2, draw.choices(SIZES, SIZE_WEIGHTS)[0]))
    chosen = [0, *draw.sample(range(1, len(listed.texts)), size - 1)]
    draw.shuffle(chosen)
    day = render.some_date(draw, render.DATE_FORMATS[3])
    query = f"[{day}] {listed.query}" if draw.random() < 0.5 else listed.query
    answers = [listed.truth[place] == ANSWER for place in chosen]
    return ReadList(query, [listed.texts[place] for place in chosen], answers, [False] * size)

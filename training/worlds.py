"""Worlds: what somebody told an assistant over months, and what they ask later; written by us, in `everyday/worlds`.

A file has worlds one after the other, each with a title, the day of the questions, memories and questions:

    # Bakery
    now 2025-06-12
    1 2024-02-03 Maren: Moved the starter to the cellar.
    ? update | 17 | 4 | Who services our oven now? / Whom do I call about the oven?
    ? none | | 3 | How much did the oven service cost?

A question has its kind, the memories that answer it, those that only seem to or did so once, and its wordings.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from zlib import crc32

import render
from lists import ANSWER, OUTDATED, PART, WRONG, Listed
from render import Turn

FOLDER = Path(__file__).parent / "everyday" / "worlds"
HELD_PER_CENT = 10
CHANGED = ("update", "history")  # kinds whose third field holds values of another time
NEAR, AROUND = 3, 0.4  # seeming answers of a list at most; share of the lists that show the turn before
DATED, DAY_FIRST = 0.75, 0.7
NOBODY = "-"

_MEMORY = re.compile(r"(\d+) (\d{4}-\d\d-\d\d) ([^:]{1,40}): (.+)")


@dataclass(frozen=True, slots=True)
class Memory:
    """Something told on a day."""

    day: date
    turn: Turn


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in its wordings, the places of what answers it, and of what does not but seems to."""

    kind: str
    answers: tuple[int, ...]
    beside: tuple[int, ...]
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """Memories in their order and the questions about them."""

    name: str
    now: date
    memories: list[Memory]
    questions: list[Asked]

    @property
    def held(self) -> bool:
        """Kept out of training, for choosing and calibrating."""
        return crc32(self.name.encode()) % 100 < HELD_PER_CENT


def read(file: Path) -> list[World]:
    """The worlds of a file."""
    texts = re.split(r"^(?=# )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_world(f"{file.stem}-{number:02}", text) for number, text in enumerate(filter(None, texts), 1)]


def _world(name: str, text: str) -> World:
    memories: dict[str, Memory] = {}
    asked: list[list[str]] = []
    now = date.min
    for line in text.splitlines():
        if line.startswith("? "):
            asked.append([part.strip() for part in line[2:].split("|", 3)])
        elif found := _MEMORY.fullmatch(line):
            speaker = None if found[3] == NOBODY else found[3]
            memories[found[1]] = Memory(date.fromisoformat(found[2]), Turn(found[4], speaker))
        elif line.startswith("now "):
            now = date.fromisoformat(line[4:].strip())
        elif line.strip() and not line.startswith("# "):
            raise ValueError(f"{name}: neither a memory nor a question: {line}")
    places = {number: place for place, number in enumerate(memories)}

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(places[part] for part in text.split())

    questions = [
        Asked(kind, numbers(answers), numbers(beside), tuple(part.strip() for part in texts.split(" / ")))
        for kind, answers, beside, texts in asked
    ]
    if wrong := [question for question in questions if bool(question.answers) == (question.kind == "none")]:
        raise ValueError(f"{name}: an answer too many or too few: {wrong[0]}")
    return World(name, now, list(memories.values()), questions)


class WorldMaker:
    """Makes lists of worlds; every question of a world that is not held out comes once in a round."""

    def __init__(self, negatives: int = 7, folder: Path = FOLDER) -> None:
        self.negatives = negatives
        self.folder = folder

    @cached_property
    def worlds(self) -> list[World]:
        return [world for file in sorted(self.folder.glob("*.txt")) for world in read(file)]

    @cached_property
    def questions(self) -> list[tuple[World, Asked]]:
        return [(world, asked) for world in self.worlds if not world.held for asked in world.questions]

    def world_of(self, place: int) -> int:
        """A number for the world of a question."""
        return crc32(self.questions[place][0].name.encode())

    def make(self, place: int, draw: random.Random) -> Listed:
        """The list of a question: its answer, what seems to be one, and others of the same world."""
        world, asked = self.questions[place]
        beside = draw.sample(asked.beside, min(NEAR, self.negatives, len(asked.beside)))
        other = OUTDATED if asked.kind in CHANGED else WRONG
        texts = [(number, other) for number in beside]
        if asked.answers:
            texts.insert(0, (draw.choice(asked.answers), PART if asked.kind == "two-hop" else ANSWER))
        spare = [number for number in range(len(world.memories)) if number not in {*asked.answers, *asked.beside}]
        draw.shuffle(spare)
        texts += [(number, WRONG) for number in spare[: self.negatives + 1 - len(texts)]]
        texts += draw.choices(texts[1:], k=self.negatives + 1 - len(texts))
        dressed = dress(world, [number for number, _ in texts], draw)
        return Listed(worded(draw.choice(asked.wordings), draw), dressed, [truth for _, truth in texts])


def dress(world: World, places: Sequence[int], draw: random.Random) -> list[str]:
    """Memories as the engine shows them: day, speaker, and in some lists the turn before."""
    form = render.DATE_FORMATS[3] if draw.random() < DAY_FIRST else draw.choice(render.DATE_FORMATS)
    dated, around = draw.random() < DATED, draw.random() < AROUND
    written = []
    for place in places:
        memory = world.memories[place]
        before = world.memories[place - 1] if around and place else None
        if before is not None and (before.day != memory.day or before.turn.speaker is None):
            before = None
        said = render.written(memory.day, form, draw) if dated else None
        written.append(render.memory(memory.turn, said, before.turn if before else None))
    return written


def worded(query: str, draw: random.Random) -> str:
    """The question, sometimes as people type it."""
    chance = draw.random()
    if chance < 0.12:
        return query.lower().rstrip("?.")
    if chance < 0.2 and query.endswith("?"):
        start = draw.choice(("Do you remember: ", "Quick question. ", "Remind me, ", "Can you tell me: ", "Hey, "))
        return f"{start}{query[0].lower()}{query[1:]}" if start.endswith((", ", ": ")) else start + query
    return query

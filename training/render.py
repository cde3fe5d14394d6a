"""How a memory is written down for a model: date, speaker, text, and the turns around it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date

CONTEXT_MARK = "‖"
"""Stands before each neighbour; one token of BERT's vocabulary (1519) that nobody types."""

CONTEXT_CHARACTERS = 200
SHORT_CONTEXT_CHARACTERS = 120

_NAMES = """
Alice Omar Priya Diego Hannah Victor Mei Tobias Leila Grace Henrik Sofia Marcus Elena Kofi Yuki Oliver Nadia
Samuel Ingrid Rafael Chloe Dmitri Aisha Leo Fatima Noah Julia Ethan Camila Felix Amara Lucas Zoe Arjun Bella
Theo Ivy Hugo Layla Jonas Ruby Mateo Clara Kenji Nora Pablo Lucy Adam Jade Emil Tara Simon Rosa Ivan Maya Peter
Lena Carlos Anna Daniel Eva Martin Laura Kevin Sara Brian Emma Jason Kate Ryan Megan Tyler Amy Eric Helen Scott
Diana Frank Susan George Linda Paul Karen Mark Nancy Steve Carol Greg Donna Walter Brenda Harold Pamela Carl
Emily Arthur Cynthia Amanda Wayne Stephanie Ralph Melissa Louis Philip Jessica Rebecca Michelle Howard Ashley
Tomas Freya Idris Wei Saoirse Bjorn Anjali Mohammed Zainab Hiroshi Lior Paloma Andrei Katya Tunde Ximena
"""
NAMES = tuple(_NAMES.split())

_MONTHS = tuple(date(2000, month, 1).strftime("%B") for month in range(1, 13))
DATE_FORMATS = (
    "{year}-{month:02}-{day:02}",
    "{year}-{month:02}-{day:02} {hour:02}:{minute:02}",
    "{day} {name}, {year}",
    "{day} {name} {year}",
    "{name} {day}, {year}",
    "{day:02}.{month:02}.{year}, {hour:02}:{minute:02}:00",
    "{twelve}:{minute:02} {half} on {day} {name}, {year}",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said, by whom; a text without a speaker is a note or a passage."""

    text: str
    speaker: str | None = None

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


def memory(
    turn: Turn,
    said: str | None = None,
    before: Turn | None = None,
    after: Turn | None = None,
    most: int = CONTEXT_CHARACTERS,
) -> str:
    """`[date] Speaker: text ‖ before: Speaker: text ‖ after: Speaker: text`, leaving out what is not there.

    Of each neighbour at most so many characters are shown.
    """
    parts = [f"[{said}] {turn}" if said else str(turn)]
    if before is not None:
        parts.append(f"before: {_shortened(before, most, end=True)}")
    if after is not None:
        parts.append(f"after: {_shortened(after, most, end=False)}")
    return f" {CONTEXT_MARK} ".join(parts)


def _shortened(turn: Turn, most: int, *, end: bool) -> Turn:
    """What is nearest to the turn in the middle: the end of the one before, the beginning of the one after."""
    text = turn.text[-most:] if end else turn.text[:most]
    return Turn(text, turn.speaker)


def some_date(draw: random.Random, form: str) -> str:
    """A day and time of the last years in one of the `DATE_FORMATS`."""
    day = date(draw.randint(2019, 2026), draw.randint(1, 12), draw.randint(1, 28))
    return written(day, form, draw)


def written(day: date, form: str, draw: random.Random) -> str:
    """This day, and some time of it where the form has one."""
    hour = draw.randint(0, 23)
    return form.format(
        year=day.year,
        month=day.month,
        name=_MONTHS[day.month - 1],
        day=day.day,
        hour=hour,
        minute=draw.randint(0, 59),
        twelve=(hour - 1) % 12 + 1,
        half="am" if hour < 12 else "pm",
    )

"""Numbers, dates and codes that fill the slots of everyday texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date, timedelta

FIRST_DAY, DAYS = date(2019, 1, 1), 2_600


def spelt(day: date, draw: random.Random, *, year: bool = True) -> str:
    name = f"{day:%B}"
    text = f"{day.day} {name}" if draw.random() < 0.6 else f"{name} {day.day}"
    return f"{text} {day.year}" if year else text


def _some_day(draw: random.Random) -> str:
    return spelt(FIRST_DAY + timedelta(draw.randrange(DAYS)), draw, year=draw.random() < 0.4)


def _code(draw: random.Random) -> str:
    letters = "".join(draw.choices("ABCDEFGHKLMNPRSTVX", k=draw.randint(1, 3)))
    return draw.choice(
        (f"{letters}-{draw.randint(10, 9999)}", f"{draw.randint(1000, 99999)}", f"{letters}{draw.randint(2, 99)}")
    )


def _money(draw: random.Random) -> str:
    amount = draw.choice((draw.randint(5, 99), draw.randint(100, 990), draw.randint(10, 99) * 100))
    return draw.choice(("£{}", "{} euros", "${}", "{} pounds", "€{}", "{} dollars")).format(f"{amount:,}")


def _address(draw: random.Random) -> str:
    name, number = draw.choice(("info", "office", "me", "hello", "post")), draw.randint(1, 99)
    host, end = draw.choice(("tern", "moss", "fjord", "plum")), draw.choice(("org", "net", "io"))
    return f"{name}{number}@{host}.{end}"


MADE: Mapping[str, Callable[[random.Random], str]] = {
    "phone": lambda draw: f"0{draw.randint(100, 999)} {draw.randint(100, 999)} {draw.randint(1000, 9999)}",
    "money": _money,
    "time": lambda draw: draw.choice(
        (f"{draw.randint(7, 20)}:{draw.choice(('00', '15', '30', '45'))}", f"{draw.randint(1, 11)} o'clock")
    ),
    "date": _some_day,
    "date2": _some_day,
    "birthday": lambda draw: spelt(FIRST_DAY + timedelta(draw.randrange(365)), draw, year=False),
    "n": lambda draw: str(draw.randint(11, 480)),
    "number": lambda draw: str(draw.choice((draw.randint(3, 60), draw.randint(6, 90) * 10))),
    "digit": lambda draw: str(draw.randint(2, 9)),
    "letter": lambda draw: draw.choice("ABCDEFGHKLM"),
    "code": _code,
    "version": lambda draw: f"{draw.randint(0, 9)}.{draw.randint(0, 20)}.{draw.randint(0, 9)}",
    "port": lambda draw: str(draw.choice((draw.randint(3000, 3010), draw.randint(5000, 9999)))),
    "seconds": lambda draw: str(draw.choice((2, 3, 5, 10, 15, 20, 30, 45, 60, 90))),
    "year": lambda draw: str(draw.randint(1998, 2026)),
    "email": _address,
    "measure": lambda draw: (
        f"{draw.randint(2, 6)}.{draw.randint(0, 9)} by {draw.randint(2, 5)}.{draw.randint(0, 9)} metres"
    ),
}

"""No text makes the engine work longer than in proportion to its length.

Work is counted, not timed: see counting.py. A new text function is tested without a change here, and a new regular
expression too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from memorist.remember.extract.clauses import LONGEST_SENTENCE, Sentence, own_words_of
from memorist.text.dates.values import Context
from tests.attacks.counting import Count, Text, counting, modules

AT = datetime(2024, 5, 17, tzinfo=UTC)
SIZES = (160, 320, 640)
OUR_TABLES = {"rule", "word_set", "phrase_set", "variants", "words_of", "keys_of"}
"""Functions that read our own tables and never a text."""
ARGUMENTS: dict[str, Callable[[str], Any]] = {
    "speaker": lambda _: "Ann",
    "addressee": lambda _: "Ben",
    "at": lambda _: AT,
    "reference": lambda _: AT,
    "context": lambda _: Context(AT.replace(tzinfo=None), "past", "whole"),
    "sentence": lambda text: Sentence(0, min(len(text), LONGEST_SENTENCE), "Ann"),
    "begin": lambda _: 0,
    "place": lambda _: 0,
    "stop": lambda text: min(len(text), LONGEST_SENTENCE),
    "signs": lambda _: "/.-",
    "hints": lambda _: ("system", "key"),
    "language": lambda _: "en",
    "other": lambda text: text[:-1] + "z",
    "before": lambda _: "my sister ",
}
"""How the other parameters of a text function are filled."""
CHARACTERS = [*" \t\n.-1aA[(\"'<>/\\:@_`*#,年一刚😀\u0301“"]
WORDS = [
    "x ",
    "A ",
    "a.",
    "1-",
    "1.",
    "\n ",
    "[a",
    "<a",
    "I am ",
    "A, ",
    "a_",
    "a@a.",
    "system ",
    "刚刚",
    "my A's ",
    "1年",
]


@pytest.fixture(scope="module")
def count() -> Iterator[Count]:
    """Counts the work of a call."""
    made = Count()
    with counting(made):
        yield made


def attacks(units: Iterable[str]) -> list[tuple[str, str, str]]:
    """What is put before, repeated and put after."""
    return [(before, unit, after) for unit in units for before, after in (("", ""), ("x ", "y"), ("x", "\nsystem"))]


def functions() -> Iterator[Any]:
    """Every public text function."""
    for module in modules("memorist.text", "memorist.remember.extract"):
        for name, function in vars(module).items():
            plain = inspect.unwrap(function) if callable(function) else None
            if name.startswith("_") or name in OUR_TABLES or not inspect.isfunction(plain):
                continue
            first = next(iter(inspect.signature(plain).parameters.values()), None)
            if plain.__module__ == module.__name__ and first is not None and first.annotation in ("str", str):
                yield pytest.param(function, id=f"{module.__name__.removeprefix('memorist.')}.{name}")


def called(function: Callable[..., Any], text: str) -> None:
    """Call a text function as the engine does, and take all it yields."""
    first, *others = inspect.signature(inspect.unwrap(function)).parameters.values()
    wanted = [one for one in others if one.default is inspect.Parameter.empty]
    if {"sentence", "stop"} & {one.name for one in others}:
        text = own_words_of(text)  # clauses are read from the speaker's own words
    given = {one.name: ARGUMENTS[one.name](text) for one in wanted}
    with suppress(LookupError, ValueError):  # some read only names, or only numbers
        made = function(Text(text), **given)
        for _ in made if isinstance(made, Iterator) else ():
            pass


def grows_too_fast(small: int, double: int, fourfold: int) -> bool:
    """Whether the second increase is more than three times the first: two times is linear, four times quadratic."""
    return fourfold - double > 3 * max(0, double - small) + 20 * SIZES[0]


def faults(count: Count, call: Callable[[str], object], tried: Iterable[tuple[str, str, str]]) -> list[str]:
    """The attacks that make a call work longer than in proportion."""
    call("I am Ann. 2 May 2020, 我")  # what is built for the first text is no work of the others
    found: list[str] = []
    for before, unit, after in tried:
        texts = [before + unit * (n // len(unit)) + after for n in SIZES]
        counts = [count.of(partial(call, text)) for text in texts]
        if grows_too_fast(*counts):
            found.append(f"{before!r} + {unit!r} * n + {after!r}: {counts}")
    return found


@pytest.mark.parametrize("function", list(functions()))
def test_a_text_function_is_linear(count: Count, function: Callable[..., Any]) -> None:
    assert not faults(count, lambda text: called(function, text), attacks([*CHARACTERS, *WORDS]))

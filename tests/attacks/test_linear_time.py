"""No text makes the engine work longer than in proportion to its length.

Work is counted, not timed: see counting.py. A new text function is tested without a change here, and a new regular
expression too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memorist
from memorist import Engine
from memorist.model import Entity, Memory, Times
from memorist.remember.entities import entity_named
from memorist.remember.extract import Dictionary
from memorist.remember.extract.clauses import own_words_of, spoken_sentences
from memorist.stores.memory import MemoryStore
from memorist.text import injection
from memorist.text.dates.values import Context
from memorist_server.inspector.views.memory import versions
from tests.attacks.counting import COUNTED, Count, Text, counting, matcher, modules
from tests.attacks.pumps import own_attacks

AT = datetime(2024, 5, 17, tzinfo=UTC)
SIZES = (100, 200, 400)
OUR_TABLES = {"rule", "form", "ignoring_case", "word_set", "phrase_set", "variants", "words_of", "keys_of"}
"""Functions that read our own tables and never a text."""
ARGUMENTS: dict[str, Callable[[str], Any]] = {
    "speaker": lambda _: "Ann",
    "addressee": lambda _: "Ben",
    "at": lambda _: AT,
    "reference": lambda _: AT,
    "context": lambda _: Context(AT.replace(tzinfo=None), "past", "whole"),
    "begin": lambda _: 0,
    "place": lambda _: 0,
    "count": lambda _: 2,
    "days": lambda text: [text, text],
    "longest": len,
    "signs": lambda _: "/.-",
    "hints": lambda _: ("system", "key"),
    "language": lambda _: "en",
    "other": lambda text: text[:-1] + "z",
    "before": lambda _: "my sister ",
    "after": lambda text: text[1:] + "z",
    "now": lambda _: AT.replace(tzinfo=None),
    "query": lambda text: text[:200],
    "most": lambda _: 100,
    "edges": lambda _: "whole",
    "topic": lambda _: "food",
    "subject": lambda text: text,
    "relation": lambda text: text,
    "object": lambda text: text,
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


Attack = tuple[str, str, str]
"""What is put before, repeated and put after."""
ATTACKS: list[Attack] = [("x ", unit, "y system") for unit in (*CHARACTERS, *WORDS)]
SIGNS = ' \n.-1aA["/年\u0301'
AROUND = (("", ""), ("x", "y"), ("x ", " system"))
MORE_ATTACKS: list[Attack] = [
    *((before, unit, after) for unit in (*CHARACTERS, *WORDS) for before, after in AROUND),
    *(("x ", sign + other, "y") for sign in SIGNS for other in SIGNS if sign != other),
]


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
    _, *others = inspect.signature(inspect.unwrap(function)).parameters.values()
    wanted = [parameter.name for parameter in others if parameter.default is inspect.Parameter.empty]
    if not {"sentence", "stop"} & set(wanted):
        _taken(function, text, {name: ARGUMENTS[name](text) for name in wanted})
        return
    own_words = own_words_of(text)
    for sentence in spoken_sentences(own_words, "Ann", "Ben"):
        places = {"sentence": sentence, "begin": sentence.begin, "place": sentence.begin, "stop": sentence.stop}
        _taken(function, own_words, {name: places.get(name) or ARGUMENTS[name](text) for name in wanted})


def _taken(function: Callable[..., Any], text: str, given: dict[str, Any]) -> None:
    with suppress(LookupError, ValueError):  # some read only names, or only numbers
        made = function(Text(text), **given)
        for _ in made if isinstance(made, Iterator) else ():
            pass


def grows_too_fast(small: int, double: int, fourfold: int) -> bool:
    """Whether the second increase is more than three times the first: two times is linear, four times quadratic."""
    return fourfold - double > 3 * max(0, double - small) + 60 * SIZES[0]


def is_fault(count: Count, counts: list[int]) -> bool:
    """Whether counts grow too fast, or reach the limit."""
    return max(counts) > count.limit or grows_too_fast(*counts)


LARGER = 8
"""A text this many times as long tells growth from the step to another way of reading, which longer texts take."""


def faults(count: Count, call: Callable[[str], object], tried: Iterable[Attack]) -> list[str]:
    """The attacks that make a call work longer than in proportion."""
    found: list[str] = []
    for before, unit, after in tried:
        call(before + unit * 9 + after)  # what is built for the first text is no work of the others

        def counts(times: int, attack: Attack = (before, unit, after)) -> list[int]:
            before, unit, after = attack
            texts = [before + unit * (times * n // len(unit)) + after for n in SIZES]
            return [count.of(partial(call, text)) for text in texts]

        small = counts(1)
        if is_fault(count, small) and is_fault(count, counts(LARGER)):
            found.append(f"{before!r} + {unit!r} * n + {after!r}: {small}")
    return found


FUNCTIONS = list(functions())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_text_function_is_linear(count: Count, function: Callable[..., Any]) -> None:
    assert not faults(count, partial(called, function), ATTACKS)


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_text_function_is_linear_for_every_pair_of_signs(count: Count, function: Callable[..., Any]) -> None:
    assert not faults(count, partial(called, function), MORE_ATTACKS)


def searched(pattern: re.Pattern[str], text: str) -> None:
    """Find every match."""
    for _ in pattern.finditer(text):
        pass


def matched(pattern: re.Pattern[str], text: str) -> None:
    """Match a text, and the whole of it."""
    pattern.match(text)
    pattern.fullmatch(text)


FORMS = [pytest.param(form.pattern, id=f"{form.reason} {place}") for place, form in enumerate(injection._FORMS)]
READ_IN_PART = {
    "recall.bridge._BEGINS": "the four characters before a name",
    "remember.extract.names._OPENS": "the eight characters before a name",
    "remember.extract.clauses._BETWEEN_CLAUSES": "a sentence, whose gaps are short",
    "remember.extract.objects._END": "a clause, whose gaps are short",
    "remember.extract.objects._LIST": "a clause, whose gaps are short",
    "remember.ingest.values._UTC": "a time of at most 100 characters",
}
"""Patterns that are quadratic, and what little they read."""
SEARCHED = re.compile(r"\b(\w+)\.(?:search|finditer|findall|sub|subn|split)\(")
MATCHED = re.compile(r"\b(\w+)\.(?:match|fullmatch)\b")


def patterns(use: re.Pattern[str], *packages: str) -> Iterator[Any]:
    """Every pattern with a name that its module uses in a way."""
    for module in modules(*packages):
        used = set(use.findall(Path(module.__file__).read_text("utf-8")))
        for name, found in vars(module).items():
            place = f"{module.__name__.removeprefix('memorist.')}.{name}"
            if name in used and place not in READ_IN_PART and isinstance(getattr(found, "pattern", None), str):
                yield pytest.param(found, id=place)


@pytest.mark.parametrize("pattern", FORMS)
def test_a_pattern_for_injections_is_linear(count: Count, pattern: re.Pattern[str]) -> None:
    assert not own_faults(count, pattern)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", list(patterns(SEARCHED, *COUNTED, "memorist.asking", "memorist.upkeep")))
def test_a_pattern_that_is_searched_for_is_linear(count: Count, pattern: re.Pattern[str]) -> None:
    assert not own_faults(count, pattern)


@pytest.mark.parametrize("pattern", list(patterns(MATCHED, "memorist.remember.ingest", "memorist_import")))
def test_a_pattern_that_an_importer_matches_is_linear(count: Count, pattern: re.Pattern[str]) -> None:
    assert not own_faults(count, pattern, matched)


def own_faults(count: Count, pattern: re.Pattern[str], use: Callable[..., None] = searched) -> list[str]:
    """The faults when a text repeats what the pattern itself repeats, after what it wants before."""
    return faults(count, partial(use, pattern), own_attacks(matcher(pattern.pattern, pattern._flags)))  # type: ignore[attr-defined]


# The engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An engine without models."""
    with memorist.open(tmp_path / "a.db", embedder="none", background=False, config={}) as opened:
        yield opened


VERBS: dict[str, Callable[[Engine, str], object]] = {
    "remember": lambda engine, text: engine.remember(text),
    "recall": lambda engine, text: engine.recall(text),
    "relate": lambda engine, text: engine.relate(text, "knows", text[:-1] + "z"),
    "step": lambda engine, text: engine.session("Find out").step(text, text),
    "ingest": lambda engine, text: engine.ingest([{"role": "user", "content": text}]),
}
HOLES: list[Attack] = [
    ("x ", ".", ""), ("", "1", ""), ("x", "\n ", "system"), ("", "1-", ""), ("", "[", ""), ("x", " ", "y"),
    ("", "A ", ""), ("我", "刚", "x"),
]  # fmt: skip
"""Each of these froze the server."""


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_linear(count: Count, engine: Engine, verb: str) -> None:
    assert not faults(count, partial(VERBS[verb], engine), HOLES)


def test_names_that_are_almost_the_same_are_not_compared_letter_by_letter(count: Count, engine: Engine) -> None:
    names = ["A" + "nna-lena" * 1000 + ending for ending in ("x", "y")]
    engine.relate("Carl", "knows", "Ben")
    first, second = (count.of(partial(engine.relate, name, "knows", "Ben")) for name in names)
    assert second < 2 * first


@pytest.mark.parametrize(("relation", "value"), [("lives_in", "City {}"), ("knows", "Ben")], ids=["values", "claims"])
def test_a_fact_is_linear_in_the_history_of_its_slot(count: Count, relation: str, value: str) -> None:
    with Engine(MemoryStore(), background=False) as engine:
        work: dict[int, int] = {}
        for place in range(41):
            tell = partial(engine.relate, "Ann", relation, value.format(place))
            work[place] = count.of(tell) if place in (10, 40) else tell() is None
    assert work[40] < 5 * work[10]


def test_a_name_is_compared_with_few_others(count: Count) -> None:
    few, many = (Dictionary(_names(number)) for number in (1000, 4000))
    least, most = (count.of(partial(known.find, "Annabella")) for known in (few, many))
    assert most < least + 1000


def _names(number: int) -> list[Entity]:
    letters = "bcdefghijk"
    written = ("Annab" + "".join(letters[int(digit)] for digit in f"{place:04}") for place in range(number))
    return [entity_named(name) for name in written]


# The views of the inspector


def compared(texts: Callable[[str], tuple[str, str]], text: str) -> None:
    """Compare two versions of a memory, as its page does."""
    before, after = (Memory(id, one, Times(AT, AT)) for id, one in zip("ab", texts(text), strict=True))
    versions([after, before])


VERSIONS: dict[str, Callable[[str], tuple[str, str]]] = {
    "another sign": lambda text: (text, text[: len(text) // 2].replace(text[:1], "?" + text[:1])),
    "a word more": lambda text: (text, f"{text} {text[: len(text) // 2]}"),
    "backwards": lambda text: (text, text[::-1]),
    "shifted": lambda text: (text, text[len(text) // 3 :] + text[: len(text) // 3]),
}


@pytest.mark.parametrize("how", VERSIONS)
def test_two_versions_are_compared_in_linear_time(count: Count, how: str) -> None:
    attacks = [("", unit, "") for unit in (*CHARACTERS, *WORDS, "!", "! ", "a b ")]
    assert not faults(count, partial(compared, VERSIONS[how]), attacks)


def test_the_page_of_a_memory_is_linear_in_its_versions(count: Count) -> None:
    """These two texts of 2 kB kept a server busy for seconds."""
    assert count.of(partial(compared, lambda text: ("!" * 1999, "?!" * 999), "")) < 100_000


@pytest.mark.slow
def test_long_texts_do_not_stop_the_others(count: Count, engine: Engine) -> None:
    """Eight texts of 60 kB, each of which took minutes, cost a bounded number of steps per character."""
    size = 60_000
    count.limit = 400 * size
    for before, unit, after in HOLES:
        text = before + unit * (size // len(unit)) + after
        assert count.of(partial(engine.remember, text)) < 200 * size, unit

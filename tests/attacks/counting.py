"""Counts the work of a call: steps of regular expressions, lines of Python, and characters that strings copy.

Nothing is timed, so the count is the same on every machine.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

from memorist.text.patterns import lazy
from tests.attacks.matcher import Matcher, TooManySteps

_NOT_COUNTED = (str(Path(__file__).parent), str(Path(re.__file__).parent))
"""Our own lines, and those of `re`, which compile a pattern once."""
_LAZY = type(lazy(""))
_CACHED = type(lru_cache(int))
COUNTED = (
    *("memorist.text", "memorist.remember", "memorist.recall", "memorist.stores", "memorist.engine"),
    "memorist_import",
)
"""The packages that read what others wrote."""
Pattern = tuple[str | bytes, int]


def modules(*packages: str) -> list[Any]:
    """Every module of some packages, imported; those that need a vendor who is not installed are left out."""
    roots = [importlib.import_module(name) for name in dict.fromkeys(text.partition(".")[0] for text in packages)]
    names = [module.name for root in roots for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")]
    wanted = [name for name in names if name.startswith(packages) and not name.endswith("__main__")]
    found: list[Any] = []
    for name in [*packages, *wanted]:
        try:
            found.append(importlib.import_module(name))
        except ImportError:
            continue
    return found


@cache
def matcher(pattern: str | bytes, flags: int) -> Matcher:
    """The counting matcher of a pattern."""
    return Matcher(pattern, flags)


class Count:
    """Counts the work of calls, one after the other."""

    def __init__(self, limit: int = 1_000_000) -> None:
        self.limit = limit
        self.steps = 0
        self._known: dict[tuple[Any, ...], tuple[int, tuple[int, int] | None]] = {}

    def of(self, call: Callable[[], object]) -> int:
        """The work of a call, which is stopped above the limit."""
        for cached in _caches():
            cached.cache_clear()
        self.steps, before, Text.counter = 0, sys.gettrace(), self
        sys.settrace(self._call)
        try:
            call()
        except TooManySteps:
            return 10 * self.limit
        finally:
            sys.settrace(before)
            Text.counter = None
        return self.steps

    def add(self, steps: int) -> None:
        """Count more work."""
        self.steps += steps
        if self.steps > self.limit and sys.gettrace() is not None:
            raise TooManySteps(self.steps)

    def ask(self, pattern: Pattern, how: str, text: Any, begin: int, end: int, past: int) -> tuple[int, int] | None:
        """Count one search; the result is the span of the match."""
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            one = matcher(*pattern)
            key = (pattern, how, text, begin, end, past)
            if key not in self._known:
                one.steps, one.limit = 0, self.limit
                if how == "search":
                    found = one.search(text, begin, end, past=past)
                else:
                    found = one.match(text, begin, end, full=how == "fullmatch")
                self._known[key] = one.steps, found
            steps, found = self._known[key]
        finally:
            sys.settrace(tracer)
        self.add(steps)
        return found

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return None if frame.f_code.co_filename.startswith(_NOT_COUNTED) else self._line

    def _line(self, _frame: FrameType, event: str, _argument: Any) -> Any:
        """A line of Python, or another turn of a loop."""
        if event == "line":
            self.add(1)
        return self._line


@cache
def _caches() -> list[Any]:
    """The functions that remember results for texts; those that remember everything hold tables."""
    found = [value for module in modules(*COUNTED) for value in vars(module).values() if type(value) is _CACHED]
    return [cached for cached in found if cached.cache_parameters()["maxsize"] is not None]


class Text(str):
    """A text that counts the characters which its methods read or copy."""

    __slots__ = ()
    counter: Count | None = None

    def __getitem__(self, key: Any) -> str:
        return self._made(str.__getitem__(self, key))

    def _made(self, text: str) -> str:
        if Text.counter is not None:
            Text.counter.add(1 + len(text) // 8)
        return Text(text) if len(text) > 8 else text


def _reading(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)

    def method(self: Text, *arguments: Any, **options: Any) -> Any:
        made = plain(self, *arguments, **options)
        if Text.counter is not None:
            begin = arguments[1] if name in ("find", "startswith", "endswith", "count") and len(arguments) > 1 else 0
            Text.counter.add(1 + (0 if name in ("startswith", "endswith") else max(0, len(self) - (begin or 0)) // 8))
        return Text(made) if isinstance(made, str) and len(made) > 8 else made

    return method


_METHODS_OF_TEXT = """
    lower upper casefold strip lstrip rstrip replace split rsplit splitlines partition rpartition find count encode
    translate startswith endswith isdigit isalnum removeprefix removesuffix __contains__ __add__ __iter__"""
for _name in _METHODS_OF_TEXT.split():
    setattr(Text, _name, _reading(_name))
Text.count = None  # the name of the counter, and of a method


def _patterns() -> list[Any]:
    modules(*COUNTED)
    return [value for value in gc.get_objects() if type(value) is _LAZY]


def lazy_patterns() -> list[tuple[str, int]]:
    """Every pattern of the engine with its flags."""
    found = ((pattern.pattern, pattern._flags) for pattern in _patterns())
    return sorted({named for named in found if isinstance(named[0], str)})


@contextmanager
def counting(count: Count) -> Iterator[None]:
    """Let every pattern of the engine count its steps."""
    patterns = _patterns()
    functions = {name: getattr(re, name) for name in ("search", "match", "fullmatch", "sub", "findall", "finditer")}
    for pattern in patterns:
        pattern.__dict__.update(_counting(count, pattern.pattern, pattern._flags))
    for name in functions:
        setattr(re, name, _module_function(count, name))
    try:
        yield
    finally:
        for name, function in functions.items():
            setattr(re, name, function)
        for pattern in patterns:
            for name in _METHODS:
                pattern.__dict__.pop(name, None)


_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def _module_function(count: Count, name: str) -> Callable[..., Any]:
    def function(pattern: str, *arguments: Any, **options: Any) -> Any:
        flags = int(options.pop("flags", 0))
        if name != "sub" and len(arguments) > 1:
            flags |= int(arguments[1])
            arguments = arguments[:1]
        return _counting(count, pattern, flags)[name](*arguments, **options)

    return function


def _counting(count: Count, pattern: str | bytes, flags: int) -> dict[str, Callable[..., Any]]:
    """The methods of a pattern, which give what `re` gives and count what it costs."""

    def cost(how: str, text: Any, begin: int, end: int | None, past: int = -1) -> tuple[int, int] | None:
        stop = len(text) if end is None else min(end, len(text))
        return count.ask((pattern, flags), how, text, begin, stop, past)

    def once(how: str) -> Callable[..., Any]:
        def method(text: Any, pos: int = 0, endpos: int | None = None) -> Any:
            cost(how, text, pos, endpos)
            return getattr(plain(), how)(text, pos, len(text) if endpos is None else endpos)

        return method

    def plain() -> re.Pattern[Any]:
        return matcher(pattern, flags).plain

    def finditer(text: Any, pos: int = 0, endpos: int | None = None) -> Iterator[Any]:
        begin, past = pos, -1
        found: Iterator[Any] | None = None
        while span := cost("search", text, begin, endpos, past):
            begin = span[1]
            past = begin if span[0] == begin else -1
            found = found or plain().finditer(text, pos, len(text) if endpos is None else endpos)
            yield next(found)

    def whole(name: str, place: int) -> Callable[..., Any]:
        def method(*arguments: Any, **options: Any) -> Any:
            most = options.get("maxsplit", 0) or options.get("count", 0) or None
            for _ in islice(finditer(arguments[place]), most):
                pass
            return getattr(plain(), name)(*arguments, **options)

        return method

    places = {"findall": 0, "sub": 1, "subn": 1, "split": 0}
    return {
        **{how: once(how) for how in ("search", "match", "fullmatch")},
        **{name: whole(name, place) for name, place in places.items()},
        "finditer": finditer,
    }

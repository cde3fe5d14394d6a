"""A backtracking matcher that finds what `re` finds and counts its steps.

`re` works in C, where nothing counts. This matcher walks the same tree of operations in the same order, so the number
of its steps grows with the text as the work of `re` does. A character looked at is one step, and so is a place given
back; a start that the first character rules out is one step too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

Ends = Iterable[int]
_ONE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_AT, _BRANCH, _MAX_REPEAT, _UNBOUNDED = _constants.AT, _constants.BRANCH, _constants.MAX_REPEAT, _constants.MAXREPEAT


class TooManySteps(Exception):
    """A pattern took more steps than its limit."""


class Matcher:
    """One pattern; `steps` counts what all its searches have cost so far, up to `limit`."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.plain = re.compile(pattern, flags)
        self.tree = _parser.parse(pattern, flags)
        self._state = self.tree.state
        self._flags = self._state.flags
        self._text: Any = ""
        self._end = 0
        self._groups: dict[int, tuple[int, int]] = {}
        self.steps = 0
        self.limit = 1_000_000
        self._root = self._sequence(list(self.tree), self._flags)
        first = self._first(list(self.tree))
        ways = [self._tree([node]) for node in first or ()]
        self._begins = self.compiled([(_BRANCH, (None, ways))]) if ways else None

    def search(self, text: Any, begin: int = 0, end: int | None = None, *, past: int = -1) -> tuple[int, int] | None:
        """The first match from `begin` on; an empty one at `past` does not count."""
        self._set(text, end)
        place = begin
        while place <= self._end:
            if self._begins is not None:
                found = self._begins.search(text, place, self._end)
                start = found.start() if found else self._end
                self.steps += start - place
                if found is None:
                    return None
                place = start
            self.steps += 1
            self._check()
            for stop in self._root(place):
                if stop != past or place != past:
                    return place, stop
            place += 1
        return None

    def match(self, text: Any, begin: int = 0, end: int | None = None, *, full: bool = False) -> tuple[int, int] | None:
        """The match at `begin`, if `full` of everything up to the end."""
        self._set(text, end)
        self.steps += 1
        for stop in self._root(begin):
            if not full or stop == self._end:
                return begin, stop
        return None

    def all(self, text: Any, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
        """Every match, as `finditer` gives them."""
        past = -1
        while found := self.search(text, begin, end, past=past):
            yield found
            begin = found[1]
            past = begin if found[0] == begin else -1

    def _check(self) -> None:
        if self.steps > self.limit:
            raise TooManySteps(self.steps)

    def _set(self, text: Any, end: int | None) -> None:
        self._text = text
        self._end = len(text) if end is None else min(end, len(text))
        self._groups.clear()

    def compiled(self, nodes: list[Any], flags: int | None = None) -> re.Pattern[Any]:
        """What `re` makes of a few operations, for those whose cost is plain."""
        tree = self._tree(nodes)
        if flags is not None and flags != self._flags:
            tree.state = copy(self._state)  # `re` adds its flags to those that are given
            tree.state.flags = flags
        return _compiler.compile(tree, self._flags if flags is None else flags)

    def _tree(self, nodes: list[Any]) -> Any:
        return _parser.SubPattern(self._state, nodes)

    def _first(self, nodes: list[Any]) -> list[Any] | None:
        """The operations one of which reads the first character of every match; None if a match may be empty."""
        found: list[Any] = []
        for op, value in nodes:
            name = str(op)
            if name in _ONE:
                return [*found, (op, value)]
            if name in ("AT", "ASSERT", "ASSERT_NOT"):
                continue
            if name == "SUBPATTERN" and not value[1] and not value[2]:
                inner, optional = list(value[3]), False
            elif name == "ATOMIC_GROUP":
                inner, optional = list(value), False
            elif name in _REPEATS:
                inner, optional = list(value[2]), value[0] == 0
            elif name == "BRANCH":
                ways = [self._first(list(way)) for way in value[1]]
                return None if None in ways else [*found, *(step for way in ways if way for step in way)]
            else:
                return None
            begun = self._first(inner)
            if begun is None:
                return None
            found += begun
            if not optional:
                return found
        return None

    def _sequence(self, nodes: list[Any], flags: int) -> Callable[[int], Ends]:
        parts = [self._node(op, value, flags) for op, value in nodes]
        if not parts:
            return lambda place: (place,)
        if len(parts) == 1:
            return parts[0]
        last = len(parts) - 1

        def run(place: int, index: int = 0) -> Ends:
            if index == last:
                yield from parts[index](place)
                return
            # While a part has one end at most, go on without another generator.
            for stop in parts[index](place):
                yield from run(stop, index + 1)

        return run

    def _node(self, op: Any, value: Any, flags: int) -> Callable[[int], Ends]:
        name = str(op)
        if name in _ONE:
            return self._one((op, value), flags)
        return getattr(self, f"_{name.lower()}")(value, flags)

    def _one(self, node: Any, flags: int) -> Callable[[int], Ends]:
        test = self.compiled([node], flags).match

        def run(place: int) -> Ends:
            self.steps += 1
            return (place + 1,) if place < self._end and test(self._text, place, self._end) else ()

        return run

    def _at(self, value: Any, flags: int) -> Callable[[int], Ends]:
        test = self.compiled([(_AT, value)], flags).match

        def run(place: int) -> Ends:
            self.steps += 1
            return (place,) if test(self._text, place, self._end) else ()

        return run

    def _branch(self, value: Any, flags: int) -> Callable[[int], Ends]:
        ways = [self._sequence(list(way), flags) for way in value[1]]

        def run(place: int) -> Ends:
            for way in ways:
                self.steps += 1
                yield from way(place)

        return run

    def _subpattern(self, value: Any, flags: int) -> Callable[[int], Ends]:
        group, added, dropped, inner = value
        body = self._sequence(list(inner), (flags | added) & ~dropped)
        if group is None:
            return body

        def run(place: int) -> Ends:
            before = self._groups.get(group)
            for stop in body(place):
                self._groups[group] = (place, stop)
                yield stop
            if before is None:
                self._groups.pop(group, None)
            else:
                self._groups[group] = before

        return run

    def _atomic_group(self, value: Any, flags: int) -> Callable[[int], Ends]:
        body = self._sequence(list(value), flags)

        def run(place: int) -> Ends:
            stop = next(iter(body(place)), None)
            return () if stop is None else (stop,)

        return run

    def _assert(self, value: Any, flags: int) -> Callable[[int], Ends]:
        return self._look(value, flags, wanted=True)

    def _assert_not(self, value: Any, flags: int) -> Callable[[int], Ends]:
        return self._look(value, flags, wanted=False)

    def _look(self, value: Any, flags: int, *, wanted: bool) -> Callable[[int], Ends]:
        direction, inner = value
        body = self._sequence(list(inner), flags)
        back = inner.getwidth()[0] if direction < 0 else 0

        def run(place: int) -> Ends:
            self.steps += 1
            found = place >= back and next(iter(body(place - back)), None) is not None
            return (place,) if found is wanted else ()

        return run

    def _groupref(self, value: Any, _flags: int) -> Callable[[int], Ends]:
        def run(place: int) -> Ends:
            self.steps += 1
            if value not in self._groups:
                return ()
            begin, stop = self._groups[value]
            said = self._text[begin:stop]
            return (place + len(said),) if self._text.startswith(said, place, self._end) else ()

        return run

    def _max_repeat(self, value: Any, flags: int) -> Callable[[int], Ends]:
        return self._repeat(value, flags, greedy=True)

    def _min_repeat(self, value: Any, flags: int) -> Callable[[int], Ends]:
        return self._repeat(value, flags, greedy=False)

    def _possessive_repeat(self, value: Any, flags: int) -> Callable[[int], Ends]:
        body = self._repeat(value, flags, greedy=True)

        def run(place: int) -> Ends:
            stop = next(iter(body(place)), None)
            return () if stop is None else (stop,)

        return run

    def _repeat(self, value: Any, flags: int, *, greedy: bool) -> Callable[[int], Ends]:
        least, most, inner = value
        nodes = list(inner)
        if len(nodes) == 1 and str(nodes[0][0]) in _ONE:
            return self._run_of_one(nodes[0], least, most, flags, greedy=greedy)
        body = self._sequence(nodes, flags)
        return self._longest(body, least, most) if greedy else self._shortest(body, least, most)

    def _run_of_one(self, node: Any, least: int, most: Any, flags: int, *, greedy: bool) -> Callable[[int], Ends]:
        whole = self.compiled([(_MAX_REPEAT, (0, most, self._tree([node])))], flags).match

        def run(place: int) -> Ends:
            found = whole(self._text, place, self._end) if place <= self._end else None
            longest = found.end() if found else place
            if not greedy:
                for stop in range(place + least, longest + 1):
                    self.steps += 1
                    yield stop
                return
            self.steps += longest - place + 1
            self._check()
            for stop in range(longest, place + least - 1, -1):
                yield stop
                self.steps += 1

        return run

    def _longest(self, body: Callable[[int], Ends], least: int, most: Any) -> Callable[[int], Ends]:
        def run(place: int) -> Ends:
            # One entry per repetition so far: where it began, and the ends of the next one that are left to try.
            tried = [(place, iter(body(place) if most else ()))]
            while tried:
                self.steps += 1
                self._check()
                here, ends = tried[-1]
                stop = next(ends, None)
                if stop is None:
                    tried.pop()
                    if len(tried) >= least:
                        yield here
                elif stop != here or len(tried) <= least:
                    more = most == _UNBOUNDED or len(tried) < most
                    tried.append((stop, iter(body(stop) if more else ())))

        return run

    def _shortest(self, body: Callable[[int], Ends], least: int, most: Any) -> Callable[[int], Ends]:
        def run(place: int) -> Ends:
            if least == 0:
                yield place
            tried = [iter(body(place) if most else ())]
            heres = [place]
            while tried:
                self.steps += 1
                stop = next(tried[-1], None)
                if stop is None:
                    tried.pop()
                    heres.pop()
                elif stop != heres[-1] or len(tried) <= least:
                    if len(tried) >= least:
                        yield stop
                    more = most == _UNBOUNDED or len(tried) < most
                    tried.append(iter(body(stop) if more else ()))
                    heres.append(stop)

        return run

"""Grammars: rules over tokens, parsed with memoization."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import TypeVar

from memorist.text.dates.tokens import WORD, Item, Tokens, variants
from memorist.text.dates.values import NOTHING, Context

_MEMO_LIMIT = 20_000
SWAPPED = (1, 0)
"""The `order` of a rule whose phrase has the two arguments in reverse."""

Result = TypeVar("Result")
Builder = Callable[..., object]
Order = tuple[int | None, ...]
Guard = Callable[["ParseState", int, int], bool]
Found = list[tuple[int, object]]
Terminal = Callable[["ParseState", int], Iterable[tuple[int, object]]]
Read = TypeVar("Read", bound=Terminal)


@dataclass(slots=True)
class ParseState:
    """The state of reading one text: its tokens, the context, and the matches so far at each place."""

    tokens: Tokens
    context: Context
    memo: dict[tuple[int, str], Found] = field(default_factory=dict[tuple[int, str], Found])
    steps: int = 0
    """The number of steps taken, for the test that the work is linear in the length of the text."""

    def key(self, place: int) -> str:
        """The key of the token at a place; empty outside the text."""
        return self.tokens.keys[place]


@dataclass(frozen=True, slots=True)
class _Rule:
    category: str
    phrase: str
    build: Builder
    guard: Guard | None = None
    order: Order | None = None


@dataclass(frozen=True, slots=True)
class _Accept:
    """The end of a phrase, with the function that makes the value of its category."""

    priority: int
    build: Builder
    slots: Order
    arity: int
    guard: Guard | None

    def value(self, reading: ParseState, begin: int, stop: int, captured: Sequence[object]) -> object:
        if NOTHING in captured:
            return NOTHING
        if self.guard and not self.guard(reading, begin, stop):
            return None
        arguments: list[object] = [None] * self.arity
        for slot, found in zip(self.slots, captured, strict=True):
            if slot is not None:
                arguments[slot] = found
        try:
            return call_builder(self.build, reading.context, *arguments)
        except (ValueError, OverflowError):  # no such day, or outside the calendar
            return None


@dataclass(frozen=True, slots=True)
class _Lookahead:
    """What may follow the first token of a category: anything if it may stand alone, else one of `then`."""

    alone: bool
    then: frozenset[str]

    def admits(self, following: str) -> bool:
        return self.alone or following in self.then


@dataclass(slots=True)
class _Node:
    words: dict[str, "_Node"] = field(default_factory=dict[str, "_Node"])
    categories: dict[str, "_Node"] = field(default_factory=dict[str, "_Node"])
    accepts: list[_Accept] = field(default_factory=list[_Accept])
    branches: dict[str, "_Branches"] = field(default_factory=dict[str, "_Branches"])
    """The categories that may begin with a token; filled on first use."""

    def follow(self, item: Item) -> "_Node":
        name, slot = item
        edges = self.words if slot == WORD else self.categories
        node = edges.get(name)
        if node is None:
            node = edges[name] = _Node()
        return node


_Branches = tuple[tuple[str, _Node, _Lookahead], ...]
_Ends = list[tuple[int, _Accept, tuple[object, ...]]]


@dataclass(slots=True)
class _Category:
    root: _Node = field(default_factory=_Node)
    terminal: Terminal | None = None
    first: frozenset[str] = frozenset()
    lookahead: dict[str, _Lookahead] = field(default_factory=dict[str, _Lookahead])


class Grammar:
    """The rules of one language by category; compiled on first use."""

    def __init__(self) -> None:
        self._rules: list[_Rule] = []
        self._categories: dict[str, _Category] = {}
        self._compiling = Lock()
        self._compiled = False
        self._vocabulary = frozenset[str]()

    def words(self, category: str, table: Mapping[str, object]) -> None:
        """Add a table of phrases and their values to a category."""
        for phrase, value in table.items():
            self._rules.append(_Rule(category, phrase, _constant(value)))

    def terminal(
        self, category: str, *, alone: Iterable[str] = (), then: Mapping[str, Iterable[str]] | None = None
    ) -> Callable[[Read], Read]:
        """Read a category by a function.

        `alone` are the tokens that may be a whole match; `then` maps first tokens to possible second tokens.
        """
        lookahead = {key: _Lookahead(False, frozenset(seconds)) for key, seconds in (then or {}).items()}
        for key in alone:
            known = lookahead.get(key)
            lookahead[key] = _Lookahead(True, known.then if known else frozenset())

        def register(read: Read) -> Read:
            self._categories[category] = _Category(terminal=read, first=frozenset(lookahead), lookahead=lookahead)
            return read

        return register

    def rule(
        self, category: str, build: Builder, *phrases: str, when: Guard | None = None, order: Order | None = None
    ) -> None:
        """Read a category by phrases; `build` makes the value from the values in the phrase.

        `build` is given the context if it has a parameter of that name, and returns None for no match. `order` gives
        the argument for each value in the phrase, None to drop it; by default they are passed in the order of the
        phrase.
        """
        self._rules.extend(_Rule(category, phrase, build, when, order) for phrase in phrases)

    def union(self, category: str, *phrases: str, when: Guard | None = None) -> None:
        """Let a category contain others: each phrase names one category, which gives the value."""
        self.rule(category, only_value, *phrases, when=when)

    def ignore(self, category: str, *phrases: str) -> None:
        """Skip phrases that look like dates but are not."""
        self.rule(category, _constant(NOTHING), *phrases)

    def _compile(self) -> None:
        with self._compiling:
            if not self._compiled:
                self._insert_rules()
                for name in self._categories:
                    self._find_first(name, ())
                self._vocabulary = self._vocabulary.union(*(used.first for used in self._categories.values()))
                self._compiled = True

    def _insert_rules(self) -> None:
        for priority, rule in enumerate(self._rules):
            root = self._categories.setdefault(rule.category, _Category()).root
            arity, ways = variants(rule.phrase)
            order = rule.order or tuple(range(arity))
            count = 1 + max((slot for slot in order if slot is not None), default=-1)
            for items in ways:
                node = root
                for item in items:
                    node = node.follow(item)
                slots = tuple(order[slot] for _, slot in items if slot != WORD)
                node.accepts.append(_Accept(priority, rule.build, slots, count, rule.guard))

    def _find_first(self, name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"the category {name} uses itself: {' > '.join(above)}")
        category = self._categories[name]
        if category.first:
            return
        for used in _used(category.root):
            self._find_first(used, (*above, name))
        category.first = self._first_of(category.root)

    def _first_of(self, node: _Node) -> frozenset[str]:
        return frozenset(node.words).union(*(self._categories[name].first for name in node.categories))

    def _look(self, category: _Category, key: str) -> _Lookahead:
        known = category.lookahead.get(key)
        if known is None:
            known = category.lookahead[key] = self._look_ahead(category.root, key)
        return known

    def _look_ahead(self, root: _Node, key: str) -> _Lookahead:
        alone, then = False, set[str]()
        nodes = [root.words[key]] if key in root.words else []
        for name, node in root.categories.items():
            category = self._categories[name]
            if key in category.first:
                inner = self._look(category, key)
                then |= inner.then
                nodes += [node] if inner.alone else []
        for node in nodes:
            alone |= bool(node.accepts)
            then |= self._first_of(node)
        return _Lookahead(alone, frozenset(then))

    def beginnings(self, name: str) -> frozenset[str]:
        """The keys that a match of a category may begin with."""
        if not self._compiled:
            self._compile()
        return self._categories[name].first

    def places(self, reading: ParseState, name: str) -> list[int]:
        """The places where a match of a category may begin, by the token there and the one after it."""
        first, category = self.beginnings(name), self._categories[name]
        keys = reading.tokens.keys
        begun = [place for place in range(len(reading.tokens.begins)) if keys[place] in first]
        return [place for place in begun if self._look(category, keys[place]).admits(keys[place + 1])]

    def matches(self, reading: ParseState, name: str, place: int) -> Found:
        """Every match of a category from a place on: where it stops and its value, longest first."""
        if not self._compiled:
            self._compile()
        key, following = reading.tokens.keys[place : place + 2]
        category = self._categories[name]
        if key not in category.first or not self._look(category, key).admits(following):
            return []
        return self._matches(reading, name, place)

    def _matches(self, reading: ParseState, name: str, place: int) -> Found:
        found = reading.memo.get((place, name))
        if found is None:
            if len(reading.memo) > _MEMO_LIMIT:
                reading.memo.clear()
            found = reading.memo[place, name] = self._read(reading, self._categories[name], place)
        return found

    def _read(self, reading: ParseState, category: _Category, place: int) -> Found:
        if category.terminal:
            return _longest_first(category.terminal, reading, place)
        ends: _Ends = []
        self._walk(reading, category.root, place, (), ends)
        best: dict[int, tuple[int, object]] = {}
        for stop, accept, captured in ends:
            if stop not in best or accept.priority < best[stop][0]:
                value = accept.value(reading, place, stop, captured)
                if value is not None:
                    best[stop] = (accept.priority, value)
        return [(stop, best[stop][1]) for stop in sorted(best, reverse=True)]

    def _walk(self, reading: ParseState, node: _Node, place: int, captured: tuple[object, ...], ends: _Ends) -> None:
        reading.steps += 1
        for accept in node.accepts:
            ends.append((place, accept, captured))
        key = reading.tokens.keys[place]
        following = node.words.get(key)
        if following:
            self._walk(reading, following, place + 1, captured, ends)
        if not node.categories or key not in self._vocabulary:
            return
        branches = node.branches.get(key)
        coming = reading.tokens.keys[place + 1]
        for name, after, look in self._branches(node, key) if branches is None else branches:
            if look.alone or coming in look.then:
                for stop, value in self._matches(reading, name, place):
                    self._walk(reading, after, stop, (*captured, value), ends)

    def _branches(self, node: _Node, key: str) -> _Branches:
        categories = ((name, after, self._categories[name]) for name, after in node.categories.items())
        found = tuple((name, after, self._look(used, key)) for name, after, used in categories if key in used.first)
        node.branches[key] = found
        return found


def call_builder(build: Callable[..., Result], context: Context, *arguments: object) -> Result:
    """The result of a function, which is given the context if it has a parameter of that name."""
    return build(*arguments, context=context) if _wants_context(build) else build(*arguments)


@cache
def _wants_context(build: Builder) -> bool:
    return "context" in inspect.signature(build).parameters


def _constant(value: object) -> Builder:
    return lambda *_: value


def only_value(value: object) -> object:
    """The value of the only category in a phrase."""
    return value


def _longest_first(terminal: Terminal, reading: ParseState, place: int) -> Found:
    try:
        return sorted(terminal(reading, place), key=lambda found: found[0], reverse=True)
    except (ValueError, OverflowError):  # outside the calendar
        return []


def _used(root: _Node) -> set[str]:
    found: set[str] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        found.update(node.categories)
        waiting.extend((*node.words.values(), *node.categories.values()))
    return found


_JOINTS = frozenset("-/.:,")
_BEFORE_AMOUNTS = frozenset("$€£¥#@+=")


def _is_figure(key: str) -> bool:
    return key.startswith("#") and len(key) > 1


def _is_word(key: str) -> bool:
    return key.isascii() and key.isalpha()


def free_before(reading: ParseState, begin: int) -> bool:
    """Whether an expression may begin here: no longer number, label or amount of money precedes it."""
    before = reading.key(begin - 1)
    if not _is_figure(reading.key(begin)):
        return not (before in ("$", "#", "@") and reading.tokens.glued(begin))
    tokens = reading.tokens
    if before == "-" and _is_figure(reading.key(begin - 2)):
        return False
    if not tokens.glued(begin):
        return before not in ("$", "€", "£", "+")
    goes_on = before in _JOINTS and tokens.glued(begin - 1) and _is_figure(reading.key(begin - 2))
    return not (goes_on or before in _BEFORE_AMOUNTS or _is_word(before))


def free_after(reading: ParseState, _begin: int, stop: int) -> bool:
    """Whether the last number of an expression ends here."""
    if not _is_figure(reading.key(stop - 1)) or not reading.tokens.glued(stop):
        return True
    after = reading.key(stop)
    if after == "%" or _is_word(after):
        return False
    return not (after in _JOINTS and reading.tokens.glued(stop + 1) and _is_figure(reading.key(stop + 1)))

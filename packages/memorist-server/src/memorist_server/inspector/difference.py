"""The difference of two texts, word by word, in almost linear time.

The words that occur once in each text are paired, as in Bram Cohen's patience diff; the longest run of pairs in the
order of both texts divides them, and what is equal next to a pair belongs to it. There is no search for the best
difference, so no two texts keep it busy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from memorist.text.patterns import lazy

LONGEST = 100_000
"""Characters of two texts, together, up to which they are compared."""
_WORDS = lazy(r"\w+|\s+|[^\w\s]")
Piece = tuple[str, str]
"""How a piece of text differs, `same`, `removed` or `added`, and the piece."""


def difference(before: str, after: str) -> tuple[Piece, ...] | None:
    """The pieces of two texts, word by word; None if they are too long to be compared."""
    if len(before) + len(after) > LONGEST:
        return None
    return tuple(_pieces(_WORDS.findall(before), _WORDS.findall(after)))


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    i = j = 0
    for a, b, size in _joined(_equal_runs(old, new)):
        yield from ((how, "".join(some)) for how, some in (("removed", old[i:a]), ("added", new[j:b])) if some)
        if size:
            yield "same", "".join(old[a : a + size])
        i, j = a + size, b + size


def _equal_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Where equal words begin in both, and how many there are, in order; the end of both counts as an empty run."""
    i = j = 0
    for a, b in [*_rising(_pairs(old, new)), (len(old), len(new))]:
        ahead = _equal(old[i:a], new[j:b])
        yield i, j, ahead
        back = _equal(reversed(old[i + ahead : a]), reversed(new[j + ahead : b]))
        paired = a < len(old)
        yield a - back, b - back, back + paired
        i, j = a + paired, b + paired


def _equal(one: Iterable[str], other: Iterable[str]) -> int:
    """How many words two runs begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _joined(runs: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """The runs, with those that touch in both texts made one."""
    a = b = size = 0
    for i, j, more in runs:
        if (i, j) == (a + size, b + size):
            size += more
        elif more or (i, j) > (a, b):
            yield a, b, size
            a, b, size = i, j, more
    yield a, b, size


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The places of each word that occurs once in both, in the order of the old text."""
    often, again = Counter(old), Counter(new)
    places = {word: place for place, word in enumerate(new) if again[word] == 1}
    return [(place, places[word]) for place, word in enumerate(old) if often[word] == 1 and word in places]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs whose places rise in both texts."""
    ends: list[int] = []
    chains: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(chains[length - 1] if length else None)
        ends[length : length + 1] = [place]
        chains[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    last = chains[-1] if chains else None
    while last is not None:
        chosen.append(pairs[last])
        last = before[last]
    return chosen[::-1]

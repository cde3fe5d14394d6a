"""Duplicates: the same said twice, found by blocks of alike texts and judged by the rule of the write gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from memorist.model import Kind, Memory
from memorist.remember.gates.verdict import has_own_place, spoken
from memorist.text.gist import Gist, gist, repeats
from memorist.upkeep.audit.checks import CONTENT, is_current
from memorist.upkeep.audit.fixes import Retire
from memorist.upkeep.audit.model import Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BANDS, ROWS = 8, 4
"""MinHash (Broder 1997): texts with a Jaccard similarity of s share a block with probability 1 − (1 − s⁴)⁸, 0.985 at
0.8."""
FEWEST_WORDS = 3
TELLING_WORDS = 12
"""Words that nobody says twice by chance: fewer, said at two times, are two events."""
LARGEST_BLOCK = 50
"""Of a larger block only the newest are compared: it is boilerplate."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What is kept of a memory until the end."""

    id: str
    scope: str
    kind: Kind
    speaker: str | None
    said_at: datetime
    placed: bool
    recalls: int
    gist: Gist


class Duplicates:
    """Finds memories that say the same, word for word or but for words that change nothing."""

    kinds = ("duplicate", "near_duplicate")

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._said: list[_Said] = []
        self._blocks = defaultdict[tuple[str, int, bytes], list[int]](list)
        self._hasher = _MinHash()

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """Nothing yet."""
        for memory in page:
            if memory.kind in CONTENT and is_current(memory, self._now):
                self._add(memory)
        return ()

    def close(self) -> Iterator[Finding]:
        """One finding for each memory that another makes superfluous."""
        gone: dict[int, int] = {}
        for pair in self._pairs():
            first, second = (_root(one, gone) for one in pair)
            if first == second:
                continue
            said, other = self._said[first], self._said[second]
            if _same_event(said, other) and (repeats(said.gist, other.gist) or repeats(other.gist, said.gist)):
                survivor = first if _worth(said) >= _worth(other) else second
                gone[second if survivor == first else first] = survivor
        for at, by in sorted(gone.items()):
            yield self._finding(self._said[at], self._said[_root(by, gone)])

    def _add(self, memory: Memory) -> None:
        words = gist(spoken(memory))
        if len(words.words) < FEWEST_WORDS and memory.text.isascii():
            return
        for band, least in enumerate(self._hasher.blocks(words.words)):
            self._blocks[memory.scope, band, least].append(len(self._said))
        origin, times, usage = memory.origin, memory.times, memory.usage
        placed = has_own_place(memory) and memory.fact is None
        recalls = usage.recalls if usage else 0
        self._said.append(
            _Said(memory.id, memory.scope, memory.kind, origin.speaker, times.valid_from, placed, recalls, words)
        )

    def _pairs(self) -> Iterator[tuple[int, int]]:
        seen: set[tuple[int, int]] = set()
        for block in self._blocks.values():
            newest = block[-LARGEST_BLOCK:]
            for place, second in enumerate(newest):
                for first in newest[:place]:
                    if (first, second) not in seen:
                        seen.add((first, second))
                        yield first, second

    def _finding(self, said: _Said, survivor: _Said) -> Finding:
        same = said.gist.words == survivor.gist.words
        return Finding(
            "duplicate" if same else "near_duplicate",
            (said.id, survivor.id),
            f"says {'the same as' if same else 'nothing beyond'} {survivor.id}",
            "medium" if same else "low",
            Retire(said.id, survivor.id),
        )


def _same_event(one: _Said, other: _Said) -> bool:
    if one.kind is not other.kind or (one.speaker != other.speaker and None not in (one.speaker, other.speaker)):
        return False
    if not (one.placed and other.placed) or one.said_at == other.said_at:
        return True
    return min(len(one.gist.words), len(other.gist.words)) >= TELLING_WORDS


def _worth(said: _Said) -> tuple[bool, int, int]:
    """Who survives: the one with a place in a conversation, which says more, and was recalled more."""
    return said.placed, len(said.gist.words), said.recalls


def _root(at: int, gone: dict[int, int]) -> int:
    while at in gone:
        at = gone[at]
    return at


class _MinHash:
    """Blocks of texts that share most of their words."""

    def __init__(self) -> None:
        import numpy as np

        random = np.random.default_rng(20240601)
        self._factors = random.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) | np.uint64(1)
        self._numbers: dict[str, int] = {}

    def blocks(self, words: Sequence[str]) -> list[bytes]:
        """The blocks that a text falls into, a band each."""
        least, width = self._least(words).tobytes(), 8 * ROWS
        return [least[start : start + width] for start in range(0, BANDS * width, width)]

    def _least(self, words: Sequence[str]) -> NDArray[np.uint64]:
        import numpy as np

        numbers = np.fromiter({self._number(word) for word in words} or {0}, np.uint64)
        return ((numbers[:, np.newaxis] * self._factors) >> np.uint64(16)).min(axis=0)

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            number = self._numbers[word] = int.from_bytes(digest, "little")
        return number

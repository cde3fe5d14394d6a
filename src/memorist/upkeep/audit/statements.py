"""Duplicates and contradictions: two memories that say the same, or the opposite.

Candidates for duplicates come from MinHash blocks of similar texts; the rule of the write gate decides. What is only
similar is reported and left alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from memorist.model import Kind, Memory
from memorist.models.embedding_text import text_without_speaker
from memorist.ports import Store
from memorist.remember.fact_rows import one_valued
from memorist.remember.gates.verdict import has_own_place
from memorist.remember.timeline import fold_value
from memorist.results.upkeep import Finding
from memorist.text.gist import Gist, denials, gist, repeats
from memorist.text.sameness import canonical, signs
from memorist.text.tokens import sentences
from memorist.upkeep.audit.checks import CONTENT, Check, is_current
from memorist.upkeep.audit.fixes import end, flag, retire

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BANDS, ROWS = 8, 4
"""MinHash (Broder 1997): texts with a Jaccard similarity of s share a block with probability 1 − (1 − s⁴)⁸, 0.985 at
0.8."""
FEWEST_WORDS = 3
TELLING_WORDS = 12
"""A text of this many words is not said twice by chance; a shorter one, said at two times, is two events."""
LARGEST_BLOCK = 50
"""Only the newest of a larger block are compared: it is boilerplate."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What the check keeps of a memory until the end."""

    id: str
    kind: Kind
    speaker: str | None
    said_at: datetime
    placed: bool
    recalls: int
    gist: Gist
    text: bytes
    """A digest of the text as it is compared."""
    signs: str


class Duplicates(Check):
    """Finds memories with the same text, and such as differ only in words without meaning.

    Notes do not count: they repeat memories and each other on purpose.
    """

    kinds = ("duplicate", "near_duplicate")

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._said: list[_Said] = []
        self._blocks = defaultdict[tuple[str, int, bytes], list[int]](list)
        self._hasher = _MinHash()

    def see(self, page: Sequence[Memory]) -> None:
        """No findings yet."""
        for memory in page:
            if memory.kind in CONTENT and memory.kind is not Kind.NOTE and is_current(memory, self.now):
                self._add(memory)

    def close(self) -> Iterator[Finding]:
        """One finding per memory that repeats another one."""
        same = self._matched(_is_same, {})
        alike = self._matched(_is_alike, same)
        for at, by in sorted(alike.items()):
            yield self._finding(self._said[at], self._said[_root(by, alike)], same=at in same)

    def _matched(self, match: Callable[[_Said, _Said], bool], known: Mapping[int, int]) -> dict[int, int]:
        """The memory that answers for each one that matches another, in addition to those that are known."""
        gone = dict(known)
        for pair in self._pairs():
            first, second = (_root(place, gone) for place in pair)
            said, other = self._said[first], self._said[second]
            if first != second and _same_event(said, other) and match(said, other):
                survivor = first if _worth(said) >= _worth(other) else second
                gone[second if survivor == first else first] = survivor
        return gone

    def _add(self, memory: Memory) -> None:
        said = text_without_speaker(memory)
        words, text = gist(said), canonical(said)
        if len(words.words) < FEWEST_WORDS and memory.text.isascii():
            return
        for band, least in enumerate(self._hasher.blocks(words.words)):
            self._blocks[memory.scope, band, least].append(len(self._said))
        origin, times, usage = memory.origin, memory.times, memory.usage
        placed = has_own_place(memory) and memory.fact is None
        recalls = usage.recalls if usage else 0
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
        about = (memory.id, memory.kind, origin.speaker, times.valid_from, placed, recalls)
        self._said.append(_Said(*about, words, digest, signs(text)))

    def _pairs(self) -> Iterator[tuple[int, int]]:
        seen: set[tuple[int, int]] = set()
        for block in self._blocks.values():
            newest = block[-LARGEST_BLOCK:]
            for place, second in enumerate(newest):
                for first in newest[:place]:
                    if (first, second) not in seen:
                        seen.add((first, second))
                        yield first, second

    def _finding(self, said: _Said, survivor: _Said, *, same: bool) -> Finding:
        ids = (said.id, survivor.id)
        if same:
            return Finding("duplicate", ids, f"says the same as {survivor.id}", "medium", retire(*ids))
        return Finding("near_duplicate", ids, f"says almost the same as {survivor.id}", "low")


def _is_same(one: _Said, other: _Said) -> bool:
    return one.text == other.text


def _is_alike(one: _Said, other: _Said) -> bool:
    """Whether one has the words of the other, but for a few without meaning; nothing is changed on this ground."""
    return one.signs == other.signs and (repeats(one.gist, other.gist) or repeats(other.gist, one.gist))


def _same_event(one: _Said, other: _Said) -> bool:
    if one.kind is not other.kind or (one.speaker != other.speaker and None not in (one.speaker, other.speaker)):
        return False
    if not (one.placed and other.placed) or one.said_at == other.said_at:
        return True
    return min(len(one.gist.words), len(other.gist.words)) >= TELLING_WORDS


def _worth(said: _Said) -> tuple[bool, int, int]:
    """The survivor is the one with a place in a conversation, then the longer one, then the more recalled one."""
    return said.placed, len(said.gist.words), said.recalls


def _root(at: int, gone: dict[int, int]) -> int:
    while at in gone:
        at = gone[at]
    return at


class _MinHash:
    """Groups texts that share most of their words into blocks."""

    def __init__(self) -> None:
        import numpy as np

        random = np.random.default_rng(20240601)
        self._factors = random.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) | np.uint64(1)
        self._numbers: dict[str, int] = {}

    def blocks(self, words: Sequence[str]) -> list[bytes]:
        """The blocks that a text falls into, one per band."""
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


CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class _Stated:
    """A memory that states something, and since when; `alone` if it states nothing else."""

    id: str
    since: datetime
    value: str
    alone: bool


class Contradictions(Check):
    """Finds current facts of one slot with different values, and statements that one speaker makes and denies."""

    kinds = ("contradiction",)

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store, now)
        self._values = defaultdict[tuple[str, str, str], list[_Stated]](list)
        self._slots: dict[tuple[str, str, str], str] = {}
        """The subject and the relation of each slot, as the first fact spells them."""
        self._statements = defaultdict[bytes, list[_Stated]](list)

    def see(self, page: Sequence[Memory]) -> None:
        """No findings yet."""
        for memory in page:
            if memory.kind in CONTENT and is_current(memory, self.now):
                self._add_value(memory)
                self._add_statements(memory)

    def close(self) -> Iterator[Finding]:
        """One finding per older statement that a newer one contradicts."""
        for slot, stated in self._values.items():
            for one, newest in _superseded(stated):
                told = f"{self._slots[slot]} {one.value}, and since {newest.since.date()} {newest.value}:"
                yield _contradicted(one, newest, told)
        for stated in self._statements.values():
            yield from (_contradicted(one, newest, "is denied by") for one, newest in _superseded(stated))

    def _add_value(self, memory: Memory) -> None:
        fact = memory.fact
        if fact is not None and one_valued(fact.relation):
            slot = (memory.scope, fold_value(fact.subject), fact.relation)
            self._slots.setdefault(slot, f"{fact.subject} {fact.relation}")
            self._values[slot].append(_Stated(memory.id, memory.times.valid_from, fact.object, True))

    def _add_statements(self, memory: Memory) -> None:
        if memory.fact is not None or memory.kind is Kind.NOTE or CONTRADICTED in memory.worth.flags:
            return
        said = text_without_speaker(memory)
        alone = len(sentences(said)) == 1
        for stems, denied in denials(said):
            key = repr((memory.scope, memory.origin.speaker, stems)).encode("utf-8", "surrogatepass")
            stated = _Stated(memory.id, memory.times.valid_from, "denied" if denied else "stated", alone)
            self._statements[blake2b(key, digest_size=12).digest()].append(stated)


def _superseded(stated: Sequence[_Stated]) -> Iterator[tuple[_Stated, _Stated]]:
    """The statements that the newest one contradicts, each with the newest."""
    newest = max(stated, key=lambda one: (one.since, one.id))
    return (
        (earlier, newest)
        for earlier in stated
        if fold_value(earlier.value) != fold_value(newest.value) and earlier.id != newest.id
    )


def _contradicted(one: _Stated, newest: _Stated, how: str) -> Finding:
    fix = end(one.id, newest.since, newest.id) if one.alone else flag(one.id, CONTRADICTED)
    return Finding("contradiction", (one.id, newest.id), f"{how} {newest.id}", "high", fix)

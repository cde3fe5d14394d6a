"""The verdicts of the gates, and the context in which they decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from memorist.model import Filter, Kind, Memory, Tier, new_or_changed
from memorist.ports import Store, View
from memorist.remember.policy import Policy
from memorist.remember.redaction import texts_of
from memorist.text.chatter import with_speaker as named
from memorist.text.gist import pieces_of
from memorist.text.sameness import canonical
from memorist.text.words import words

Decision = Literal["mask", "mark", "skip", "refuse"]
LOOKED_AT = 4
"""How many memories are looked at for a sentence."""
SPEAKING = tuple(kind for kind in Kind if kind is not Kind.SOURCE)
"""Kinds that a text may repeat: a source says again what its step says."""
ASKED = 4
"""How many words are searched for: a copy contains them all, and the longest are the rarest."""
COMPARED = 12
"""How many words are looked up before anything is searched for; seldom has a memory the longest three."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gate's decision about a memory, the memory as it goes on, and the memories that it was compared with."""

    gate: str
    decision: Decision
    reason: str
    memory: Memory
    about: tuple[str, ...] = ()
    final: str | None = None
    """Why the decision cannot be undone; None if it can."""


class GateContext:
    """What a gate can see: the policy, the store, and the earlier memories of the same batch."""

    def __init__(self, policy: Policy, store: Store) -> None:
        self.policy = policy
        self.plain_labels = set[str]()
        """Labels of this batch in which no secret was found."""
        self._asked: tuple[Memory, list[str]] | None = None
        self._store = store
        self._said = defaultdict[tuple[str, str], list[Memory]](list)
        self._known: dict[str, list[Memory]] = {}
        self._unread: list[Memory] = []
        self._pieces: dict[tuple[str, str], str] = {}
        self._cut: dict[str, list[str]] = {}

    def texts(self, memory: Memory) -> list[str]:
        """Every text of a memory; several gates ask for them."""
        if self._asked is None or self._asked[0] is not memory:
            self._asked = memory, texts_of(memory)
        return self._asked[1]

    def pieces(self, text: str) -> list[str]:
        """The sentences of a text of this batch, as they are compared."""
        if text not in self._cut:
            self._cut[text] = pieces_of(text)
        return self._cut[text]

    def expect(self, memories: Sequence[Memory]) -> None:
        """Look up at once which memories of the store say the same as these."""
        texts = {memory.text: canonical(memory.text) for memory in memories}
        self._known |= {said: [] for said in texts.values()}
        for known in self._store.by_text(list(texts)) if texts else ():
            if (said := canonical(known.text)) in self._known:
                self._known[said].append(known)

    def passed(self, memory: Memory) -> None:
        """Note a memory of this batch, for the memories after it."""
        self._said[memory.scope, canonical(memory.text)].append(memory)
        self._unread.append(memory)

    def is_stored(self, memory: Memory) -> bool:
        """Whether the store holds the memory with this very text."""
        return not new_or_changed([memory], self._store.get([memory.id]))

    @cached_property
    def learnt(self) -> frozenset[str]:
        """The texts that the noise bank has learnt, as they are compared."""
        return frozenset(map(canonical, self._store.noise()))

    @cached_property
    def _view(self) -> View:
        return self._store.view()

    def same_text(self, memory: Memory) -> Iterator[Memory]:
        """The memories of its scope with the same text: first of this batch, then of the store."""
        said = canonical(memory.text)
        yield from self._said[memory.scope, said]
        there = self._known[said] if said in self._known else self._store.by_text([memory.text])
        yield from (known for known in there if known.scope == memory.scope)

    def holding(self, piece: str, scope: str) -> Iterator[str]:
        """The ids of the memories of a scope that contain a piece of `pieces_of`."""
        for memory in self._unread:
            for judged in pieces_in(memory, self.pieces):
                self._pieces.setdefault((memory.scope, judged), memory.id)
        self._unread.clear()
        if (scope, piece) in self._pieces:
            yield self._pieces[scope, piece]
        if self._view.may_hold(_surely_in(piece)):
            yield from (known.id for known in self._found(piece, scope) if piece in pieces_in(known))

    def _found(self, text: str, scope: str) -> list[Memory]:
        where = Filter(scopes=(scope,), kinds=SPEAKING)
        hits = self._view.search_text(_telling(text), where, LOOKED_AT, fields=("text",))
        there = self._store.get([hit.id for hit in hits])
        return [there[hit.id] for hit in hits if hit.id in there]


def _telling(text: str) -> str:
    """The longest words of a text; the whole text where spaces do not separate words."""
    words = sorted(dict.fromkeys(text.split()), key=len, reverse=True)
    return text if len(words) < ASKED or not text.isascii() else " ".join(words[:ASKED])


def _surely_in(piece: str) -> list[str]:
    """The longest words that every memory with a piece has; the name of a speaker may be before its text, not in it."""
    said = piece.rpartition(": ")[2]
    return sorted(words(said), key=len, reverse=True)[:COMPARED] if said.isascii() else []


Gate = Callable[[Memory, GateContext], Verdict | None]
"""Decides about a memory; None lets it pass."""


def with_flag(memory: Memory, flag: str) -> Memory:
    """The memory with a flag."""
    worth = memory.worth
    return memory if flag in worth.flags else replace(memory, worth=replace(worth, flags=(*worth.flags, flag)))


def quieten(memory: Memory, flag: str) -> Memory:
    """The memory in the peripheral tier with half its importance: it is still found, but ranked lower."""
    marked = with_flag(memory, flag)
    worth = replace(marked.worth, importance=round(memory.worth.importance / 2, 4))
    return replace(marked, worth=worth, tier=Tier.PERIPHERAL)


def distrust(memory: Memory, flag: str) -> Memory:
    """The memory marked as untrusted, and not pinned."""
    marked = with_flag(memory, flag)
    tier = Tier.WORKING if memory.tier is Tier.PINNED else memory.tier
    return replace(marked, worth=replace(marked.worth, trust=0), tier=tier)


def pieces_in(memory: Memory, cut: Callable[[str], list[str]] = pieces_of) -> list[str]:
    """The sentences of a memory, as `pieces_of` finds them in a copy, with its speaker or without."""
    text = named(memory.text, memory.origin.speaker)
    pieces = cut(memory.text)
    return list(dict.fromkeys(pieces if text == memory.text else (*pieces, *pieces_of(text))))


def has_own_place(memory: Memory) -> bool:
    """Whether it has a key, a position or a time of its own: the same text elsewhere is another event."""
    origin, times = memory.origin, memory.times
    return origin.key is not None or origin.position is not None or times.valid_from != times.ingested_at

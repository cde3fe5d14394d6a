"""The policy of the gates, their verdicts, and the context in which they decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

from memorist.errors import InvalidInput
from memorist.model import Filter, Kind, Memory, Tier, new_or_changed
from memorist.ports import Store, View
from memorist.text.chatter import spoken as named
from memorist.text.gist import pieces_of
from memorist.text.sameness import canonical

CHOICES: Mapping[str, tuple[str, ...]] = {
    "secrets": ("mask", "refuse", "keep"),
    "duplicates": ("skip", "keep"),
    "loops": ("skip", "mark", "keep"),
    "noise": ("mark", "skip", "keep"),
    "instructions": ("mark", "refuse", "keep"),
}
"""The policies of each gate, the default first."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do with secrets, duplicates, loops, noise and instructions, and how long a text may be."""

    secrets: str = "mask"
    duplicates: str = "skip"
    loops: str = "skip"
    noise: str = "mark"
    instructions: str = "mark"
    longest_text: int = 0
    """The longest text in characters; 0 leaves only the store's own limit of 16 MiB."""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}", remedy=f"Choose one of {', '.join(choices)}.")
        if self.longest_text < 0:
            raise InvalidInput(
                f"longest_text is {self.longest_text}", remedy="Give a number of characters; 0 means no limit."
            )

    @classmethod
    def of(cls, settings: object) -> Policy:
        """The policy that is described by the settings of the same names."""
        names = {field.name for field in fields(cls)}
        given: dict[str, Any] = {name: getattr(settings, name) for name in names if hasattr(settings, name)}
        return cls(**given)


Decision = Literal["mask", "mark", "skip", "refuse"]
LOOKED_AT = 4
"""How many memories are looked at for a sentence."""
SPEAKING = tuple(kind for kind in Kind if kind is not Kind.SOURCE)
"""Kinds that a text may repeat: a source says again what its step says."""
ASKED = 4
"""How many words are searched for: a copy contains them all, and the longest are the rarest."""


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
        self._store = store
        self._said = defaultdict[tuple[str, str], list[Memory]](list)
        self._pieces: dict[tuple[str, str], str] = {}

    def passed(self, memory: Memory) -> None:
        """Note a memory of this batch, for the memories after it."""
        self._said[memory.scope, canonical(memory.text)].append(memory)
        for piece in pieces_in(memory):
            self._pieces.setdefault((memory.scope, piece), memory.id)

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

    def saying(self, memory: Memory) -> Iterator[Memory]:
        """The memories of its scope with the same text: first of this batch, then of the store."""
        yield from self._said[memory.scope, canonical(memory.text)]
        yield from (known for known in self._store.saying([memory.text]) if known.scope == memory.scope)

    def holding(self, piece: str, scope: str) -> Iterator[str]:
        """The ids of the memories of a scope that contain a piece of `pieces_of`."""
        if (scope, piece) in self._pieces:
            yield self._pieces[scope, piece]
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


Gate = Callable[[Memory, GateContext], Verdict | None]
"""Decides about a memory; None lets it pass."""


def flagged(memory: Memory, flag: str) -> Memory:
    """The memory with a flag."""
    worth = memory.worth
    return memory if flag in worth.flags else replace(memory, worth=replace(worth, flags=(*worth.flags, flag)))


def quietened(memory: Memory, flag: str) -> Memory:
    """The memory in the peripheral tier with half its importance: it is still found, but ranked lower."""
    marked = flagged(memory, flag)
    worth = replace(marked.worth, importance=round(memory.worth.importance / 2, 4))
    return replace(marked, worth=worth, tier=Tier.PERIPHERAL)


def distrusted(memory: Memory, flag: str) -> Memory:
    """The memory marked as untrusted, and not pinned."""
    marked = flagged(memory, flag)
    tier = Tier.WORKING if memory.tier is Tier.PINNED else memory.tier
    return replace(marked, worth=replace(marked.worth, trust=0), tier=tier)


def spoken(memory: Memory) -> str:
    """The text without the name of its speaker."""
    speaker, text = memory.origin.speaker, memory.text
    named = speaker is not None and text[: len(speaker) + 1].casefold() == f"{speaker}:".casefold()
    return text[len(speaker) + 1 :].strip() if named and speaker else text


def pieces_in(memory: Memory) -> list[str]:
    """The sentences of a memory, as `pieces_of` finds them in a copy, with its speaker or without."""
    return list(dict.fromkeys((*pieces_of(memory.text), *pieces_of(named(memory.text, memory.origin.speaker)))))


def has_own_place(memory: Memory) -> bool:
    """Whether it has a key, a position or a time of its own: the same text elsewhere is another event."""
    origin, times = memory.origin, memory.times
    return origin.key is not None or origin.position is not None or times.valid_from != times.ingested_at

"""What should not be in a text, or not be trusted: secrets, instructions, noise, and recalled context."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import blake2b

from memorist.model import Kind, Memory
from memorist.ports import Store
from memorist.remember.gates import Context, Policy
from memorist.remember.gates.instructions import instructions
from memorist.remember.gates.loop import FLAG as LOOP
from memorist.remember.gates.loop import form_of, is_loop, told
from memorist.remember.gates.noise import noise
from memorist.remember.gates.secrets import kinds_in
from memorist.text.copies import Copies, copies, pieces_of
from memorist.upkeep.audit.check import is_current
from memorist.upkeep.audit.fixes import Mark, Mask, Retire
from memorist.upkeep.audit.model import Finding

MOST_HOLDERS = 8
"""Memories remembered for one sentence; what more of them say is a phrase."""


class Texts:
    """What the gates for secrets, instructions and noise would have said."""

    kinds = ("secret", "instructions", "noise")

    def __init__(self, store: Store, now: datetime) -> None:
        self._now = now
        self._context = Context(Policy(), store)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """Secrets wherever they stand, history included; the rest in what is current."""
        for memory in page:
            if kinds := kinds_in(memory):
                yield Finding("secret", (memory.id,), f"holds {', '.join(kinds)}", "high", Mask(memory.id))
            if not is_current(memory, self._now):
                continue
            if (order := instructions(memory, self._context)) is not None:
                yield Finding("instructions", (memory.id,), order.reason, "high", Mark(memory.id, "instructions"))
            if (empty := noise(memory, self._context)) is not None:
                yield Finding("noise", (memory.id,), empty.reason, "low", Mark(memory.id, "noise"))

    def close(self) -> Iterable[Finding]:
        """Nothing more."""
        return ()


class Loops:
    """Recalled context that was kept as if it were new."""

    kinds = ("loop",)

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._where = defaultdict[str, list[str]](list)

    def see(self, page: Sequence[Memory]) -> Iterator[Finding]:
        """What repeats memories written before it."""
        for memory in page:
            if not is_current(memory, self._now) or memory.kind is not Kind.EPISODIC or LOOP in memory.worth.flags:
                continue
            pieces = pieces_of(memory.text)
            keys = [_key(memory.scope, piece) for piece in pieces]
            found = self._found(pieces, keys)
            reason = form_of(memory.text) or (told(found) if is_loop(found) else None)
            if reason is not None:
                yield Finding("loop", (memory.id, *found.sources), reason, "medium", Retire(memory.id))
                continue
            for key in keys:
                if len(self._where[key]) < MOST_HOLDERS:
                    self._where[key].append(memory.id)

    def close(self) -> Iterable[Finding]:
        """Nothing more."""
        return ()

    def _found(self, pieces: Sequence[str], keys: Sequence[str]) -> Copies:
        there = {piece: self._where[key] for piece, key in zip(pieces, keys, strict=True) if key in self._where}
        return copies(pieces, there)


def _key(scope: str, piece: str) -> str:
    return blake2b(f"{scope}\0{piece}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

"""Quotas: how many memories, and how much text, a space may hold."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from memorist.engine.engine import Engine
from memorist.errors import QuotaExceeded, Remedy, VerbCall


class Quota:
    """The most memories, in every version, and bytes of text in each space; 0 means no limit. Thread-safe.

    A space is counted when it is first written to. After that, only what changed is added: a revised memory counts
    twice then, and a forgotten one stays, so the sum is never too low. When it reaches a limit, the space is counted
    again before anything is refused. Whatever runs at the same time was admitted on the same count.
    """

    def __init__(self, memories: int, size: int) -> None:
        self._most = {"max_memories": memories, "max_bytes": size}
        self._known: WeakKeyDictionary[object, tuple[int, int, int]] = WeakKeyDictionary()

    def check(self, engine: Engine) -> None:
        """Refuse a write to a space that is full."""
        if not any(self._most.values()):
            return
        known = self._known.get(engine.store)
        if known is not None:
            known = self._grown(engine, known)
        if known is None or self._reached(known):
            known = self._grown(engine, (0, 0, 0))
        self._known[engine.store] = known
        if name := self._reached(known):
            raise QuotaExceeded(
                f"This space has reached its limit of {self._most[name]:,} {_MEANS[name]}",
                remedy=Remedy("Forget memories with ", VerbCall("forget"), f", or ask the operator to raise {name}."),
            )

    def _grown(self, engine: Engine, known: tuple[int, int, int]) -> tuple[int, int, int]:
        more = engine.store.held(known[0])
        if more.generation == known[0]:
            return known
        return more.generation, known[1] + more.memories, known[2] + more.bytes

    def _reached(self, known: tuple[int, int, int]) -> str | None:
        """The limit that is reached, if there is one."""
        held = dict(zip(self._most, known[1:], strict=True))
        return next((name for name, most in self._most.items() if most and held[name] >= most), None)


_MEANS = {"max_memories": "memories in all versions", "max_bytes": "bytes of text"}

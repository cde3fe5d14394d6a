"""Contradictions: two values where there can be one, and statements that deny each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from memorist.model import Kind, Memory
from memorist.remember.facts import one_valued
from memorist.remember.gates.verdict import spoken
from memorist.remember.truth import folded
from memorist.text.gist import denials
from memorist.text.sentences import sentences
from memorist.upkeep.audit.check import CONTENT, is_current
from memorist.upkeep.audit.fixes import Close, Mark
from memorist.upkeep.audit.model import Finding

FLAG = "contradicted"


@dataclass(frozen=True, slots=True)
class _Stated:
    """Who states something, since when; `alone` if it states nothing else."""

    id: str
    since: datetime
    value: str
    alone: bool


class Contradictions:
    """Finds current facts of one slot with different values, and what one speaker both says and denies."""

    kinds = ("contradiction",)

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._values = defaultdict[tuple[str, str, str], list[_Stated]](list)
        self._statements = defaultdict[bytes, list[_Stated]](list)

    def see(self, page: Sequence[Memory]) -> Iterable[Finding]:
        """Nothing yet."""
        for memory in page:
            if memory.kind in CONTENT and is_current(memory, self._now):
                self._add_value(memory)
                self._add_statements(memory)
        return ()

    def close(self) -> Iterator[Finding]:
        """A finding for each older statement that a newer one contradicts."""
        for (_, subject, relation), stated in self._values.items():
            yield from _superseded(stated, f"{subject} has another {relation.replace('_', ' ')} by now:")
        for stated in self._statements.values():
            yield from _superseded(stated, "is denied by")

    def _add_value(self, memory: Memory) -> None:
        fact = memory.fact
        if fact is not None and one_valued(fact.relation):
            slot = (memory.scope, folded(fact.subject), fact.relation)
            self._values[slot].append(_Stated(memory.id, memory.times.valid_from, folded(fact.object), True))

    def _add_statements(self, memory: Memory) -> None:
        if memory.fact is not None or memory.kind is Kind.NOTE or FLAG in memory.worth.flags:
            return
        said = spoken(memory)
        alone = len(sentences(said)) == 1
        for stems, denied in denials(said):
            key = repr((memory.scope, memory.origin.speaker, stems)).encode("utf-8", "surrogatepass")
            stated = _Stated(memory.id, memory.times.valid_from, "denied" if denied else "stated", alone)
            self._statements[blake2b(key, digest_size=12).digest()].append(stated)


def _superseded(stated: Sequence[_Stated], how: str) -> Iterator[Finding]:
    """What the newest contradicts; of a kind with it, nothing."""
    newest = max(stated, key=lambda one: (one.since, one.id))
    for one in stated:
        if one.value != newest.value and one.id != newest.id:
            fix = Close(one.id, newest.since, newest.id) if one.alone else Mark(one.id, FLAG)
            yield Finding("contradiction", (one.id, newest.id), f"{how} {newest.id}", "high", fix)

"""Explain a place in a ranking, read off the trace that the runner wrote."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.errors import NotFound
from memorist.model import Candidate, Recall, Step


@dataclass(frozen=True, slots=True)
class Explanation:
    """A number, what it is, and the numbers it was made of."""

    description: str
    value: float | None = None
    details: tuple[Explanation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self, depth: int = 0) -> list[str]:
        value = "" if self.value is None else f"{self.value:.6g}  "
        own = f"{'  ' * depth}{value}{self.description}"
        return [own, *(line for detail in self.details for line in detail._lines(depth + 1))]


def explain(recall: Recall, id: str) -> Explanation:
    """How an item of a recall got its score and its place."""
    item = next((item for item in recall.items if item.memory.id == id), None)
    if item is None:
        raise NotFound(f"Memory {id!r} is not in this recall", remedy="Ask why_not(query, id) why it was left out.")
    signals = Explanation(
        "found by",
        details=tuple(
            Explanation(f"from {name}: {_ranked(one.rank)}, score {one.score:.4g}", one.norm)
            for name, one in item.signals.items()
        ),
    )
    silent = [f"{name} ({found.skipped})" for name, found in recall.trace.found.items() if found.skipped]
    unheard = (Explanation(f"did not look: {', '.join(silent)}"),) if silent else ()
    return Explanation(
        f"rank {item.rank} of {len(recall.items)} by recipe {recall.recipe!r}: {item.memory.text[:80]!r}",
        item.score,
        (signals, *unheard, *_effects(recall.trace.steps, id)),
    )


def _ranked(rank: int | None) -> str:
    return "computed for it" if rank is None else f"rank {rank}"


def _effects(steps: tuple[Step, ...], id: str) -> tuple[Explanation, ...]:
    effects: list[Explanation] = []
    before: tuple[int, Candidate] | None = None
    for step in steps:
        now = _place(step, id)
        if now is not None and now != before:
            effects.append(_effect(step, before, now))
            before = now
    return tuple(effects)


def _place(step: Step, id: str) -> tuple[int, Candidate] | None:
    return next(((rank, one) for rank, one in enumerate(step.candidates, 1) if one.memory.id == id), None)


def _effect(step: Step, before: tuple[int, Candidate] | None, now: tuple[int, Candidate]) -> Explanation:
    rank, candidate = now
    moved = f"rank {rank}" if before is None or before[0] == rank else f"rank {before[0]} → {rank}"
    rescored = before is None or before[1].parts is not candidate.parts
    parts = candidate.parts.items() if rescored else ()
    return Explanation(
        f"{step.stage}: {moved} of {len(step.candidates)}",
        candidate.score,
        tuple(Explanation(name, value) for name, value in parts),
    )

"""A recall as pictures: what each stage did, and how the items rose and fell through the stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from memorist.model import Item, Recall, Step

WIDTH, NARROWEST, WIDEST = 600, 64, 130
"""Pixels from the first stage to the last, if the columns are then neither too narrow nor too wide."""
ROW, TOP, MARGIN, LABEL = 24, 76, 24, 320
"""Pixels between two ranks, above the first rank, before the first stage, and for the texts after the last one."""
MOST_LINES = 12
LOWER = 2
"""Rows below the last item, where those are drawn that had a lower rank."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What a stage did: its time, the candidates before and after it, and the share of the most there ever were."""

    stage: str
    signal: bool
    ms: float
    before: int
    after: int
    share: float
    changed: bool
    skipped: str | None
    notes: tuple[str, ...]


def funnel(recall: Recall) -> list[Passage]:
    """Each stage of a recall, in the order they ran; signals follow the stage that ran them."""
    steps = recall.trace.steps
    most = max((step.after for step in steps), default=0) or 1
    changed = {id(step) for step in _changing(steps)}
    return [
        Passage(
            step.signal or step.stage,
            step.signal is not None,
            step.ms,
            step.before,
            step.after,
            step.after / most,
            id(step) in changed or step.before != step.after,
            step.skipped,
            step.notes,
        )
        for step in steps
    ]


@dataclass(frozen=True, slots=True)
class StageRank:
    """Where an item stood after a stage, and where that is drawn."""

    rank: int
    score: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Path:
    """The way of one item; None where it was no candidate yet."""

    item: Item
    places: tuple[StageRank | None, ...]

    @property
    def points(self) -> str:
        """The line through its places, as SVG writes it."""
        return " ".join(f"{place.x:g},{place.y:g}" for place in self.places if place is not None)

    @property
    def last(self) -> StageRank | None:
        """Where it ends."""
        return next((place for place in reversed(self.places) if place is not None), None)


@dataclass(frozen=True, slots=True)
class Slope:
    """The items of an answer through the stages that moved any candidate."""

    stages: tuple[tuple[str, float], ...]
    paths: tuple[Path, ...]
    width: int
    height: int


def slope(recall: Recall) -> Slope | None:
    """The ways of the best items; None if there are no items, or no stage that ranked them."""
    items = recall.items[:MOST_LINES]
    steps = _changing(recall.trace.steps)
    if not items or not steps:
        return None
    lowest = len(items) + LOWER
    wide = min(WIDEST, max(NARROWEST, WIDTH // max(1, len(steps) - 1)))
    ranks = [{one.memory.id: (rank, one.score) for rank, one in enumerate(step.candidates, 1)} for step in steps]

    def place(column: int, item: Item) -> StageRank | None:
        found = ranks[column].get(item.memory.id)
        if found is None:
            return None
        x, y = MARGIN + column * wide, TOP + (min(found[0], lowest) - 1) * ROW
        return StageRank(found[0], found[1], x, y)

    paths = tuple(Path(item, tuple(place(column, item) for column in range(len(steps)))) for item in items)
    stages = tuple((step.stage, MARGIN + column * wide) for column, step in enumerate(steps))
    return Slope(stages, paths, MARGIN + (len(steps) - 1) * wide + LABEL, TOP + (lowest - 1) * ROW + ROW // 2)


def _changing(steps: Sequence[Step]) -> list[Step]:
    """The steps after which the candidates, their order or their scores are not those from before."""
    ranked = [step for step in steps if step.candidates]
    first = ranked[:1]
    return first + [step for before, step in pairwise(ranked) if _standing(before) != _standing(step)]


def _standing(step: Step) -> list[tuple[str, float]]:
    return [(candidate.memory.id, candidate.score) for candidate in step.candidates]


@dataclass(frozen=True, slots=True)
class RankChange:
    """The stage that brought an item to the rank it kept, and its rank before; None if it had no other."""

    stage: str
    before: int | None
    after: int


def turn(recall: Recall, id: str) -> RankChange | None:
    """The last stage that changed the rank of an item, or else the one that ranked it first."""
    found: RankChange | None = None
    for step in recall.trace.steps:
        rank = next((rank for rank, one in enumerate(step.candidates, 1) if one.memory.id == id), None)
        if rank is not None and (found is None or rank != found.after):
            found = RankChange(step.stage, None if found is None else found.after, rank)
    return found


def moves(items: Sequence[Item], others: Sequence[Item]) -> dict[str, int | None]:
    """How many ranks each item stands higher than in another answer; None if it is not there."""
    ranks = {item.memory.id: item.rank for item in others}
    return {item.memory.id: ranks[item.memory.id] - item.rank if item.memory.id in ranks else None for item in items}

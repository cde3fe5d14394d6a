"""Blocks of training lists, made by worker processes ahead of the device that learns from them."""

from __future__ import annotations

import multiprocessing
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from corpus import Source
from everyday import EverydayMaker
from lists import Dress, Listed, ListMaker, Pools
from numpy.typing import NDArray
from render import NAMES
from tokenizers import Tokenizer
from tokens import QUERY_TOKENS, Ragged, joined, singles, tokenise
from worlds import WorldMaker

SHARES: Mapping[str, float] = {
    "wiki": 0.8,
    "wiki_p": 0.5,
    "squad": 0.8,
    "nqg": 0.6,
    "policy": 0.2,
    "policy2": 0.2,
    "timeqa": 2.0,
    "friends": 3.0,
    "molweni": 0.7,
    "qmsum": 2.5,
    "cloze": 0.8,
}
"""How often an epoch asks each question of a source; once where nothing is said."""

EVERYDAY, WORLDS = -1, -2  # the places of lists that come from no source


@dataclass(frozen=True, slots=True)
class Block:
    """Lists that are learnt from together; `same` numbers lists with the same positives alike.

    `truth` says of each text what it is to its question.
    """

    queries: Ragged
    texts: Ragged
    pairs: Ragged | None
    width: int
    same: NDArray[np.int64]
    truth: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an epoch consists of."""

    block: int = 512
    negatives: int = 7
    pairs: bool = False
    workers: int = 0
    dress: Dress = field(default_factory=Dress)
    shares: Mapping[str, float] = field(default_factory=lambda: SHARES)
    turns: int = 3_000  # turns as queries an epoch takes of one source
    everyday: int = 0  # lists an epoch takes of our own patterns
    worlds: int = 0  # times it asks each question of our own worlds
    most_blocks: int | None = None


class Feed:
    """Blocks of several epochs, in an order that depends on the seed alone."""

    def __init__(
        self, sources: Sequence[Source], pools: Sequence[Sequence[Pools]], tokenizer: Tokenizer, plan: Plan
    ) -> None:
        self._sources = sources
        self._plan = plan
        self._tokenizer = tokenizer
        self._makers = [
            ListMaker(source, pool, plan.dress, plan.negatives) for source, pool in zip(sources, pools, strict=True)
        ]
        self._everyday = EverydayMaker(plan.negatives)
        self._worlds = WorldMaker(plan.negatives)

    @property
    def lists(self) -> int:
        """Lists in a block."""
        return self._plan.block

    def blocks(self, epochs: int, seed: int) -> int:
        """How many blocks there will be."""
        return len(self._tasks(epochs, seed))

    def __call__(self, epochs: int, seed: int) -> Iterator[Block]:
        tasks = self._tasks(epochs, seed)
        if not self._plan.workers:
            yield from map(self.make, tasks)
            return
        context = multiprocessing.get_context("fork")  # workers read the sources where they lie
        with context.Pool(self._plan.workers, _remember, (self,)) as pool:
            yield from pool.imap(_make, tasks, chunksize=1)

    def _tasks(self, epochs: int, seed: int) -> list[tuple[list[tuple[int, int]], float]]:
        draw = random.Random(seed)
        tasks: list[tuple[list[tuple[int, int]], float]] = []
        for _ in range(epochs):
            items = [(place, number) for place in range(len(self._sources)) for number in self._epoch_of(place, draw)]
            items += [(EVERYDAY, number) for number in range(self._plan.everyday)]
            if self._plan.worlds:
                items += [(WORLDS, number) for number in range(len(self._worlds.questions))] * self._plan.worlds
            draw.shuffle(items)
            size = min(self._plan.block, len(items))
            epoch = [(items[start : start + size], draw.random()) for start in range(0, len(items) - size + 1, size)]
            tasks += epoch[: self._plan.most_blocks]
        return tasks

    def _epoch_of(self, place: int, draw: random.Random) -> list[int]:
        source = self._sources[place]
        share = self._plan.shares.get(source.name, 1.0)
        asked = [number for number, question in enumerate(source.questions) if question.form != "turn"]
        turns = [number for number, question in enumerate(source.questions) if question.form == "turn"]
        rest = draw.sample(asked, int(len(asked) * (share % 1)))
        return asked * int(share) + rest + draw.sample(turns, min(len(turns), int(self._plan.turns * min(share, 1))))

    def make(self, task: tuple[Sequence[tuple[int, int]], float]) -> Block:
        items, seed = task
        draw = random.Random(seed)
        cast = draw.sample(NAMES, 3)  # few names in a block, so that a name alone finds nothing
        lists = [self._make_list(source, place, cast, draw) for source, place in items]
        queries = tokenise(self._tokenizer, [values.query for values in lists])
        texts = tokenise(self._tokenizer, [text for values in lists for text in values.texts])
        width = self._plan.negatives + 1
        pairs = joined([query for query in queries for _ in range(width)], texts) if self._plan.pairs else None
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        same = [numbers.setdefault((s, self._positives(s, q)), len(numbers)) for s, q in items]
        truth = np.array([values.truth for values in lists], dtype=np.int8)
        return Block(
            singles(queries, QUERY_TOKENS), singles(texts), pairs, width, np.array(same, dtype=np.int64), truth
        )

    def _make_list(self, source: int, place: int, cast: Sequence[str], draw: random.Random) -> Listed:
        if source == EVERYDAY:
            return self._everyday.make(draw)
        if source == WORLDS:
            return self._worlds.make(place, draw)
        return self._makers[source].make(place, draw.sample(cast, 3), draw)

    def _positives(self, source: int, place: int) -> tuple[int, ...]:
        """What no other list may take for wrong: its answers, or all of its world."""
        if source == WORLDS:
            return (self._worlds.world_of(place),)
        return (place,) if source == EVERYDAY else self._sources[source].questions[place].positives


_inherited: list[Feed] = []  # what a forked worker makes blocks of


def _remember(feed: Feed) -> None:
    _inherited[:] = [feed]
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def _make(task: tuple[Sequence[tuple[int, int]], float]) -> Block:
    return _inherited[0].make(task)

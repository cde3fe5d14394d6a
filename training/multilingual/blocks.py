"""Blocks of lists in several languages, made by worker processes.

Words of a question or of its texts are exchanged for those of a dictionary (Qin et al. 2020), so that a question in one
language must find a text in another.
"""

from __future__ import annotations

import multiprocessing
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from corpus import Source
from everyday import EverydayMaker
from feed import SHARES
from lists import ANSWER, Dress, Listed, ListMaker, Pools
from numpy.typing import NDArray
from render import NAMES
from switch import Switch

Row = NDArray[np.int32]
Task = tuple[list[tuple[int, int]], float]
QUERY, TEXT = 64, 160  # tokens at most
TURNS = 3_000  # turns as queries that an epoch takes of one source
EVERYDAY = -1  # the place of lists that come from no source
AHEAD = 3  # blocks that wait for each worker


@dataclass(frozen=True, slots=True)
class Block:
    """Lists that are learnt from together; `same` numbers lists with the same positives alike."""

    queries: list[Row]
    texts: list[Row]
    same: NDArray[np.int64]


@dataclass(slots=True)
class Blocks:
    """Blocks without end, in an order that depends on the seed alone."""

    sources: Sequence[Source]
    pools: Sequence[Sequence[Pools]]
    encode: Callable[[Sequence[str], int], list[Row]]
    switch: Switch
    size: int = 512
    negatives: int = 4
    everyday: int = 6_000
    workers: int = 0
    _makers: list[ListMaker] = field(default_factory=list[ListMaker])
    _own: EverydayMaker | None = None

    def __post_init__(self) -> None:
        dress = Dress(near=1, dense=2, lexical=1)
        self._own = EverydayMaker(self.negatives)
        pairs = zip(self.sources, self.pools, strict=True)
        self._makers = [ListMaker(source, pools, dress, self.negatives) for source, pools in pairs]

    def __call__(self, seed: int) -> Iterator[Block]:
        if not self.workers:
            yield from map(self.make, self._tasks(seed))
            return
        _inherited[:] = [self]
        tasks = self._tasks(seed)
        with multiprocessing.get_context("fork").Pool(self.workers) as pool:
            waiting = [pool.apply_async(_make, (next(tasks),)) for _ in range(AHEAD * self.workers)]
            while True:
                yield waiting.pop(0).get()
                waiting.append(pool.apply_async(_make, (next(tasks),)))

    def _tasks(self, seed: int) -> Iterator[Task]:
        draw = random.Random(seed)
        while True:
            items = [(place, number) for place in range(len(self.sources)) for number in self._epoch_of(place, draw)]
            items += [(EVERYDAY, number) for number in range(self.everyday)]
            draw.shuffle(items)
            for start in range(0, len(items) - self.size + 1, self.size):
                yield items[start : start + self.size], draw.random()

    def _epoch_of(self, place: int, draw: random.Random) -> list[int]:
        source = self.sources[place]
        share = SHARES.get(source.name, 1.0)
        asked = [number for number, question in enumerate(source.questions) if question.form != "turn"]
        turns = [number for number, question in enumerate(source.questions) if question.form == "turn"]
        rest = draw.sample(asked, int(len(asked) * (share % 1)))
        return asked * int(share) + rest + draw.sample(turns, min(len(turns), int(TURNS * min(share, 1))))

    def make(self, task: Task) -> Block:
        items, seed = task
        draw = random.Random(seed)
        cast = draw.sample(NAMES, 3)  # few names in a block, so that a name alone finds nothing
        numbers: dict[object, int] = {}
        queries, texts, same = list[str](), list[str](), list[int]()
        for source, place in items:
            listed = self._listed(source, place, cast, draw)
            key = (
                (EVERYDAY, len(same))
                if source == EVERYDAY
                else (source, self.sources[source].questions[place].positives)
            )
            same.append(numbers.setdefault(key, len(numbers)))
            query, told = self._spoken(listed, draw)
            queries.append(query)
            texts += told
        return Block(self.encode(queries, QUERY), self.encode(texts, TEXT), np.array(same, dtype=np.int64))

    def _listed(self, source: int, place: int, cast: Sequence[str], draw: random.Random) -> Listed:
        if source != EVERYDAY:
            return self._makers[source].make(place, draw.sample(cast, 3), draw)
        assert self._own is not None
        while (listed := self._own.make(draw)).truth[0] != ANSWER:
            pass
        return listed

    def _spoken(self, listed: Listed, draw: random.Random) -> tuple[str, Sequence[str]]:
        """Nearly half stay English; of the others the question, the texts or both are in other languages."""
        chance, one, other = draw.random(), *draw.choices(self.switch.languages, k=2)
        if chance < 0.45:
            return listed.query, listed.texts
        if chance < 0.70:
            return self.switch(listed.query, one, draw.choice((0.6, 1.0)), draw), listed.texts
        if chance < 0.85:
            share = draw.choice((0.6, 1.0))
            return listed.query, [self.switch(text, one, share, draw) for text in listed.texts]
        other = one if chance < 0.95 else other
        texts = [self.switch(text, one, 0.9, draw) for text in listed.texts]
        return self.switch(listed.query, other, 1.0, draw), texts


_inherited: list[Blocks] = []  # what a forked worker makes blocks of


def _make(task: Task) -> Block:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return _inherited[0].make(task)

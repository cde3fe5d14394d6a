"""Merge what was learnt twice: near in meaning, and the same in every number, name and negation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memorist.model import Kind, Link, Memory, Usage
from memorist.remember.extract import entities
from memorist.remember.sessions.links import MEMBERSHIP, PROVENANCE
from memorist.remember.usages import joined
from memorist.text.fold import fold
from memorist.text.gist import gist, marks
from memorist.upkeep.tidy.desk import Desk, with_flag

if TYPE_CHECKING:
    from memorist.ports import Vector

BLOCK = 512
"""Vectors that are compared with the others at once."""
MERGED = "merged"
"""The flag of a node that another one stands for."""


def merge(desk: Desk) -> None:
    """Let the better one of two near-identical propositions stand for both, with the recalls and rewards of both."""
    nodes = sorted(desk.alive(Kind.SEMANTIC), key=_better)
    vectors = desk.store.vectors([node.id for node in nodes])
    for scope in dict.fromkeys(node.scope for node in nodes):
        there = [node for node in nodes if node.scope == scope and "text" in vectors.get(node.id, {})]
        _merge(there, [vectors[node.id]["text"] for node in there], desk)


def same_statement(one: str, other: str) -> bool:
    """Whether no number, date, negation, tense or name tells two texts apart."""
    return marks(one) == marks(other) and _names(one) == _names(other)


def _merge(nodes: Sequence[Memory], rows: Sequence[Vector], desk: Desk) -> None:
    gone: set[int] = set()
    for at, other, cosine in _near(rows, desk.rules.merge_above):
        if at not in gone and other not in gone and same_statement(nodes[at].text, nodes[other].text):
            gone.add(other)
            _absorb(nodes[at].id, nodes[other].id, cosine, desk)


def _near(rows: Sequence[Vector], above: float) -> Iterator[tuple[int, int, float]]:
    """Pairs of places whose vectors have a larger cosine than this, in order; the first of a pair comes first."""
    import numpy as np

    if not rows:
        return
    matrix = np.stack(rows)
    for start in range(0, len(rows), BLOCK):
        cosines = matrix[start : start + BLOCK] @ matrix[start:].T
        for row, column in np.argwhere(np.triu(cosines, 1) > above).tolist():
            yield start + row, start + column, float(cosines[row, column])


def _absorb(survivor: str, loser: str, cosine: float, desk: Desk) -> None:
    better, worse = desk.learnt[survivor], desk.learnt[loser]
    times = replace(worse.times, retracted_at=desk.now)
    retired = with_flag(replace(worse, times=times, superseded_by=survivor), MERGED)
    both = replace(better, usage=joined(better.usage or Usage(), worse.usage or Usage()))
    links = [
        Link(survivor, link.relation, link.target, link.weight) for link in desk.links(loser, PROVENANCE, MEMBERSHIP)
    ]
    desk.change("merge", f"says the same as {survivor} (cosine {cosine:.2f})", retired, both, links=links)


def _better(memory: Memory) -> tuple[float, float, int, str]:
    """The better rewarded, the surer, the more recalled comes first; ties by id."""
    usage = memory.usage or Usage()
    reward = 0.5 if usage.mean_reward is None else usage.mean_reward
    return -reward, -memory.worth.confidence, -usage.recalls, memory.id


def _names(text: str) -> frozenset[str]:
    return gist(text).names | {fold(one.text) for one in entities(text)}

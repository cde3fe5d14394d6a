"""The rules of tidying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memorist.model import Kind, Link, Memory, Tier, Usage
from memorist.recall.factors import Weibull, age_hours
from memorist.recall.nodes import PARAMS, default_value
from memorist.remember.extract import entities
from memorist.remember.fact_updates import joined
from memorist.remember.sessions.run import MEMBERSHIP, PROVENANCE
from memorist.text.gist import gist, marks
from memorist.text.words import fold
from memorist.upkeep.tidy.desk import Desk, ended, with_flag

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


DECAYED, ORPHANED, UNGROUNDED = "decayed", "orphaned", "ungrounded"
"""Flags of what tidying ended, and of what has lost some of its reward: that happens once."""


def expire(desk: Desk) -> None:
    """Close what has passed its own `expires_at`; the only rule that touches what was said."""
    for memory in list(desk.expiring.values()):
        at = memory.times.expires_at
        if at is not None:
            desk.change("expire", f"expired on {at.date()}", ended(memory, at, desk.now))


def revive(desk: Desk) -> None:
    """Bring back what decayed and was learnt again since, and labels that lead to something again."""
    for memory in list(desk.learnt.values()):
        if DECAYED in memory.worth.flags and _learnt_again(memory, desk):
            desk.change("revive", "was learnt again after it had decayed", _revived(memory, DECAYED))
    leading = desk.leading()
    for label in list(desk.labels.values()):
        if ORPHANED in label.worth.flags and label.id in leading:
            desk.change("revive", "leads to something again", _revived(label, ORPHANED))


def ground(desk: Desk) -> None:
    """Lower the reward of nodes that rest on nothing (−0.3), or on nothing like them (−0.1); not below 0."""
    for memory in desk.alive():
        usage = memory.usage
        if usage is None or usage.mean_reward is None or UNGROUNDED in memory.worth.flags:
            continue
        lost = _ungrounded(memory, desk)
        if lost is not None:
            by, reason = lost
            total = max(0.0, usage.mean_reward - by) * usage.reward_count
            lowered = replace(memory, usage=replace(usage, reward_total=total))
            desk.change("ground", reason, with_flag(lowered, UNGROUNDED))


def decay(desk: Desk) -> None:
    """End nodes whose recency · frequency · reward is below 0.1: recently enough and often enough used ones stay."""
    for memory in desk.alive():
        if memory.usage is None:
            continue
        params = {**PARAMS[str(memory.kind)], "hours": age_hours(memory, desk.now, "access")}
        value = default_value(1.0, memory, memory.usage, params)
        if value < desk.rules.decay_below:
            reason = f"is worth {value:.3f}, below {desk.rules.decay_below:g}"
            desk.change("decay", reason, ended(memory, desk.now, desk.now, DECAYED))


def move_tiers(desk: Desk) -> None:
    """Move nodes one tier up or down, by how often they were recalled and by mnemo's composite."""
    for memory in desk.alive():
        composite = Weibull().composite(memory, desk.now)
        tier = _tier(memory, composite, desk)
        if tier is not memory.tier:
            recalls = memory.usage.recalls if memory.usage else 0
            reason = f"{memory.tier} → {tier}: {recalls} recalls, composite {composite:.2f}"
            desk.change("tier", reason, replace(memory, tier=tier))


def drop_orphans(desk: Desk) -> None:
    """End tags and intents that lead to nothing that is left."""
    leading = desk.leading()
    for label in list(desk.labels.values()):
        if desk.is_alive(label) and label.id not in leading:
            reason = f"the {label.kind} leads to nothing that is left"
            desk.change("orphan", reason, ended(label, desk.now, desk.now, ORPHANED))


def _tier(memory: Memory, composite: float, desk: Desk) -> Tier:
    """peripheral→working ≥ 3 recalls and 0.4; working→core ≥ 10, 0.7 and importance 0.8; down below 0.15, or idle."""
    recalls = memory.usage.recalls if memory.usage else 0
    if memory.tier is Tier.PERIPHERAL:
        return Tier.WORKING if recalls >= 3 and composite >= 0.4 else memory.tier
    if memory.tier is Tier.CORE:
        return Tier.WORKING if recalls < 3 and composite < 0.15 else memory.tier
    if recalls >= 10 and composite >= 0.7 and memory.worth.importance >= 0.8:
        return Tier.CORE
    idle = recalls < 3 and age_hours(memory, desk.now, "access") >= 24 * desk.rules.idle_days
    return Tier.PERIPHERAL if idle or composite < 0.15 else memory.tier


def _learnt_again(memory: Memory, desk: Desk) -> bool:
    ended_at = memory.times.expired_at
    sources = desk.store.get(desk.sources(memory.id)).values()
    return ended_at is not None and any(source.times.ingested_at > ended_at for source in sources)


def _revived(memory: Memory, flag: str) -> Memory:
    worth = replace(memory.worth, flags=tuple(one for one in memory.worth.flags if one != flag))
    return replace(memory, worth=worth, times=replace(memory.times, valid_to=None, expired_at=None))


def _ungrounded(memory: Memory, desk: Desk) -> tuple[float, str] | None:
    """How much a node's reward is to be lowered, and why."""
    sources = desk.sources(memory.id)
    if not sources:
        return desk.rules.no_source, "rests on no source"
    best = _best_cosine(memory.id, sources, desk)
    if best is None or best >= desk.rules.far_below:
        return None
    return desk.rules.far_source, f"has a cosine of {best:.2f} with its best source"


def _best_cosine(id: str, sources: Sequence[str], desk: Desk) -> float | None:
    vectors = desk.store.vectors([id, *sources])
    own: Vector | None = vectors.get(id, {}).get("text")
    others = [views["text"] for other, views in vectors.items() if other != id and "text" in views]
    return None if own is None or not others else max(float(own @ other) for other in others)

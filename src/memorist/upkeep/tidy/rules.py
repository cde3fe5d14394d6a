"""The rules of tidying, and the run that applies them in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from memorist.model import MEMBERSHIP, PROVENANCE, Kind, Link, Memory, Tier, Usage
from memorist.ports import Store
from memorist.recall.factors import Weibull, age_hours
from memorist.recall.nodes import PARAMS, default_value
from memorist.remember.gates.verdict import with_flag
from memorist.remember.journal import join_usage
from memorist.results.upkeep import Tidying
from memorist.text.sameness import canonical
from memorist.upkeep.change import apply_changes, end_memory, retract_memory
from memorist.upkeep.tidy.plan import TidyPlan, tier_for

if TYPE_CHECKING:
    from memorist.ports import Vector


DECAY_BELOW = 0.1
"""The value of nodes that decay, as in mnemosyne-graph."""
NO_SOURCE, FAR_SOURCE, FAR_BELOW = 0.3, 0.1, 0.3
"""The reward that a node without a source loses, and one whose best source has a cosine below `FAR_BELOW`."""
MERGED = "merged"
"""The flag of a node that was merged into another one."""


def merge(plan: TidyPlan) -> None:
    """Merge propositions with the same text: the better one survives, with the recalls and rewards of both."""
    survivors: dict[tuple[str, str], str] = {}
    for node in sorted(plan.alive(Kind.SEMANTIC), key=_better):
        survivor = survivors.setdefault((node.scope, canonical(node.text)), node.id)
        if survivor != node.id:
            _absorb(survivor, node.id, plan)


def _absorb(survivor: str, loser: str, plan: TidyPlan) -> None:
    better, worse = plan.learnt[survivor], plan.learnt[loser]
    retired = with_flag(retract_memory(worse, plan.now, survivor), MERGED)
    both = replace(better, usage=join_usage(better.usage or Usage(), worse.usage or Usage()))
    links = [
        Link(survivor, link.relation, link.target, link.weight) for link in plan.links(loser, PROVENANCE, MEMBERSHIP)
    ]
    plan.change("merge", f"says the same as {survivor}", retired, both, links=links)


def _better(memory: Memory) -> tuple[float, float, int, str]:
    """Sorts by reward, then confidence, then recalls, highest first; ties by id."""
    usage = memory.usage or Usage()
    reward = 0.5 if usage.mean_reward is None else usage.mean_reward
    return -reward, -memory.worth.confidence, -usage.recalls, memory.id


DECAYED, ORPHANED, UNGROUNDED = "decayed", "orphaned", "ungrounded"
"""Flags of nodes that tidying ended, and of those that lost part of their reward, which happens only once."""


def expire(plan: TidyPlan) -> None:
    """End memories that are past their own `expires_at`, verbatim ones too."""
    for memory in list(plan.expiring.values()):
        at = memory.times.expires_at
        if at is not None:
            plan.change("expire", f"expired on {at.date()}", end_memory(memory, at, plan.now))


def revive(plan: TidyPlan) -> None:
    """Bring back nodes that decayed and were learnt again since, and labels that are in use again."""
    for memory in list(plan.learnt.values()):
        if DECAYED in memory.worth.flags and _learnt_again(memory, plan):
            plan.change("revive", "was learnt again after it had decayed", _revived(memory, DECAYED))
    used = plan.used_labels()
    for label in list(plan.labels.values()):
        if ORPHANED in label.worth.flags and label.id in used:
            plan.change("revive", "is in use again", _revived(label, ORPHANED))


def ground(plan: TidyPlan) -> None:
    """Lower the reward of nodes without a source (by 0.3) or with only dissimilar sources (by 0.1); not below 0."""
    for memory in plan.alive():
        usage = memory.usage
        if usage is None or usage.mean_reward is None or UNGROUNDED in memory.worth.flags:
            continue
        lost = _ungrounded(memory, plan)
        if lost is not None:
            by, reason = lost
            total = max(0.0, usage.mean_reward - by) * usage.reward_count
            lowered = replace(memory, usage=replace(usage, reward_total=total))
            plan.change("ground", reason, with_flag(lowered, UNGROUNDED))


def decay(plan: TidyPlan) -> None:
    """End nodes whose recency · frequency · reward is below 0.1; nodes in frequent or recent use stay."""
    for memory in plan.alive():
        if memory.usage is None or memory.tier is Tier.PINNED:
            continue
        params = {**PARAMS[str(memory.kind)], "hours": age_hours(memory, plan.now, "access")}
        value = default_value(1.0, memory, memory.usage, params)
        if value < DECAY_BELOW:
            reason = f"is worth {value:.3f}, below {DECAY_BELOW:g}"
            plan.change("decay", reason, with_flag(end_memory(memory, plan.now, plan.now), DECAYED))


def move_tiers(plan: TidyPlan) -> None:
    """Move nodes and remembered texts one tier up or down, by their number of recalls and mnemo's composite score."""
    remembered = [row for row in plan.moving.values() if plan.is_alive(row)]
    for memory in (*plan.alive(), *remembered):
        tier = tier_for(memory, plan.now)
        if tier is not memory.tier:
            recalls, composite = (memory.usage or Usage()).recalls, Weibull().composite(memory, plan.now)
            reason = f"{memory.tier} → {tier}: {recalls} recalls, composite {composite:.2f}"
            plan.change("tier", reason, replace(memory, tier=tier))


def drop_orphans(plan: TidyPlan) -> None:
    """End tags and intents that no living node uses."""
    used = plan.used_labels()
    for label in list(plan.labels.values()):
        if plan.is_alive(label) and label.id not in used:
            reason = f"the {label.kind} is no longer used"
            plan.change("orphan", reason, with_flag(end_memory(label, plan.now, plan.now), ORPHANED))


def _learnt_again(memory: Memory, plan: TidyPlan) -> bool:
    ended_at = memory.times.expired_at
    sources = plan.store.get(plan.sources(memory.id)).values()
    return ended_at is not None and any(source.times.ingested_at > ended_at for source in sources)


def _revived(memory: Memory, flag: str) -> Memory:
    worth = replace(memory.worth, flags=tuple(other for other in memory.worth.flags if other != flag))
    return replace(memory, worth=worth, times=replace(memory.times, valid_to=None, expired_at=None))


def _ungrounded(memory: Memory, plan: TidyPlan) -> tuple[float, str] | None:
    """By how much to lower the reward of a node, and why; None if it is grounded."""
    sources = plan.sources(memory.id)
    if not sources:
        return NO_SOURCE, "has no source"
    best = _best_cosine(memory.id, sources, plan)
    if best is None or best >= FAR_BELOW:
        return None
    return FAR_SOURCE, f"has a cosine of {best:.2f} with its best source"


def _best_cosine(id: str, sources: Sequence[str], plan: TidyPlan) -> float | None:
    vectors = plan.store.vectors([id, *sources])
    own: Vector | None = vectors.get(id, {}).get("text")
    others = [views["text"] for other, views in vectors.items() if other != id and "text" in views]
    return None if own is None or not others else max(float(own @ other) for other in others)


VERB = "tidy"
"""The verb of the journal entries."""
IN_ORDER = (expire, revive, merge, ground, decay, move_tiers, drop_orphans)
"""Each rule sees the changes of the rules before it."""


def tidy(store: Store, now: datetime, *, dry_run: bool = True, run: str | None = None) -> Tidying:
    """Plan what to tidy and, unless it is a dry run, apply it. Memories that changed meanwhile are left alone."""
    plan = TidyPlan(store, now)
    for rule in IN_ORDER:
        rule(plan)
    if dry_run or not plan.changes:
        return Tidying(now, tuple(plan.changes))
    return Tidying(now, *apply_changes(store, plan.changes, VERB, now, run))

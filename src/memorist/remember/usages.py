"""How two memories that become one were used, and how that is told apart again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memorist.model import Usage, instant, isoformat
from memorist.model.memory import RECALL_TIMES_KEPT


def joined(one: Usage, other: Usage) -> Usage:
    """The recalls and rewards of both."""
    return Usage(
        recalls=one.recalls + other.recalls,
        last_recall=max(filter(None, (one.last_recall, other.last_recall)), default=None),
        recall_times=tuple(sorted((*one.recall_times, *other.recall_times))[-RECALL_TIMES_KEPT:]),
        reward_count=one.reward_count + other.reward_count,
        reward_total=one.reward_total + other.reward_total,
    )


def taken_back(now: Usage, before: Usage, after: Usage) -> Usage:
    """A usage without what a change made of it; what was counted since then stays."""
    if now == after:
        return before
    since = tuple(time for time in now.recall_times if time not in after.recall_times)
    return Usage(
        recalls=max(0, now.recalls - after.recalls + before.recalls),
        last_recall=before.last_recall if now.last_recall == after.last_recall else now.last_recall,
        recall_times=(*before.recall_times, *since)[-RECALL_TIMES_KEPT:],
        reward_count=max(0, now.reward_count - after.reward_count + before.reward_count),
        reward_total=now.reward_total - after.reward_total + before.reward_total,
    )


def usage_to_data(usage: Usage) -> dict[str, Any]:
    """A usage as JSON."""
    return {
        "recalls": usage.recalls,
        "last_recall": usage.last_recall and isoformat(usage.last_recall),
        "recall_times": [isoformat(time) for time in usage.recall_times],
        "reward_count": usage.reward_count,
        "reward_total": usage.reward_total,
    }


def usage_from_data(data: Mapping[str, Any]) -> Usage:
    """The inverse of `usage_to_data`."""
    times = tuple(instant(time) for time in data["recall_times"])
    last = data["last_recall"] and instant(data["last_recall"])
    return Usage(data["recalls"], last, times, data["reward_count"], data["reward_total"])

"""Search by the time a question names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from memorist.model import Hit
from memorist.recall.stage import Draft, Env, Signal


@dataclass(frozen=True, slots=True)
class Temporal(Signal):
    """Memories said in the query's time window, or naming a date in it: 1 inside, falling to 0 at `reach_days`."""

    kind = "temporal"
    reach_days: float = 3.0

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """What lies in the window or within reach of it; nothing for a question without a date."""
        if draft.query.window is None:
            return []
        reach = timedelta(days=self.reach_days)
        return env.view.search_time(*draft.query.window, draft.request.where, limit, reach=reach)

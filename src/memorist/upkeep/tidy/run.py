"""Plan what tidying changes; then, if asked, write it in one piece with what undoing it takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memorist.model import Memory, fingerprint
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.journal import changes, linked, usages
from memorist.upkeep.tidy.desk import Desk, TidyChange, Tidying, TidyRules
from memorist.upkeep.tidy.rules import decay, drop_orphans, expire, ground, merge, move_tiers, revive
from memorist.upkeep.undo import RUN

VERB = "tidy"
"""The verb of the journal's entries."""
IN_ORDER = (expire, revive, merge, ground, decay, move_tiers, drop_orphans)
"""Each rule sees what those before it have changed."""
USUAL = TidyRules()


def tidy(store: Store, now: datetime, *, dry_run: bool = True, rules: TidyRules = USUAL) -> Tidying:
    """What is to be tidied; unless it is a dry run, it is done. What somebody changed meanwhile is left alone."""
    desk = Desk(store, now, rules)
    for rule in IN_ORDER:
        rule(desk)
    if dry_run or not desk.changes:
        return Tidying(now, tuple(desk.changes))
    writing = _Writing(desk.changes, now)
    store.update(writing.plan)
    return Tidying(now, tuple(writing.made), writing.run)


class _Writing:
    """A plan for the store: the changes whose memories are still as they were when it was made."""

    def __init__(self, planned: Sequence[TidyChange], now: datetime) -> None:
        self._planned = planned
        self._now = now
        self.made: list[TidyChange] = []
        self.run = fingerprint(VERB, now, [change.subjects for change in planned])

    def plan(self, reader: Reader) -> Batch:
        """All changes, and an entry of the journal for each."""
        before = reader.get(list({id for change in self._planned for id in change.subjects}))
        after = dict(before)
        self.made = [change for change in self._planned if self._applied(change, after)]
        changed = [memory for id, memory in after.items() if memory != before[id]]
        return Batch(
            revised=changed,
            usage={one.id: one.usage for one in changed if one.usage and one.usage != before[one.id].usage},
            links=[link for change in self.made for link in change.linked],
            journal=[self._entry(change, place) for place, change in enumerate(self.made)],
        )

    def _applied(self, change: TidyChange, state: dict[str, Memory]) -> bool:
        if any(state.get(before.id) != before for before, _ in change.pairs):
            return False
        state.update({after.id: after for _, after in change.pairs})
        return True

    def _entry(self, change: TidyChange, place: int) -> Entry:
        data = {RUN: self.run, "rule": change.rule, "reason": f"{change.id} {change.reason}"}
        data |= changes(change.pairs) | usages(change.pairs)
        if change.linked:
            data |= linked(change.linked)
        return Entry(fingerprint(self.run, place), self._now, VERB, change.subjects, data)

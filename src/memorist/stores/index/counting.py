"""Counts of the rows that a filter admits, and the newest of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from memorist.model import Hit
from memorist.ports import Tally
from memorist.stores.index.columns import LabelColumn
from memorist.stores.index.filtering import Mask
from memorist.stores.index.table import IndexTable

_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1)


def tally(table: IndexTable, admitted: Mask) -> Tally:
    """The admitted rows, counted by each label, and by the day (UTC) on which they became known."""
    columns, count = table.columns, len(admitted)
    known = columns.ingested_at.head(count)[admitted] // _DAY
    secret = np.bincount(columns.classification.head(count)[admitted])
    return Tally(
        memories=int(np.count_nonzero(admitted)),
        kinds=_by_label(columns.kind, admitted),
        tiers=_by_label(columns.tier, admitted),
        scopes=_by_label(columns.scope, admitted),
        classifications={number: int(some) for number, some in enumerate(secret) if some},
        days=_by_day(known),
    )


def _by_label(column: LabelColumn, admitted: Mask) -> dict[str, int]:
    counts: list[int] = np.bincount(column.codes.head(len(admitted))[admitted]).tolist()
    named = zip(list(column.numbers), counts, strict=False)
    return dict(sorted(((str(label), some) for label, some in named if some), key=lambda one: (-one[1], one[0])))


def _by_day(known: NDArray[np.int64]) -> dict[date, int]:
    if not len(known):
        return {}
    first = int(known.min())
    if int(known.max()) - first > len(known) * 8 + 100_000:  # a few memories, many ages apart
        days, counts = np.unique(known, return_counts=True)
        numbered: Sequence[tuple[int, int]] = list(zip(days.tolist(), counts.tolist(), strict=True))
    else:
        sums: list[int] = np.bincount(known - first).tolist()
        numbered = list(enumerate(sums, first))
    return {_EPOCH + timedelta(days=day): some for day, some in numbered if some}


def newest(table: IndexTable, admitted: Mask, limit: int, after: tuple[int, str] | None) -> list[Hit]:
    """The admitted rows that became known last, newest first, ties by id; only those behind `after`, if given.

    A hit's score, and the first value of `after`, is that moment in microseconds, which a float holds exactly until
    the year 2255.
    """
    rows = np.flatnonzero(admitted)
    known = table.columns.ingested_at.head(len(admitted))[rows]
    if after is not None:
        moment, last = after
        tied = np.flatnonzero(known == moment)
        behind = known <= moment
        behind[tied] = ~table.is_up_to(rows[tied], last)
        rows, known = rows[behind], known[behind]
    return table.hits(rows, known, limit)

"""When memories happened and which dates they mention, for questions that name a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.entry import Entry
from memorist.stores.index.growing import Growing


class Mentions:
    """Spans of time that memories mention, each with its row; append-only."""

    def __init__(self) -> None:
        self._spans = Growing(np.int64, 3)

    def extend(self, entries: Sequence[Entry], start: int) -> None:
        """Append the mentions of entries whose rows begin at `start`."""
        spans = [(row, *span) for row, entry in enumerate(entries, start) for span in entry.mentions]
        if spans:
            self._spans.extend(np.array(spans, np.int64))

    def taken(self, rows: NDArray[np.intp]) -> Mentions:
        """The mentions of some of the rows, renumbered."""
        kept, spans = Mentions(), self._spans.first(len(self._spans))
        place = np.searchsorted(rows, spans[:, 0])
        same = (place < len(rows)) & (rows[np.minimum(place, len(rows) - 1)] == spans[:, 0]) if len(rows) else place < 0
        if same.any():
            kept._spans.extend(np.column_stack((place[same], spans[same, 1:])))
        return kept

    def distances(self, said: NDArray[np.int64], start: int, end: int) -> NDArray[np.int64]:
        """Microseconds from each row, by what it says or when it was said, to the window [start, end)."""
        away = np.maximum(np.maximum(start - said, said - (end - 1)), 0)
        spans = self._spans.first(len(self._spans))
        spans = spans[spans[:, 0] < len(said)]
        gaps = np.maximum(np.maximum(start - (spans[:, 2] - 1), spans[:, 1] - (end - 1)), 0)
        np.minimum.at(away, spans[:, 0], gaps)
        return away

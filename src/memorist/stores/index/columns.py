"""What filters ask about: one column each for labels and times, one row a memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.entry import Entry
from memorist.stores.index.growing import Growing

NEVER = np.iinfo(np.int64).max
"""A moment after all others: when something ends that has no end."""
ALWAYS = np.iinfo(np.int64).min
"""A moment before all others: when something was learnt that nobody has learnt."""


class Labels:
    """A column of labels, each kept as a small number."""

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {}
        self.codes = Growing(np.int32)

    def extend(self, labels: Iterable[str | None]) -> None:
        """Append labels; an unseen one gets the next number."""
        labels = list(labels)
        for label in dict.fromkeys(labels):
            self.numbers.setdefault(label, len(self.numbers))
        self.codes.extend(np.fromiter(map(self.numbers.__getitem__, labels), np.int32, len(labels)))

    def among(self, wanted: Iterable[str | None], count: int) -> NDArray[np.bool_]:
        """Which of the first `count` rows carry one of the wanted labels."""
        codes = [self.numbers[label] for label in wanted if label in self.numbers]
        column = self.codes.first(count)
        if len(codes) == 1:
            return column == codes[0]
        chosen = np.zeros(len(self.numbers), np.bool_)
        chosen[codes] = True
        return chosen.take(column)

    def taken(self, rows: NDArray[np.intp]) -> Labels:
        """The same labels for some of the rows, without those that no row has any more."""
        kept = Labels()
        names = list(self.numbers)
        codes: list[int] = self.codes.first(len(self.codes))[rows].tolist()
        kept.extend([names[code] for code in codes])
        return kept


class Columns:
    """All label and time columns of the index."""

    def __init__(self) -> None:
        self.kind = Labels()
        self.scope = Labels()
        self.tier = Labels()
        self.topic = Labels()
        self.classification = Growing(np.int64)
        self.valid_from = Growing(np.int64)
        self.ingested_at = Growing(np.int64)
        self.valid_to = Growing(np.int64)
        self.expired_at = Growing(np.int64)
        self.expires_at = Growing(np.int64)
        self.retracted_at = Growing(np.int64)

    def extend(self, entries: Sequence[Entry]) -> None:
        """Append one row an entry."""
        self.kind.extend(entry.kind for entry in entries)
        self.scope.extend(entry.scope for entry in entries)
        self.tier.extend(entry.tier for entry in entries)
        self.topic.extend(entry.topic for entry in entries)
        self.classification.extend(_numbers(entry.classification for entry in entries))
        self.valid_from.extend(_numbers(entry.valid_from for entry in entries))
        self.ingested_at.extend(_numbers(entry.ingested_at for entry in entries))
        self.valid_to.extend(_numbers((entry.valid_to for entry in entries), missing=NEVER))
        self.expired_at.extend(_numbers((entry.expired_at for entry in entries), missing=ALWAYS))
        self.expires_at.extend(_numbers((entry.expires_at for entry in entries), missing=NEVER))
        self.retracted_at.extend(_numbers((entry.retracted_at for entry in entries), missing=NEVER))

    def taken(self, rows: NDArray[np.intp]) -> Columns:
        """The same columns for some of the rows."""
        kept = Columns()
        for name, column in vars(self).items():
            setattr(kept, name, column.taken(rows))
        return kept


def _numbers(values: Iterable[int | None], missing: int = 0) -> NDArray[np.int64]:
    return np.array([missing if value is None else value for value in values], np.int64)

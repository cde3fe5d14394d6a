"""The table of the index: all columns, with one row per state of a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch
from memorist.ports import TextField
from memorist.stores.index.binary_codes import Signatures
from memorist.stores.index.columns import Columns
from memorist.stores.index.entries import IndexEntry
from memorist.stores.index.filtering import EntityEdges, MentionIndex
from memorist.stores.index.postings import TextIndex
from memorist.stores.index.vectors import VectorMatrix


class IndexTable:
    """Ids, columns, words and vectors. A changed memory gets a new row; its old row stays for older views."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.columns = Columns()
        self.fields: Mapping[TextField, TextIndex] = {"text": TextIndex(), "original": TextIndex()}
        self.matrices: dict[str, VectorMatrix] = {}
        self.relations = EntityEdges()
        self.mentions = MentionIndex()
        self.signatures = Signatures()
        self._newest: dict[str, int] = {}
        self._previous: dict[int, int] = {}

    def check(self, entries: Sequence[IndexEntry]) -> None:
        """Refuse vectors whose length differs from the others of their view."""
        dims = {view: matrix.dim for view, matrix in self.matrices.items()}
        for entry in entries:
            for view, vector in entry.vectors.items():
                if vector.shape != (dims.setdefault(view, vector.size),):
                    raise EmbeddingMismatch(
                        f"the {view} vector of {entry.id} has shape {vector.shape}, others ({dims[view]},)",
                        remedy="Vectors of two embedding models are never compared; run `memorist reembed`.",
                    )

    def extend(self, entries: Sequence[IndexEntry]) -> None:
        """Append one row per entry."""
        start = len(self.ids)
        self.columns.extend(entries)
        self.fields["text"].extend(entry.words for entry in entries)
        self.fields["original"].extend(entry.original for entry in entries)
        self._extend_matrices(entries, start)
        self.relations.extend(entries, start)
        self.mentions.extend(entries, start)
        self.ids.extend(entry.id for entry in entries)
        for row, id in enumerate(self.ids[start:], start):
            if id in self._newest:
                self._previous[row] = self._newest[id]
            self._newest[id] = row

    def rows_of(self, ids: Iterable[str], count: int) -> list[int]:
        """The last row of each id within the first `count` rows, dead or alive; unknown ids are left out."""
        found: list[int] = []
        for id in ids:
            row = self._newest.get(id)
            while row is not None and row >= count:
                row = self._previous.get(row)
            if row is not None:
                found.append(row)
        return found

    def select(self, rows: NDArray[np.intp]) -> IndexTable:
        """A table with some of the rows, which must have distinct ids."""
        kept = IndexTable()
        kept.ids = [self.ids[row] for row in rows.tolist()]
        kept.columns = self.columns.select(rows)
        kept.fields = {name: field.select(rows) for name, field in self.fields.items()}
        kept.matrices = {view: matrix.select(rows) for view, matrix in self.matrices.items()}
        kept.relations = self.relations.select(rows)
        kept.mentions = self.mentions.select(rows)
        kept._newest = {id: row for row, id in enumerate(kept.ids)}
        return kept

    def _extend_matrices(self, entries: Sequence[IndexEntry], start: int) -> None:
        for view in dict.fromkeys(view for entry in entries for view in entry.vectors):
            having = [(row, entry) for row, entry in enumerate(entries, start) if view in entry.vectors]
            vectors = [entry.vectors[view] for _, entry in having]
            if view not in self.matrices:
                # A new dictionary, because a search may be iterating over the old one.
                self.matrices = {**self.matrices, view: VectorMatrix(vectors[0].size)}
            self.matrices[view].extend([row for row, _ in having], vectors)

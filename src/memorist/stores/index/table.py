"""The table of the index: one row per version of a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch
from memorist.ports import TextField
from memorist.stores.index.binary_codes import Signatures
from memorist.stores.index.columns import Columns
from memorist.stores.index.entries import IndexEntry
from memorist.stores.index.filtering import MentionIndex, Relations
from memorist.stores.index.postings import Field
from memorist.stores.index.vectors import Matrix


class IndexTable:
    """Ids, columns, words and vectors; a changed memory gets a new row, and its old one stays for older views."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.columns = Columns()
        self.fields: Mapping[TextField, Field] = {"text": Field(), "original": Field()}
        self.matrices: dict[str, Matrix] = {}
        self.relations = Relations()
        self.mentions = MentionIndex()
        self.signatures = Signatures()
        self._newest: dict[str, int] = {}
        self._before: dict[int, int] = {}

    def check(self, entries: Sequence[IndexEntry]) -> None:
        """Refuse vectors of another length than a view's others."""
        dims = {view: matrix.dim for view, matrix in self.matrices.items()}
        for entry in entries:
            for view, vector in entry.vectors.items():
                if vector.shape != (dims.setdefault(view, vector.size),):
                    raise EmbeddingMismatch(
                        f"the {view} vector of {entry.id} has shape {vector.shape}, others ({dims[view]},)",
                        remedy="Vectors of two embedding models are never compared; run `memorist reembed`.",
                    )

    def extend(self, entries: Sequence[IndexEntry]) -> None:
        """Append one row an entry."""
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
                self._before[row] = self._newest[id]
            self._newest[id] = row

    def rows_of(self, ids: Iterable[str], count: int) -> list[int]:
        """The last row of each id within the first `count` rows, alive or not; unknown ids are left out."""
        found: list[int] = []
        for id in ids:
            row = self._newest.get(id)
            while row is not None and row >= count:
                row = self._before.get(row)
            if row is not None:
                found.append(row)
        return found

    def taken(self, rows: NDArray[np.intp]) -> IndexTable:
        """A table of some of the rows, each of another id."""
        kept = IndexTable()
        kept.ids = [self.ids[row] for row in rows.tolist()]
        kept.columns = self.columns.taken(rows)
        kept.fields = {name: field.taken(rows) for name, field in self.fields.items()}
        kept.matrices = {view: matrix.taken(rows) for view, matrix in self.matrices.items()}
        kept.relations = self.relations.taken(rows)
        kept.mentions = self.mentions.taken(rows)
        kept._newest = {id: row for row, id in enumerate(kept.ids)}
        return kept

    def _extend_matrices(self, entries: Sequence[IndexEntry], start: int) -> None:
        for view in dict.fromkeys(view for entry in entries for view in entry.vectors):
            having = [(row, entry) for row, entry in enumerate(entries, start) if view in entry.vectors]
            vectors = [entry.vectors[view] for _, entry in having]
            if view not in self.matrices:
                # A new dictionary, since a search may be walking through the old one.
                self.matrices = {**self.matrices, view: Matrix(vectors[0].size)}
            self.matrices[view].extend([row for row, _ in having], vectors)

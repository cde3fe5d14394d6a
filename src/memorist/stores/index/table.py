"""The table of the index: a row per memory, in columns of ids, labels, times, words, vectors, entities and mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch
from memorist.model import Hit
from memorist.ports import TextField
from memorist.stores.index.binary_codes import SignaturesByBits
from memorist.stores.index.columns import Columns, NamedColumns, top_positions
from memorist.stores.index.entries import IndexEntry, ReadNamed
from memorist.stores.index.filtering import EntityEdges, Mask, MentionIndex
from memorist.stores.index.parts import Mapped, Reading, Written, under
from memorist.stores.index.postings import TextIndex
from memorist.stores.index.texts import NONE_SORTED, SortedTexts, Texts, in_order
from memorist.stores.index.vectors import VectorMatrix

_MOST_FOUND = 10_000
ROW_BYTES, TEXT_SHARE = 750, 3
"""What a row takes besides its vectors, and what its words take in the lexicon and the postings, per byte of text."""


class IndexTable:
    """Ids, columns, words and vectors. A changed memory gets a new row; its old row stays for older views."""

    def __init__(self, read: ReadNamed, kept_ids: SortedTexts = NONE_SORTED) -> None:
        self.ids = Texts[str](kept_ids.texts)
        self._kept_ids = kept_ids
        self.named = NamedColumns(read)
        self.columns = Columns()
        self.fields: Mapping[TextField, TextIndex] = {"text": TextIndex(), "original": TextIndex()}
        self.matrices: dict[str, VectorMatrix] = {}
        self.relations = EntityEdges()
        self.mentions = MentionIndex()
        self.signatures = SignaturesByBits()
        self.expected = 0
        """The number of rows that a load will add, so that vectors are not copied while it goes on."""
        self._newest: dict[str, int] = {}
        self._found: dict[str, int] = {}
        """The rows of the memories that were found last: a recall asks for their vectors next."""
        self._previous: dict[int, int] = {}

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes; those of a mapped file count in full, although processes share them."""
        vectors = sum(matrix.nbytes for matrix in self.matrices.values())
        texts = sum(field.texts.nbytes for field in self.fields.values())
        return vectors + TEXT_SHARE * texts + ROW_BYTES * len(self.ids)

    def check(self, entries: Sequence[IndexEntry]) -> None:
        """Refuse vectors whose length differs from the others of their view."""
        dims = {view: matrix.dim for view, matrix in self.matrices.items()}
        for entry in entries:
            for view, vector in entry.vectors.items():
                if vector.shape != (dims.setdefault(view, vector.size),):
                    raise EmbeddingMismatch(
                        f"the {view} vector of {entry.id} has shape {vector.shape}, others ({dims[view]},)",
                        remedy="Vectors of two embedding models are never compared; run `reembed()`.",
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
        for row, entry in enumerate(entries, start):
            previous = self._row_of(entry.id)
            if previous is not None:
                self._previous[row] = previous
            self._newest[entry.id] = row

    def hits(self, rows: NDArray[Any], scores: NDArray[Any], limit: int) -> list[Hit]:
        """The best rows as hits, best first, ties by id."""
        places = top_positions(scores, limit)
        best = sorted(zip((-scores[places]).tolist(), self.ids_of(rows[places]), strict=True))
        return [Hit(id, -value) for value, id in best[:limit]]

    def ids_of(self, rows: NDArray[Any]) -> list[str]:
        """The ids of some rows, which are likely to be asked for next."""
        ids = self.ids.chosen(rows)
        if len(self._kept_ids.order):
            if len(self._found) > _MOST_FOUND:
                self._found.clear()
            self._found.update(zip(ids, rows.tolist(), strict=True))
        return ids

    def rows_of(self, ids: Iterable[str], count: int) -> dict[str, int]:
        """The last row of each id within the first `count` rows, dead or alive; unknown ids are left out."""
        found: dict[str, int] = {}
        for id in ids:
            row = self._row_of(id)
            while row is not None and row >= count:
                row = self._previous.get(row)
            if row is not None:
                found[id] = row
        return found

    def prepare(self) -> None:
        """Fetch the ids of all rows, if they lie on a server."""
        self._kept_ids.texts.ends.all()
        self._kept_ids.texts.blob.all()

    def _row_of(self, id: str) -> int | None:
        row = self._newest.get(id)
        if row is not None or not len(self._kept_ids.order):
            return row
        row = self._found.get(id)
        return self._kept_ids.find(id) if row is None else row

    def has_vectors(self, alive: Mask) -> bool:
        """Whether any of these rows has a vector."""
        rows = np.flatnonzero(alive)
        return any(matrix.has_any(rows) for matrix in self.matrices.values())

    def select(self, rows: NDArray[np.intp]) -> IndexTable:
        """A table with some of the rows, which must have distinct ids."""
        kept = IndexTable(self.named.read)
        kept.ids.extend(self.ids.chosen(rows))
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
                self.matrices = {**self.matrices, view: VectorMatrix(vectors[0].size, self.expected)}
            self.matrices[view].extend([row for row, _ in having], vectors)

    def parts(self, alive: Mask) -> Written:
        """The arrays of the living rows, renumbered, to write; they must have distinct ids."""
        rows = np.flatnonzero(alive)
        made = under("ids", in_order(self.ids.packed(rows)).parts(Reading.SCATTERED))
        made |= under("columns", self.columns.parts(rows))
        made |= under("relations", self.relations.parts(alive))
        made |= under("mentions", self.mentions.parts(alive))
        for name, field in self.fields.items():
            made |= under(f"fields/{name}", field.parts(alive))
        for view, matrix in self.matrices.items():
            made |= under(f"vectors/{quote(view, safe='')}", matrix.parts(alive))
        return made

    @classmethod
    def of(cls, parts: Mapped, read: ReadNamed) -> IndexTable:
        """The table of mapped arrays."""
        made = cls(read, SortedTexts.of(parts.under("ids")))
        made.columns = Columns.of(parts.under("columns"))
        made.relations = EntityEdges.of(parts.under("relations"))
        made.mentions = MentionIndex.of(parts.under("mentions"))
        fields, vectors = parts.under("fields"), parts.under("vectors")
        made.fields = {name: TextIndex.of(fields.under(name)) for name in made.fields}
        made.matrices = {unquote(name): VectorMatrix.of(vectors.under(name)) for name in vectors.names()}
        return made

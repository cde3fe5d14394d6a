"""The table of the index: a row per memory, in columns of ids, labels, times, words, vectors, entities and mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch, Remedy, VerbCall
from memorist.model import Hit
from memorist.ports import TextField
from memorist.stores.index.arrays import AccessPattern, Mapped, Written, under
from memorist.stores.index.binary_codes import SignaturesByBits
from memorist.stores.index.columns import Columns, top_positions
from memorist.stores.index.entries import IndexEntry
from memorist.stores.index.filtering import EntityEdges, Mask, MentionIndex
from memorist.stores.index.postings import TextIndex
from memorist.stores.index.texts import NONE_SORTED, SortedTexts, Texts, in_order
from memorist.stores.index.vectors import VectorMatrix

_MOST_FOUND = 10_000
ROW_BYTES, TEXT_SHARE = 750, 3
"""What a row takes besides its vectors, and what its words take in the lexicon and the postings, per byte of text."""


class IndexTable:
    """Ids, columns, words and vectors. A changed memory gets a new row; its old row stays for older views."""

    def __init__(self, kept_ids: SortedTexts = NONE_SORTED) -> None:
        self.ids = Texts[str](kept_ids.texts)
        self._kept_ids = kept_ids
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
                        remedy=Remedy(
                            "Vectors of two embedding models are never compared; run ", VerbCall("reembed"), "."
                        ),
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
        if len(places) > max(limit, 0):
            places = self._without_later_ties(rows, scores, places, limit)
        best = sorted(zip((-scores[places]).tolist(), self.ids_of(rows[places]), strict=True))
        return [Hit(id, -value) for value, id in best]

    def _without_later_ties(
        self, rows: NDArray[Any], scores: NDArray[Any], places: NDArray[np.intp], limit: int
    ) -> NDArray[np.intp]:
        """The best `limit` of these places: of those tied for the last score, the ones with the first ids."""
        values = scores[places]
        tied = values == values.min()
        better, last = places[~tied], places[tied]
        return np.concatenate((better, last[self._first_ids(rows[last], limit - len(better))]))

    def _first_ids(self, rows: NDArray[Any], limit: int) -> NDArray[np.intp]:
        """The positions of the rows with the first ids; those in the file are in order there and are not read."""
        order = self._kept_ids.order
        kept = np.flatnonzero(rows < len(order))
        position = np.full(len(order), -1, np.intp)
        position[rows[kept]] = kept
        ordered = position[order]
        first = ordered[ordered >= 0][:limit]
        new = np.flatnonzero(rows >= len(order))
        if not len(new):
            return first
        some = np.concatenate((first, new))
        ids = self.ids.chosen(rows[some])
        return some[np.array(nsmallest(limit, range(len(ids)), key=ids.__getitem__), np.intp)]

    def place(self, id: str, rows: NDArray[Any], scores: NDArray[Any], count: int) -> list[Hit]:
        """The hit of one memory, if it is among the rows, with its rank as a part."""
        own = np.flatnonzero(rows == self.rows_of([id], count).get(id, -1))
        if not len(own):
            return []
        score = scores[own[0]]
        tied = rows[scores == score]
        rank = np.count_nonzero(scores > score) + np.count_nonzero(self.is_up_to(tied, id))
        return [Hit(id, score.item(), (("rank", float(rank)),))]

    def is_up_to(self, rows: NDArray[Any], id: str) -> Mask:
        """Which of some rows have this id or an earlier one."""
        kept = len(self._kept_ids.order)
        earlier = np.zeros(len(self.ids), np.bool_)
        if kept:
            earlier[self._kept_ids.up_to(id)] = True
        new = rows[rows >= kept]
        earlier[new] = [known <= id for known in self.ids.chosen(new)]
        return earlier[rows]

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
        """Fetch what a change is looked up in, if it lies on a server: the ids of all rows, and labels."""
        self._kept_ids.texts.ends.all()
        self._kept_ids.texts.blob.all()
        self.columns.prepare()

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
        kept = IndexTable()
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
        made = under("ids", in_order(self.ids.packed(rows)).parts(AccessPattern.SCATTERED))
        made |= under("columns", self.columns.parts(rows))
        made |= under("relations", self.relations.parts(alive))
        made |= under("mentions", self.mentions.parts(alive))
        for name, field in self.fields.items():
            made |= under(f"fields/{name}", field.parts(alive))
        for view, matrix in self.matrices.items():
            made |= under(f"vectors/{quote(view, safe='')}", matrix.parts(alive))
        return made

    @classmethod
    def of(cls, parts: Mapped) -> IndexTable:
        """The table of mapped arrays."""
        made = cls(SortedTexts.of(parts.under("ids")))
        made.columns = Columns.of(parts.under("columns"))
        made.relations = EntityEdges.of(parts.under("relations"))
        made.mentions = MentionIndex.of(parts.under("mentions"))
        fields, vectors = parts.under("fields"), parts.under("vectors")
        made.fields = {name: TextIndex.of(fields.under(name)) for name in made.fields}
        made.matrices = {unquote(name): VectorMatrix.of(vectors.under(name)) for name in vectors.names()}
        return made

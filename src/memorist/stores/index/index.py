"""The index: the views that are searched, and the changes that are applied."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import compress
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.errors import EmbeddingMismatch
from memorist.model import Condition, FactGraph, FieldCheck, Filter, Hit, Related
from memorist.model.filter import ID, TEXT
from memorist.ports import Tally, TextField
from memorist.stores.index.arrays import GrowingArray, Mapped, Written
from memorist.stores.index.bm25 import (
    CollectionStats,
    Find,
    TermScores,
    bm25_scores,
    collection_stats,
    similarity_scores,
    term_frequencies,
    term_similarities,
)
from memorist.stores.index.entries import MICROSECOND, IndexEntry, micros
from memorist.stores.index.filtering import Mask, TimedMask, closeness, condition_mask, filter_mask, with_words
from memorist.stores.index.postings import TextIndex, common_rows
from memorist.stores.index.table import IndexTable
from memorist.stores.index.vectors import Vectors, finite_rows, nearest, normalize
from memorist.text.patterns import lazy
from memorist.text.signature import BITS
from memorist.text.words import UNSPACED, language, query_words, stem, words

_BOTH: tuple[TextField, ...] = ("text", "original")
_MASKS_KEPT = 8
_LONG_ENOUGH = lazy(rf".{{3,}}|.*[{UNSPACED}].+|.+[{UNSPACED}]", re.DOTALL)


class IndexView:
    """The rows at the time the view was taken; later writes are invisible. Threads may share it."""

    def __init__(
        self, table: IndexTable, alive: Mask, generation: int, embedding: str | None = None, *, is_part: bool = False
    ) -> None:
        self.generation = generation
        self.embedding = embedding
        self.size = int(np.count_nonzero(alive))
        self._table = table
        self._alive = alive
        self._masks: dict[tuple[Filter, bool, bool], TimedMask] = {}
        self._meeting: dict[Condition, Mask] = {}
        """The rows that meet a condition, for the next recall with it: its filter differs, because time goes on."""
        self._asking = Lock()
        self._parts: dict[tuple[int, int], IndexView] = {}
        self._is_part = is_part
        self._part_graph: tuple[FactGraph, NDArray[np.int32]] | None = None
        self._collections: dict[tuple[TextField, ...], CollectionStats] = {}
        self._followed: str | None = None
        self._facts = True

    def part(self, lowest: int, highest: int) -> IndexView:
        """The memories between two classifications, both inclusive, as if there were no others.

        Every count and statistic is of these memories. A table without others, dead or alive, is its own part.
        """
        made = self._parts.get((lowest, highest))
        if made is None:
            classes = self._table.columns.classification.head(len(self._alive))
            within = (lowest <= classes) & (classes <= highest)
            if within.all():
                return self
            made = IndexView(self._table, self._alive & within, self.generation, is_part=True)
            made.embedding = self.embedding if self._table.has_vectors(made._alive) else None
            self._parts[lowest, highest] = made
        return made

    def may_hold(self, words: Sequence[str]) -> bool:
        """Whether some memory has all of these words, as the index spells them, in its text."""
        field, count = self._table.fields["text"], len(self._alive)
        rows = None
        for word in dict.fromkeys(words):
            having = field.rows_with(word, count)
            rows = having if rows is None else common_rows(rows, having)
            if not len(rows):
                return False
        return self.size > 0 if rows is None else bool(self._alive[rows].any())

    def search_text(
        self,
        text: str,
        where: Filter,
        limit: int,
        *,
        fields: tuple[TextField, ...] = _BOTH,
        dates: Sequence[tuple[datetime, datetime]] = (),
    ) -> list[Hit]:
        """BM25 over stems and bigrams of unspaced scripts, and dates; a query word counts once, in any language."""
        within = self._collection(fields)
        asked = _distinct_stems(query_words(text))
        terms = [term_frequencies(within, lambda field, word=word: field.by_stem(word)) for word in asked]
        for start, end in dates:
            rows = self._table.mentions.within(micros(start), micros(end), self._alive)
            terms.append(TermScores(rows, np.ones(len(rows))))
        return self._hits(bm25_scores(within, terms), where, limit)

    def search_trigram(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = _BOTH
    ) -> list[Hit]:
        """The mean similarity of the query words to the most similar words of a row, weighted by rarity; 0 to 1."""
        within = self._collection(fields)
        asked = query_words(text)
        terms = [term_similarities(within, lambda field, word=word: field.by_similarity(word)) for word in asked]
        return self._hits(similarity_scores(within, terms), where, limit)

    def search_substring(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = _BOTH
    ) -> list[Hit]:
        """BM25 over words that contain a query word of at least three letters, or two in an unspaced script.

        A query word that no admitted row has, as a stem or a part, is taken for a typo: words spelt like it count with
        their similarity in place of 1.
        """
        within, terms = self._collection(fields), list[TermScores]()
        for part in filter(_LONG_ENOUGH.fullmatch, query_words(text)):
            way = TextIndex.by_substring if self._knows(part, where) else TextIndex.by_similarity
            terms.append(term_frequencies(within, lambda field, part=part, way=way: way(field, part)))
        return self._hits(bm25_scores(within, terms), where, limit)

    def _knows(self, word: str, where: Filter) -> bool:
        """Whether a row that the filter admits has a word, as a stem or a part, in any field."""
        within, admitted = self._collection(_BOTH), self._searched(where)
        finds: tuple[Find, ...] = (lambda field: field.by_stem(word), lambda field: field.by_substring(word))
        return any(bool(admitted[term_frequencies(within, find).rows].any()) for find in finds)

    def search_vector(self, probes: Vectors, where: Filter, limit: int) -> list[Hit]:
        """The largest cosine of any probe with any view; exact up to `EXACT_ROWS` rows that pass the filter."""
        probes = normalize(np.atleast_2d(probes))
        probes = probes[finite_rows(probes)]
        matrices = list(self._table.matrices.values())
        for matrix in matrices:
            if matrix.dim != probes.shape[1]:
                raise EmbeddingMismatch(
                    f"the probe has {probes.shape[1]} dimensions, the store's vectors {matrix.dim}",
                    remedy="Embed the query with the model that the store was written with.",
                )
        if not len(probes) or limit <= 0:
            return []
        rows, cosines = nearest(matrices, probes, self._searched(where), limit)
        return self._best(rows, cosines, limit)

    def search_signature(self, text: str, where: Filter, limit: int, *, bits: int = BITS) -> list[Hit]:
        """The share of equal bits in word signatures; no hits for a query without words."""
        asked = words(text)
        if not asked:
            return []
        texts = self._table.fields["text"].texts
        likeness = self._table.signatures[bits].similarity(asked, texts, len(self._alive))
        rows = np.flatnonzero(self._searched(where))
        return self._best(rows, likeness[rows], limit)

    def search_time(
        self,
        start: datetime,
        end: datetime,
        where: Filter,
        limit: int,
        *,
        reach: timedelta = timedelta(0),
        said: bool = True,
    ) -> list[Hit]:
        """Memories said in a window or mentioning a time in it: 1 inside, less outside, 0 from `reach` on."""
        window, away = (micros(start), micros(end)), reach // MICROSECOND
        rows = np.flatnonzero(self._searched(where))
        if not len(rows):
            return []
        scores = self._table.mentions.closeness(len(self._alive), window, away)[rows]
        if said:
            spoken = self._table.columns.valid_from.head(len(self._alive))[rows]
            scores = np.maximum(scores, closeness(spoken, spoken + 1, window, away))
        near = scores > 0
        return self._best(rows[near], scores[near], limit)

    def tally(self, where: Filter) -> Tally:
        """The memories that a filter admits, counted by each label and by the day on which they became known."""
        from memorist.stores.index.counting import tally

        return tally(self._table, self._mask(where))

    def newest(self, where: Filter, limit: int, after: Hit | None = None) -> list[Hit]:
        """The memories that became known last, newest first, ties by id; a score is the moment in microseconds."""
        from memorist.stores.index.counting import newest

        behind = None if after is None else (int(after.score), after.id)
        return newest(self._table, self._mask(where), limit, behind)

    def graph(self, where: Filter) -> tuple[FactGraph, Mask]:
        """The entity graph, and a mask of the edges that the filter admits."""
        graph, rows = self._graph()
        return graph, self._mask(where)[rows]

    def related(self, names: Collection[str], where: Filter, limit: int) -> list[Related]:
        """The pairs of which one is among these entities: all that facts relate, and the best of the others."""
        from memorist.stores.index.relating import related_to

        return related_to(self._table, names, self._mask(where), limit)

    def _graph(self) -> tuple[FactGraph, NDArray[np.int32]]:
        relations, ids = self._table.relations, self._table.ids
        if not self._is_part:
            return relations.graph(ids, len(self._alive))
        if self._part_graph is None:
            self._part_graph = relations.part(ids, np.flatnonzero(self._alive))
        return self._part_graph

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """The unit vector of the view `text` of each memory that has one."""
        matrix = self._table.matrices.get("text")
        if matrix is None:
            return {}
        known, rows = self._rows_of(ids)
        having, vectors = matrix.lookup(rows)
        return dict(zip(compress(known, having.tolist()), vectors, strict=True))

    def cosines(self, probes: Vectors, ids: Sequence[str]) -> dict[str, float]:
        """The cosine that `search_vector` gives each of these memories that has a vector."""
        found: dict[str, float] = {}
        units = normalize(np.atleast_2d(probes))
        known, rows = self._rows_of(ids)
        for matrix in self._table.matrices.values():
            having, vectors = matrix.lookup(rows)
            cosines: list[float] = np.maximum.reduce([np.vecdot(vectors, unit) for unit in units]).tolist()
            for id, cosine in zip(compress(known, having.tolist()), cosines, strict=True):
                found[id] = max(cosine, found.get(id, cosine))
        return found

    def _rows_of(self, ids: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
        """Those of these memories that are alive, each once, and their rows."""
        found = self._table.rows_of(ids, len(self._alive))
        rows = np.fromiter(found.values(), np.intp, len(found))
        alive = self._alive[rows]
        return list(compress(found, alive.tolist())), rows[alive]

    def parts(self) -> Written:
        """The arrays of the memories of the view, to write."""
        return self._table.parts(self._alive)

    def _searched(self, where: Filter) -> Mask:
        """The rows that a filter admits, without facts that rules read: the texts that state those are found."""
        mask = self._mask(where) & (self._table.columns.folded.head(len(self._alive)) == 0)
        return mask if self._facts else mask & self._table.columns.relation.among((None,), len(self._alive))

    def _mask(self, where: Filter) -> Mask:
        """The rows that a filter admits. The clock goes on between recalls, and seldom changes them."""
        timeless = replace(where, as_of=None, known_at=None), where.as_of is None, where.known_at is None
        made = self._masks.get(timeless)
        if made is not None and (made.where == where or made.still_holds(where, self._table.columns)):
            return made.mask
        if len(self._masks) >= _MASKS_KEPT:
            self._masks.clear()
        mask = filter_mask(where, self._table.columns, self._alive)
        if where.conditions is not None:
            mask &= self._met(where.conditions)
        self._masks[timeless] = TimedMask(mask, where)
        return mask

    def _met(self, condition: Condition) -> Mask:
        with self._asking:  # the signals ask at the same time
            met = self._meeting.get(condition)
            if met is None:
                if len(self._meeting) >= _MASKS_KEPT:
                    self._meeting.clear()
                met = self._meeting[condition] = condition_mask(condition, self._meets)
            return met

    def _meets(self, check: FieldCheck) -> Mask:
        if check.field == TEXT:
            return with_words(check.words, self._table.fields.values(), len(self._alive))
        if check.field == ID:
            mask = np.zeros(len(self._alive), np.bool_)
            mask[self._rows_of([f"{id}" for _, id in check.values])[1]] = True
            return mask
        return self._table.columns.meeting(check, len(self._alive))

    def _collection(self, fields: tuple[TextField, ...]) -> CollectionStats:
        within = self._collections.get(fields)
        if within is None:
            chosen = [self._table.fields[name] for name in dict.fromkeys(fields)]
            within = self._collections[fields] = collection_stats(chosen, self._alive)
        return within

    def following(self, id: str) -> IndexView:
        """This view, whose searches find one memory alone, with its rank among all that they would find."""
        made = copy(self)
        made._followed = id
        return made

    def without_facts(self) -> IndexView:
        """This view, whose searches leave out facts that join two entities: the edges of the graph."""
        made = copy(self)
        made._facts = False
        return made

    def _best(self, rows: NDArray[Any], scores: NDArray[Any], limit: int) -> list[Hit]:
        if self._followed is None:
            return self._table.hits(rows, scores, limit)
        return self._table.place(self._followed, rows, scores, len(self._alive))

    def _hits(self, scored: TermScores, where: Filter, limit: int) -> list[Hit]:
        passing = self._searched(where)[scored.rows]
        return self._best(scored.rows[passing], scored.values[passing], limit)


def _distinct_stems(asked: Sequence[str]) -> Iterable[str]:
    """The first word of each stem, in the language of the query."""
    query_language = language(asked)
    firsts: dict[str, str] = {}
    for word in asked:
        firsts.setdefault(stem(word, query_language), word)
    return firsts.values()


_FEW_DEAD = 1024


class Index:
    """Memories in columns, searched through views; a cache that can be rebuilt from a store's rows.

    There may be one writer at a time: the caller locks `apply`. Any thread may read old and new views meanwhile.
    `kept` are the arrays that an earlier index wrote.
    """

    def __init__(self, kept: Mapped | None = None) -> None:
        self._table = IndexTable() if kept is None else IndexTable.of(kept)
        self._alive = GrowingArray(np.bool_)
        self._alive.extend(np.ones(len(self._table.ids), np.bool_))
        self._dead = 0
        self._view = IndexView(self._table, self._alive.head(len(self._alive)), 0)

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes."""
        return self._table.nbytes

    def expect(self, rows: int) -> None:
        """Prepare for a load of so many rows."""
        self._table.expected = rows

    def prepare(self) -> None:
        """Fetch what changes are looked up in, if the index lies on a server."""
        self._table.prepare()

    def apply(
        self, entries: Iterable[IndexEntry], removed: Iterable[str], *, generation: int, embedding: str | None = None
    ) -> None:
        """Remove memories, then add entries, which replace those with the same id; all or nothing.

        An id in both is present afterwards. Older views do not change. `embedding` names the generation of the vectors.
        """
        fresh = list({entry.id: entry for entry in entries}.values())
        self._table.check(fresh)
        self._mark_dead([*removed, *(entry.id for entry in fresh)])
        if fresh:
            self._table.extend(fresh)
            self._alive.extend(np.ones(len(fresh), np.bool_))
        self._compact()
        self._view = IndexView(self._table, self._alive.head(len(self._alive)), generation, embedding)

    def view(self) -> IndexView:
        """The state after the last `apply`."""
        return self._view

    @property
    def rows(self) -> int:
        """The number of rows, dead or alive."""
        return len(self._alive)

    def _mark_dead(self, ids: list[str]) -> None:
        alive = self._alive.head(len(self._alive))
        rows = [row for row in self._table.rows_of(ids, len(alive)).values() if alive[row]]
        if rows:
            self._alive = self._alive.copy()  # older views keep theirs
            self._alive.head(len(alive))[rows] = False
            self._dead += len(rows)

    def _compact(self) -> None:
        if self._dead > max(_FEW_DEAD, len(self._alive) // 4):
            living = np.flatnonzero(self._alive.head(len(self._alive)))
            self._table = self._table.select(living)
            self._alive = self._alive.select(living)
            self._dead = 0

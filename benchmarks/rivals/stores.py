"""The stores that are compared, each with the settings that its documentation advises, behind one protocol.

Every store keeps the texts and the vectors, and a search returns the best texts. Vectors are compared by cosine. A
hybrid search looks for the words of the question, too. Each module is imported when its store is opened.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol
from zlib import crc32

from benchmarks.rivals.data import BEST, DIM, Page, Vectors, unit

VECTOR, HYBRID = "vector", "hybrid"


class Store(Protocol):
    """A store in a folder of its own, opened to be searched in one way, or in none if it is to be filled."""

    modes: tuple[str, ...]
    """The ways to search it."""

    def __init__(self, folder: Path, mode: str | None) -> None: ...

    def fill(self, pages: Iterable[Page]) -> None:
        """Keep everything, ready to be searched."""
        ...

    def search(self, text: str, vector: Vectors, best: int = BEST) -> list[str]:
        """The best texts, at most this many."""
        ...

    def close(self) -> None: ...


class Chroma:
    """The default: HNSW in memory, in a file from one process to the next; words only filter, so there is no hybrid."""

    modes: tuple[str, ...] = (VECTOR,)

    def __init__(self, folder: Path, mode: str | None) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings)
        self._collection = self._client.get_or_create_collection(
            "memories", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )

    def fill(self, pages: Iterable[Page]) -> None:
        most = self._client.get_max_batch_size()
        for page in pages:
            for start in range(0, len(page.texts), most):
                texts = list(page.texts[start : start + most])
                ids = [str(page.start + start + number) for number in range(len(texts))]
                self._collection.add(ids=ids, documents=texts, embeddings=page.vectors[start : start + most])

    def search(self, text: str, vector: Vectors, best: int = BEST) -> list[str]:
        found = self._collection.query(query_embeddings=[vector], n_results=best, include=["documents"])
        return found["documents"][0]

    def close(self) -> None:
        pass


class LanceDB:
    """A table with a full-text index; above 100,000 rows also a vector index (IVF_PQ), which is not advised below.

    What that index finds is compared again with the vectors themselves, ten times as many as are asked for.
    """

    modes: tuple[str, ...] = (VECTOR, HYBRID)
    _UNINDEXED, _REFINED = 100_000, 10

    def __init__(self, folder: Path, mode: str | None) -> None:
        import lancedb

        self._mode, self._db = mode, lancedb.connect(folder)
        self._table = self._db.open_table("memories") if mode else None

    def fill(self, pages: Iterable[Page]) -> None:
        import pyarrow as pa
        from lancedb.index import FTS, IvfPq

        def batches() -> Iterator[pa.RecordBatch]:
            for page in pages:
                rows = pa.FixedSizeListArray.from_arrays(pa.array(page.vectors.ravel()), page.vectors.shape[1])
                numbers = pa.array(range(page.start, page.start + len(page.texts)), pa.int64())
                yield pa.RecordBatch.from_arrays([numbers, pa.array(page.texts), rows], ["id", "text", "vector"])

        first, rest = _first(batches())
        reader = pa.RecordBatchReader.from_batches(first.schema, rest)
        table = self._db.create_table("memories", reader)
        table.create_index("text", config=FTS())
        if table.count_rows() > self._UNINDEXED:
            table.create_index("vector", config=IvfPq(distance_type="cosine"))

    def search(self, text: str, vector: Vectors, best: int = BEST) -> list[str]:
        assert self._table is not None
        if self._mode == VECTOR:
            query = self._table.search(vector)
        else:
            query = self._table.search(query_type="hybrid").vector(vector).text(text)
        query = query.distance_type("cosine").refine_factor(self._REFINED).select(["id", "text"]).limit(best)
        return query.to_arrow()["text"].to_pylist()

    def close(self) -> None:
        pass


class SqliteVec:
    """A table of texts, one of vectors that are all compared, and FTS5; hybrid by reciprocal rank fusion in SQL.

    In the SQLite of the package apsw, as Memorist: that of some Pythons loads no extensions.
    """

    modes: tuple[str, ...] = (VECTOR, HYBRID)
    _FUSED = 60

    def __init__(self, folder: Path, mode: str | None) -> None:
        import apsw
        import sqlite_vec

        folder.mkdir(exist_ok=True)
        self._db = apsw.Connection(str(folder / "memories.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(sqlite_vec.loadable_path())
        self._sql = self._NEAREST if mode == VECTOR else self._FUSING
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")

    def fill(self, pages: Iterable[Page]) -> None:
        first, pages = _first(pages)
        dim = first.vectors.shape[1]
        self._db.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5 (text, content = memories, content_rowid = id)")
        self._db.execute(f"CREATE VIRTUAL TABLE vectors USING vec0 (vector float[{dim}] distance_metric=cosine)")
        for page in pages:
            rows, vectors = list(enumerate(page.texts, page.start)), enumerate(page.vectors, page.start)
            with self._db:
                self._db.executemany("INSERT INTO memories VALUES (?, ?)", rows)
                self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
                self._db.executemany("INSERT INTO vectors (rowid, vector) VALUES (?, ?)", vectors)

    def search(self, text: str, vector: Vectors, best: int = BEST) -> list[str]:
        given = {"vector": vector, "words": any_word(text), "k": best, "rank": self._FUSED}
        return [one for (one,) in self._db.execute(self._sql, given)]

    _NEAREST = """
        SELECT text FROM (SELECT rowid, distance FROM vectors WHERE vector MATCH :vector AND k = :k) AS near
        JOIN memories ON id = near.rowid ORDER BY distance"""
    _FUSING = """
        WITH near AS (SELECT rowid AS id, row_number() OVER (ORDER BY distance) AS place
                      FROM vectors WHERE vector MATCH :vector AND k = :k),
             said AS (SELECT rowid AS id, row_number() OVER (ORDER BY rank) AS place
                      FROM (SELECT rowid, rank FROM words WHERE words MATCH :words ORDER BY rank LIMIT :k)),
             fused AS (SELECT id, sum(1.0 / (:rank + place)) AS score
                       FROM (SELECT * FROM near UNION ALL SELECT * FROM said) GROUP BY id)
        SELECT text FROM fused JOIN memories USING (id) ORDER BY score DESC LIMIT :k"""

    def close(self) -> None:
        self._db.close()


class Given:
    """An embedder of texts whose vectors are known, for stores that embed what they are given; takes no time.

    A text that nobody gave, such as a fact that was read in another, gets a random vector, which is near no other.
    """

    generation, dim = "given", DIM

    def __init__(self) -> None:
        self._known: ChainMap[str, Vectors] = ChainMap({}, {})

    def know(self, texts: Sequence[str], vectors: Vectors) -> None:
        """The vectors of the texts that come next; all but those before are forgotten."""
        self._known = ChainMap(dict(zip(texts, vectors, strict=True)), self._known.maps[0])

    def embed(self, texts: Sequence[str], *, purpose: str = "", progress: object = None) -> Vectors:
        """One vector per text."""
        import numpy as np

        return np.array([self._known[text] if text in self._known else _random(text) for text in texts], np.float32)


def _random(text: str) -> Vectors:
    import numpy as np

    return unit(np.random.default_rng(crc32(text.encode())).standard_normal(DIM, np.float32))


class Txtai:
    """Texts in SQLite, vectors in Faiss with the index that txtai chooses for the size, and BM25."""

    modes: tuple[str, ...] = (VECTOR, HYBRID)

    def __init__(self, folder: Path, mode: str | None) -> None:
        from txtai import Embeddings

        self._folder, self._given = folder, Given()

        def embed(texts: Sequence[str]) -> Vectors:  # txtai would call a method without arguments, to get a function
            return self._given.embed(texts)

        made = {"transform": embed}
        self._embeddings = Embeddings({"method": "external", "content": True, "hybrid": True, **made})
        if mode:
            self._embeddings.load(str(folder), config=made)
        if mode == VECTOR:
            self._embeddings.scoring = None  # a weight of 0 would search the words all the same

    def fill(self, pages: Iterable[Page]) -> None:
        def rows() -> Iterator[tuple[int, str]]:
            for page in pages:
                self._given.know(page.texts, page.vectors)
                yield from enumerate(page.texts, page.start)

        self._embeddings.index(rows())
        self._embeddings.save(str(self._folder))

    def search(self, text: str, vector: Vectors, best: int = BEST) -> list[str]:
        self._given.know([text], vector[None])
        return [found["text"] for found in self._embeddings.search(text, best)]

    def close(self) -> None:
        self._embeddings.close()


class Memorist:
    """The engine with everything that it derives; hybrid is the whole recall without the reranker."""

    modes: tuple[str, ...] = (VECTOR, HYBRID)
    settings: Mapping[str, str] = MappingProxyType({})

    def __init__(self, folder: Path, mode: str | None) -> None:
        import memorist

        folder.mkdir(exist_ok=True)
        self._mode, self._given = mode, Given()
        self._memory = memorist.open(
            folder / "memories.db", embedder=self._given, reranker="none", config=self.settings, background=False
        )

    def fill(self, pages: Iterable[Page]) -> None:
        for page in pages:
            self._given.know(page.texts, page.vectors)
            self._memory.remember_many(page.texts)
        self._memory.store.view()  # and with it the index file

    def search(self, text: str, vector: Vectors, best: int = BEST) -> list[str]:
        if self._mode == HYBRID:
            self._given.know([text], vector[None])
            return [item.memory.text for item in self._memory.recall(text, limit=best).items]
        from memorist.model import Filter

        hits = self._memory.store.view().search_vector(vector[None], Filter(), best)
        found = self._memory.store.get([hit.id for hit in hits])
        return [found[hit.id].text for hit in hits]

    def close(self) -> None:
        self._memory.close()


class MemoristWithoutFacts(Memorist):
    """The engine without reading names and facts in what it writes, of which only the writing is measured."""

    modes = ()
    settings = MappingProxyType({"extract": "off"})


STORES: Mapping[str, type[Store]] = {
    "Memorist": Memorist,
    "Memorist, extract = off": MemoristWithoutFacts,
    "Chroma": Chroma,
    "LanceDB": LanceDB,
    "txtai": Txtai,
    "sqlite-vec + FTS5": SqliteVec,
}


def any_word(text: str) -> str:
    """An FTS5 query for any word of a text."""
    return " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))


def _first(some: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """The first element, and all of them."""
    rest = iter(some)
    first = next(rest)
    return first, chain([first], rest)

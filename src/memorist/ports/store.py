"""What we need of a store: to be asked, to be searched, to be written to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memorist.model import Entity, FactGraph, Filter, Hit, Link, Memory
from memorist.ports.values import Batch, Entry, Job, Page, Record, StoreStats, TextField, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memorist.ports.values import Vector


class View(Protocol):
    """The store as one recall sees it: consistent, read-only, shared by all its signals.

    Searches give hits best first, ties by id, and apply the filter inside.
    """

    @property
    def generation(self) -> int:
        """The content counter this view was taken at."""
        ...

    @property
    def embedding(self) -> str | None:
        """The embedding generation of its vectors, None where there are none; a probe must be of the same."""
        ...

    @property
    def size(self) -> int:
        """How many memories the view holds."""
        ...

    def search_text(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = ("text", "original")
    ) -> list[Hit]:
        """BM25 over stems and CJK bigrams; positive, larger is better."""
        ...

    def search_trigram(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = ("text", "original")
    ) -> list[Hit]:
        """Words alike by their trigrams, so typos are found; the mean likeness weighted by rarity, 0 to 1."""
        ...

    def search_substring(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = ("text", "original")
    ) -> list[Hit]:
        """Words that contain a query word: parts of names and identifiers; BM25 over those matches."""
        ...

    def search_vector(self, probes: Vector, where: Filter, limit: int) -> list[Hit]:
        """The largest cosine of any probe (rows of a matrix) with any view of a memory; −1 to 1."""
        ...

    def search_signature(self, text: str, where: Filter, limit: int) -> list[Hit]:
        """The share of equal bits of 256-bit signatures of words; about 0.5 for unrelated texts."""
        ...

    def search_time(
        self, start: datetime, end: datetime, where: Filter, limit: int, *, reach: timedelta = timedelta(0)
    ) -> list[Hit]:
        """What was said in a window, or mentions a time in it: 1 inside, falling to 0 at `reach` outside."""
        ...

    def graph(self, where: Filter) -> tuple[FactGraph, NDArray[np.bool_]]:
        """The graph of entities, the same object while no edge is new, and which edges the filter admits."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """The `text` view of each memory that has one."""
        ...


class Reader(Protocol):
    """A store to be asked, by anyone or from within a write."""

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, with their usage; unknown ids are left out."""
        ...

    def history(self, id: str) -> list[Memory]:
        """All versions of a memory, newest first."""
        ...

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, of these relations or else of any."""
        ...

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, case aside."""
        ...

    def alike(self, names: Sequence[str]) -> list[Entity]:
        """Entities of which a name or alias begins as one of these does, for three letters: who may be meant."""
        ...

    def keyed(self, keys: Sequence[str]) -> list[Memory]:
        """Every memory with one of these keys, in every scope and form, in the order written."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has one."""
        ...

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session from one position to another, by position and then by the order of writing."""
        ...

    def jobs(self, task: str | None = None, limit: int = 1000) -> list[Job]:
        """What is left to do, the first due first."""
        ...

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """The journal, newest first: of a verb, or about a memory."""
        ...


Plan = Callable[[Reader], Batch]
"""What to write, made of the store as it stands."""


class Store(Reader, Protocol):
    """Where memories are kept. One store holds one space."""

    @property
    def space(self) -> str:
        """The name of the space."""
        ...

    @property
    def embedding(self) -> str | None:
        """The embedding generation of the store's vectors, None before the first."""
        ...

    def adopt(self, embedding: str, dim: int) -> None:
        """Declare the embedding generation of vectors to come; refused when the store has another."""
        ...

    def prepare(self, embedding: str, dim: int) -> None:
        """Make room for vectors of another embedding generation, beside those that are searched."""
        ...

    def lacking(self, embedding: str, limit: int) -> list[Memory]:
        """Memories in every form that have no vectors of a prepared generation, in the order written."""
        ...

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors of a prepared generation, of those memories whose text is still the one given."""
        ...

    def switch(self, embedding: str) -> bool:
        """Search by a prepared generation from now on, and drop every other; at once, or not at all.

        False while any memory lacks its vectors: those written meanwhile have vectors of the old one only.
        """
        ...

    def put(self, batch: Batch) -> list[Memory]:
        """Write a batch atomically and return its memories as the store now has them.

        A known id with the same text changes nothing; another text makes a new version, and the old one is history.
        """
        ...

    def update(self, plan: Plan) -> list[Memory]:
        """`put` what a plan makes of the store, with nobody writing in between; returns as `put` does.

        The plan asks the reader it is given and nothing else of the store, and is quick: others wait for it. It may be
        asked again where a connection was lost before anything was written.
        """
        ...

    def embedded(self, ids: Sequence[str]) -> set[str]:
        """Which of these memories have vectors of the store's embedding generation."""
        ...

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Memories that a filter admits, in the order they were written."""
        ...

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position, itself included; unknown ids are left out."""
        ...

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count a recall of each memory; invalidates no cache."""
        ...

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        """Remember that a session was shown these memories."""
        ...

    def shown(self, session: str, since: datetime) -> set[str]:
        """What a session was shown since a moment."""
        ...

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        """Add texts that say nothing to the noise bank, which keeps the newest `keep`."""
        ...

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first."""
        ...

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Erase memories with their versions, vectors, links, usage and showings; returns the ids that went."""
        ...

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Leave no byte of what was erased in any file; False while a reader elsewhere holds the files as they were.

        With `rewrite` it writes its files anew: for what other processes erased, of which it does not know what to
        look for. `delete` does this by itself, as far as it can at once; `put` and `update` leave it to the caller.
        """
        ...

    def view(self) -> View:
        """The newest state, including what other processes have committed."""
        ...

    def stats(self) -> StoreStats:
        """How much there is."""
        ...

    def records(self) -> Generator[StoreStats | Record]:
        """How much there is, then all of it as of one moment, each sort in the order written or else by id.

        To be read to its end, or closed, by the thread that began.
        """
        ...

    def backup(self, path: Path) -> None:
        """Copy the store as of one moment to a new file, and check the copy; others may go on writing."""
        ...

    def close(self) -> None:
        """Release files and connections; twice is harmless."""
        ...

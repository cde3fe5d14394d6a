"""The store port, in parts: each consumer asks for the part that it needs, and `Store` is their sum.

`Reader` answers questions, `Updater` writes, `View` searches, `Bookkeeping` counts recalls and showings,
`Embeddings` changes the embedding generation, and `Maintenance` looks after the store as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from memorist.model import Entity, FactGraph, Filter, Hit, Link, Memory, Related
from memorist.ports.values import Batch, Held, Record, Tally, TextField, Vectors
from memorist.results.records import Entry, Job, Page, StoreStats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memorist.ports.values import Vector


class View(Protocol):
    """The store as one recall sees it: consistent, read-only, and shared by all signals of the recall.

    Searches return hits best first, ties by id, and apply the filter themselves.
    """

    @property
    def generation(self) -> int:
        """The content counter of the store when this view was taken."""
        ...

    @property
    def embedding(self) -> str | None:
        """The embedding generation of its vectors, None without vectors; probes must be of the same generation."""
        ...

    @property
    def size(self) -> int:
        """The number of memories in the view."""
        ...

    def part(self, lowest: int, highest: int) -> View:
        """The memories between two classifications, both inclusive: counts and statistics know of no others."""
        ...

    def may_hold(self, words: Sequence[str]) -> bool:
        """Whether some memory has all of these words, as the index spells them, in its text."""
        ...

    def search_text(
        self,
        text: str,
        where: Filter,
        limit: int,
        *,
        fields: tuple[TextField, ...] = ("text", "original"),
        dates: Sequence[tuple[datetime, datetime]] = (),
    ) -> list[Hit]:
        """BM25 over stems and CJK bigrams; positive, larger is better.

        Each of the `dates` [start, end) is one more word of the query: a memory has it once if it mentions a time that
        lies wholly within.
        """
        ...

    def search_trigram(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = ("text", "original")
    ) -> list[Hit]:
        """Trigram similarity of words, which tolerates typos: the mean weighted by rarity, 0 to 1."""
        ...

    def search_substring(
        self, text: str, where: Filter, limit: int, *, fields: tuple[TextField, ...] = ("text", "original")
    ) -> list[Hit]:
        """BM25 over the words that contain a query word, such as parts of names and identifiers.

        A query word that no admitted memory has is taken for a typo: words spelt like it count, weighted by their
        similarity, which is below 1.
        """
        ...

    def search_vector(self, probes: Vector, where: Filter, limit: int) -> list[Hit]:
        """The largest cosine of any probe (a row of the matrix) with any view of a memory; −1 to 1."""
        ...

    def search_signature(self, text: str, where: Filter, limit: int, *, bits: int = 256) -> list[Hit]:
        """The share of equal bits in word signatures of that length; about 0.5 for unrelated texts."""
        ...

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
        """Memories said in a window or mentioning a time in it: 1 inside, less outside, 0 from `reach` on.

        Outside it is 1 / (1 + gap / (length of the window + a day)). A mentioned time that is longer than the window
        counts the square root of the window's share of it. With said=False, only mentioned times count.
        """
        ...

    def following(self, id: str) -> View:
        """This view, whose searches find one memory alone; a part of its hit is its rank among all."""
        ...

    def without_facts(self) -> View:
        """This view, whose searches leave out facts that join two entities: the edges of the graph."""
        ...

    def tally(self, where: Filter) -> Tally:
        """How many memories there are, by each label and by the day on which they became known."""
        ...

    def newest(self, where: Filter, limit: int, after: Hit | None = None) -> list[Hit]:
        """The memories that became known last, newest first, scored by that moment; `after` is the last of a page."""
        ...

    def graph(self, where: Filter) -> tuple[FactGraph, NDArray[np.bool_]]:
        """The entity graph and a mask of the edges that the filter admits; the same object while no edge is added."""
        ...

    def related(self, names: Collection[str], where: Filter, limit: int) -> list[Related]:
        """The pairs of entities of which one is among these, given without their classification.

        All pairs that facts relate; of the others, the `limit` that most memories mention together, ties by name.
        """
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """The `text` view of each memory that has one."""
        ...

    def cosines(self, probes: Vector, ids: Sequence[str]) -> dict[str, float]:
        """The cosine that `search_vector` gives each of these memories that has a vector, for the same probes."""
        ...


class Reader(Protocol):
    """Answers questions about a store, from outside or within a write."""

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, with their usage; unknown ids are left out."""
        ...

    def history(self, id: str) -> list[Memory]:
        """All versions of a memory, newest first."""
        ...

    def links(self, ids: Sequence[str], *relations: str) -> list[Link]:
        """Links that start or end at any of these ids, with one of these relations (any relation if none is given)."""
        ...

    def entities(self, names: Sequence[str]) -> list[Entity]:
        """Entities whose name or alias is one of these, ignoring case."""
        ...

    def entities_by_id(self, ids: Sequence[str]) -> list[Entity]:
        """The entities with these ids; unknown ids are left out."""
        ...

    def entities_by_prefix(self, names: Sequence[str]) -> list[Entity]:
        """Entities with a name or alias that shares a three-letter prefix with one of these: possible matches."""
        ...

    def by_key(self, keys: Sequence[str]) -> list[Memory]:
        """Every memory with one of these keys, in every scope and form, in the order written."""
        ...

    def by_text(self, texts: Sequence[str]) -> list[Memory]:
        """The current memories whose text is the same as one of these, in every scope and in the order written.

        Texts that differ only in case, white space and a final full stop are the same.
        """
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """All views of each memory that has vectors."""
        ...

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session between two positions, ordered by position and then by the order of writing."""
        ...

    def last_position(self, session: str) -> int | None:
        """The position of the last turn of a session; None if no turn has one."""
        ...

    def jobs(self, task: str | None = None, limit: int = 1000, subject: str | None = None) -> list[Job]:
        """Pending jobs, earliest due first; optionally of one task, or about one subject."""
        ...

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """Journal entries, newest first; optionally of one verb, or about one memory."""
        ...


Plan = Callable[[Reader], Batch]
"""Makes a batch from the current state of the store."""


class Updater(Protocol):
    """Writes to a store."""

    def put(self, batch: Batch) -> list[Memory]:
        """Write a batch atomically and return its memories as the store now has them.

        A known id with the same text changes nothing. A known id with another text, or with a later version of the same
        text, makes a new version, and the old one becomes history.
        """
        ...

    def update(self, plan: Plan, draft: Batch | None = None) -> list[Memory]:
        """`put` the batch that a plan makes from the store, with no other write in between; returns as `put` does.

        The plan runs inside the write lock, so it must be quick and may only ask the reader that it is given. It may
        run again if a connection is lost before anything is written. `draft` holds memories and vectors that the plan
        will probably write: a store encodes them before it takes the lock.
        """
        ...

    def delete(self, ids: Sequence[str]) -> list[str]:
        """Erase memories with their versions, vectors, links, usage and showings; returns the erased ids."""
        ...


class Listing(Protocol):
    """Lists memories by a filter or by their place in a session."""

    def scan(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Memories that a filter admits, in the order written."""
        ...

    def neighbours(self, ids: Sequence[str], before: int, after: int) -> dict[str, list[Memory]]:
        """The memories around each of these in its session, by position, itself included; unknown ids are left out."""
        ...


class Searcher(Protocol):
    """Gives views to search."""

    def view(self) -> View:
        """The newest state, including what other processes have committed."""
        ...


class Bookkeeping(Protocol):
    """Counts recalls, remembers what was shown, and keeps the noise bank; none of it invalidates a cache."""

    def touch(self, ids: Sequence[str], at: datetime) -> None:
        """Count a recall of each memory."""
        ...

    def show(self, session: str, ids: Sequence[str], at: datetime) -> None:
        """Remember that a session was shown these memories."""
        ...

    def shown(self, session: str, since: datetime) -> set[str]:
        """The memories that a session was shown since a moment."""
        ...

    def learn_noise(self, texts: Sequence[str], *, keep: int) -> None:
        """Add meaningless texts to the noise bank, which keeps the newest `keep`."""
        ...

    def noise(self) -> list[str]:
        """The texts of the noise bank, oldest first."""
        ...


class Embeddings(Protocol):
    """Manages the embedding generation of a store's vectors, and the change to another one."""

    @property
    def embedding(self) -> str | None:
        """The embedding generation of the store's vectors, None before the first."""
        ...

    def adopt(self, embedding: str, dim: int) -> None:
        """Declare the embedding generation of vectors to come; refused when the store has another."""
        ...

    def embedded(self, ids: Sequence[str]) -> set[str]:
        """Which of these memories have vectors of the store's embedding generation."""
        ...

    def prepare(self, embedding: str, dim: int) -> None:
        """Make room for vectors of another embedding generation, next to the searched ones."""
        ...

    def without_vectors(self, embedding: str, limit: int) -> list[Memory]:
        """Memories in every form without vectors of a prepared generation, in the order written."""
        ...

    def add_vectors(self, embedding: str, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors of a prepared generation for those memories whose text is unchanged."""
        ...

    def switch(self, embedding: str) -> bool:
        """Search a prepared generation from now on and drop every other, atomically.

        False while any memory lacks vectors of it: memories written meanwhile have vectors of the old one only.
        """
        ...


class Maintenance(Protocol):
    """Looks after a store as a whole."""

    @property
    def space(self) -> str:
        """The name of the space."""
        ...

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Remove every byte of erased data from the files; False while a reader elsewhere still uses the old state.

        With `rewrite` all files are rewritten, which also covers what other processes erased. `delete` scrubs by
        itself as far as it can at once; after `put` and `update` the caller has to.
        """
        ...

    def stats(self) -> StoreStats:
        """The size of the store."""
        ...

    def held(self, since: int = 0) -> Held:
        """How much there is; after an earlier content counter, at least what changed, which is cheap to count."""
        ...

    def records(self) -> Generator[StoreStats | Record]:
        """The statistics, then every record as of one moment, each kind in the order written or else by id.

        The thread that starts the generator must exhaust or close it.
        """
        ...

    def close(self) -> None:
        """Release files and connections; safe to call twice."""
        ...


class Store(Reader, Listing, Updater, Searcher, Bookkeeping, Embeddings, Maintenance, Protocol):
    """Where memories are kept. One store holds one space."""

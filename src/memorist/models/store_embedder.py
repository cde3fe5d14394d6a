"""The embedder of one store: the model that made its vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from threading import local
from typing import TYPE_CHECKING, TypeVar

from memorist.errors import EmbeddingMismatch, InvalidInput, Remedy, VerbCall, failures_of
from memorist.model import Memory, new_or_changed
from memorist.models.embedding_text import (
    TEXT,
    TurnsAround,
    alone,
    generation_of,
    maker_of,
    readings,
    turns_after,
    turns_before,
)
from memorist.models.folder import DEFAULT_SET, how_to_install
from memorist.ports import Embedded, Embedder, Progress, Purpose, Store, Vectors
from memorist.ports.models import load_ahead

if TYPE_CHECKING:
    from memorist.ports import Vector


logger = logging.getLogger("memorist")
T = TypeVar("T")
ATTEMPTS = 5
"""How often a write is begun while others re-embed the store."""


class StoreEmbedder:
    """The embedder that made a store's vectors, or the given one for a store that has none.

    The choice is made at each use: another process may re-embed the store, and a remote model must be asked for
    its dimension. `models` is the set of local models that the embedder `local` belongs to.
    """

    def __init__(self, given: Embedder, store: Store, models: str = DEFAULT_SET) -> None:
        self._given = given
        self._models = models
        self._others: list[Embedder] = []
        self._store = store
        self._kept: dict[str, Embedder] = {}
        self._writing = local()
        """The generation that this thread's write began with: the store refuses vectors of another."""

    def know(self, other: Embedder) -> None:
        """Serve another embedder's vectors too, from the moment at which the store changes to them."""
        if other not in self._others:
            self._others.append(other)

    def replace(self, given: Embedder) -> None:
        """Use another embedder; the old one still serves recalls that began with it."""
        if given is not self._given:
            self._others.append(self._given)
            self._given = given

    def retry_if_reembedded(self, write: Callable[[], T]) -> T:
        """Embed and write; if the store is re-embedded in between, do both again."""
        for _ in range(ATTEMPTS - 1):
            before = self._store.embedding
            self._writing.generation = before
            try:
                return write()
            except EmbeddingMismatch:
                if self._store.embedding == before:
                    raise
            finally:
                self._writing.generation = None
        return write()

    def making(self, generation: str | None) -> Embedder:
        """The embedder that makes vectors of a generation: the given one, or an installed one."""
        if generation is None or generation == generation_of(self._given):
            return self._given
        found = self._kept.get(generation) or self._other(generation)
        if found is None:
            raise self._mismatch(generation)
        self._kept[generation] = found
        return found

    def makes(self, generation: str) -> bool:
        """Whether it can make vectors of a generation."""
        try:
            return generation_of(self.making(generation)) == generation
        except EmbeddingMismatch:
            return False

    def named(self, chosen: Embedder | str | None) -> Embedder:
        """The embedder for a setting; None means the given one."""
        from memorist.models.embedders import build

        found = build(chosen, models=self._models) if chosen is not None else self._given
        if found is None:
            raise InvalidInput("The embedder 'none' makes no vectors", remedy="Choose an embedder, such as 'local'.")
        return found

    def _other(self, generation: str) -> Embedder | None:
        from memorist.models.embedders import packaged_embedder

        other = next((embedder for embedder in list(self._others) if generation_of(embedder) == generation), None)
        maker = maker_of(generation)
        if other is None and maker is not None and (found := packaged_embedder(maker)) is not None:
            logger.warning("space %r keeps its own embedder %s until it is re-embedded", self._store.space, generation)
            return found
        return other

    def _mismatch(self, generation: str) -> EmbeddingMismatch:
        ours = generation_of(self._given)
        install = how_to_install(generation.partition(":")[0]) or "Open it with that embedder."
        return EmbeddingMismatch(
            f"The vectors of space {self._store.space!r} were made by {generation!r}, not by {ours!r}",
            remedy=Remedy(
                *("Run ", VerbCall("reembed"), f" for new vectors. Or keep these: {install[0].lower()}{install[1:]}"),
                *(" To go on by words alone: ", VerbCall("open", {"embedder": "none"}), "."),
            ),
        )

    def at(self, generation: str | None) -> Embedder:
        """This embedder fixed to the generation of one view's vectors, for the searches of that view."""
        return _Bound(self, generation)

    def within(self, part: Store) -> StoreEmbedder:
        """This embedder for a part of the store: it reads a turn only with turns of that part."""
        return _Within(self, part)

    def vectors(
        self, memories: Sequence[Memory], stored: Mapping[str, Memory] | None = None, near: TurnsAround | None = None
    ) -> dict[str, Vectors]:
        """Vectors of the memories that need them, and of stored turns that now follow one of them, by id and view.

        `stored` are the memories that the store has under their ids, and `near` the turns around them, if that is
        known.
        """
        ids = [memory.id for memory in memories]
        there = self._store.get(ids) if stored is None else {id: stored[id] for id in ids if id in stored}
        embedded = self._store.embedded(list(there)) if there else set[str]()
        known = {id: one for id, one in there.items() if id in embedded}
        new = new_or_changed(memories, known)
        same = [memory.id for memory in new if memory.id in known and alone(memory) == alone(known[memory.id])]
        new = [memory for memory in new if memory.id not in same]
        near = TurnsAround(new, self._store) if near is None else near
        read = [*new, *turns_after(new, near)]
        made = self.of_views(readings(read, turns_before(read, near, new)))
        return {**made, **self._store.vectors(same)} if same else made

    def of_views(self, texts: Mapping[str, Mapping[str, str]]) -> dict[str, Vectors]:
        """Vectors of several texts per memory, given and returned by id and view; one call of the embedder."""
        rows = self._made([text for views in texts.values() for text in views.values()])
        return {
            id: Embedded(rows[views[TEXT]].generation, {view: rows[text][TEXT] for view, text in views.items()})
            for id, views in texts.items()
        }

    def of_texts(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of texts, by text; a store that is re-embedded before they are written refuses them."""
        return dict(self._made(texts))

    def _made(self, texts: Sequence[str]) -> dict[str, Embedded]:
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return {}
        generation = getattr(self._writing, "generation", None) or self._store.embedding
        embedder = self.making(generation)
        made_by = generation_of(embedder)
        with failures_of("The embedder"):
            rows = embedder.embed(distinct, purpose="memory")
        if generation is None:
            self._store.adopt(made_by, embedder.dim)
        return {text: Embedded(made_by, {TEXT: row}) for text, row in zip(distinct, rows, strict=True)}


class _Within(StoreEmbedder):
    """A store's embedder for a part of the store; the store decides which model makes the vectors."""

    def __init__(self, owner: StoreEmbedder, part: Store) -> None:
        super().__init__(owner._given, part, owner._models)
        self._owner = owner

    def making(self, generation: str | None) -> Embedder:
        return self._owner.making(generation)


class _Bound:
    """A store's embedder fixed to one generation, so that a recall never mixes two."""

    def __init__(self, owner: StoreEmbedder, generation: str | None) -> None:
        self._owner = owner
        self._generation = generation

    @property
    def generation(self) -> str:
        return generation_of(self._owner.making(self._generation))

    @property
    def dim(self) -> int:
        return self._owner.making(self._generation).dim

    def load(self) -> None:
        load_ahead(self._owner.making(self._generation))

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        embedder = self._owner.making(self._generation)
        with failures_of("The embedder"):
            return embedder.embed(texts, purpose=purpose, progress=progress)

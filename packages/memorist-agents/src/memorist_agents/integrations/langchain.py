"""LangChain: a retriever over a memory, and LangChain's embeddings as an embedder of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from memorist.integrations import Source, framework, opened
from memorist.model import Item, Memory, Recall, RecallOptions, isoformat
from memorist.verbs import Verbs

with framework("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field, PrivateAttr

if TYPE_CHECKING:
    from memorist.ports import Progress
    from memorist.ports.models import Purpose
    from memorist.ports.values import Vector

__all__ = ["LangChainEmbedder", "MemoristRetriever"]


class MemoristRetriever(BaseRetriever):
    """Finds memories as LangChain documents, best first: the items of a `recall`, or its context as one document.

    `memory` is an open memory, a file, a database URL or the address of a server. `options` are keywords of `recall`,
    such as `scope`, `where` or `min_confidence`. Who asks is `user_id` in the metadata of the run, unless they say so.
    If a recall abstains, there are no documents.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Any = Field(description="An open memory, or where one is.")
    k: int = Field(default=10, ge=1, description="The most documents to return.")
    give: Literal["items", "context"] = Field(
        default="items", description="One document per memory, or one with the fenced and cited context for a prompt."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="More keywords of `recall`.")
    _owned: bool = PrivateAttr(default=False)

    def __init__(self, memory: Source, **fields: Any) -> None:
        given: dict[str, Any] = {"memory": opened(memory), **fields}
        super().__init__(**given)
        self._owned = isinstance(memory, str | Path)

    def close(self) -> None:
        """Close the memory, if the retriever opened it."""
        if self._owned:
            cast("Verbs", self.memory).close()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **options: Any
    ) -> list[Document]:
        user = run_manager.metadata.get("user_id")
        asker = {"speaker": user} if isinstance(user, str) and user else {}
        asked = cast("RecallOptions", {"limit": k or self.k, **asker, **self.options, **options})
        found = cast("Verbs", self.memory).recall(query, **asked)
        if found.abstained:
            return []
        return [_context(found)] if self.give == "context" else [_document(item, found) for item in found.items]


def _context(found: Recall) -> Document:
    data = {"recall": found.id, "confidence": found.confidence, "memories": [item.memory.id for item in found.items]}
    return Document(id=found.id, page_content=found.context, metadata=data)


def _document(item: Item, found: Recall) -> Document:
    data = {"score": item.score, "rank": item.rank, "probability": item.probability, "confidence": found.confidence}
    return Document(id=item.memory.id, page_content=item.memory.text, metadata={**_labels(item.memory), **data})


def _labels(memory: Memory) -> dict[str, Any]:
    """Where and when a memory comes from, and how far to trust it; `metadata` is what its writer added."""
    origin, times, worth = memory.origin, memory.times, memory.worth
    known: dict[str, Any] = {
        "id": memory.id,
        "source": origin.source,
        "session": origin.session,
        "speaker": origin.speaker,
        "scope": memory.scope,
        "kind": str(memory.kind),
        "valid_from": isoformat(times.valid_from),
        "valid_to": None if times.valid_to is None else isoformat(times.valid_to),
        "ingested_at": isoformat(times.ingested_at),
        "trust": worth.trust,
        "flags": list(worth.flags),
    }
    return {**known, "metadata": dict(memory.metadata)}


class LangChainEmbedder:
    """LangChain's embeddings as the embedder of a memory: `memorist.open(path, embedder=LangChainEmbedder(…))`.

    `name` tells its vectors from those of other models; by default it is made of the class and its model's name.
    """

    def __init__(self, embeddings: Embeddings, *, dim: int | None = None, name: str | None = None) -> None:
        self._embeddings = embeddings
        self._dim = dim
        model = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
        self._name = name or ":".join(part for part in (type(embeddings).__name__, model) if isinstance(part, str))

    @property
    def generation(self) -> str:
        """The name of its vectors."""
        return f"langchain:{self._name}:{self.dim}"

    @property
    def dim(self) -> int:
        """The dimension of its vectors; the model is asked once if it was not given."""
        if self._dim is None:
            self._dim = len(self._embeddings.embed_query("dimension"))
        return self._dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One unit vector per text, as rows."""
        import numpy as np

        if purpose == "query":
            rows = [self._embeddings.embed_query(text) for text in texts]
        else:
            rows = self._embeddings.embed_documents(list(texts))
        vectors = np.asarray(rows, np.float32).reshape(len(texts), -1)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if progress is not None:
            progress(len(texts))
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

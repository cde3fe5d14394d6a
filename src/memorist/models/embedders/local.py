"""Local embedders: ONNX Runtime, tokenizers and numpy, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memorist.models.batched import BatchedModel
from memorist.models.embedders.prefixes import prefixes_for
from memorist.models.folder import INPUTS, ModelFolder, OnnxGraph
from memorist.ports import Progress, Purpose

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

    from memorist.ports import Vector


SENTENCE_OUTPUTS = ("embedding", "sentence_embedding")
TOKEN_OUTPUTS = ("tokens", "last_hidden_state", "token_embeddings")
BATCHES_AT_ONCE = 32
"""Batches that wait for the model at a time; the number of texts of one call has no limit."""


class OnnxEmbedder:
    """A sentence embedding model in a folder, loaded on first use; thread-safe.

    Only texts with the same number of tokens run in one batch, without padding. With the packaged model, the vector of
    a text is bit-identical in every batch.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self._folder = folder
        self._prefixes = prefixes_for(folder.manifest.name)
        self._dim = folder.manifest.dim
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @classmethod
    def from_folder(cls, path: str | Path) -> OnnxEmbedder:
        """The model in a folder with `model.onnx` and `tokenizer.json`."""
        return cls(ModelFolder(Path(path)))

    @property
    def generation(self) -> str:
        """Model name, checksum prefix and dimension, and the prefixes if the model uses any."""
        parts = (self._folder.manifest.name, self._folder.checksum[:8], str(self.dim), self._prefixes.name)
        return ":".join(part for part in parts if part)

    @property
    def dim(self) -> int:
        """The dimension of the vectors; loads the model only if the manifest does not state it."""
        if self._dim is None:
            self._dim = self._load().width()
        return self._dim

    def load(self) -> None:
        """Load the model, which the first text would do otherwise."""
        self._load()

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One unit vector per text. Only the beginning of a text that is too long counts."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        if not texts:
            return rows
        loaded = self._load()
        ids = [self._encode(self._prefixes.apply(text, purpose)).ids for text in texts]
        batches = equal_length_batches([len(id) for id in ids], self._folder.manifest.tokens_per_batch)
        for start in range(0, len(batches), BATCHES_AT_ONCE):
            some = batches[start : start + BATCHES_AT_ONCE]
            # A tokenizer without special tokens returns no tokens for an empty text; use token 0 instead.
            rows_of_ids = [np.array([ids[place] or [0] for place in places], dtype=np.int64) for places in some]
            for places, vectors in zip(some, loaded.sentences(rows_of_ids, purpose), strict=True):
                rows[places] = vectors
                if progress is not None:
                    progress(len(places))
        return rows

    def _encode(self, text: str) -> Encoding:
        # One by one: a batch would start the threads of the tokenizer, which do not survive a fork.
        return self._load().tokenizer.encode(self._folder.cut(text))

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._folder)
        return self._loaded


def equal_length_batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Indices of texts with the same length, at most `tokens` tokens per batch; longest first."""
    places: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        places.setdefault(length, []).append(place)
    batches: list[list[int]] = []
    for length in sorted(places, reverse=True):
        size = max(1, tokens // max(1, length))
        batches.extend(places[length][start : start + size] for start in range(0, len(places[length]), size))
    return batches


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A graph with its tokenizer; `per_token` tells whether it gives a vector per token rather than per text."""

    model: BatchedModel
    tokenizer: Tokenizer
    per_token: bool

    def width(self) -> int:
        """The dimension of the vectors, from a trial run."""
        return self.sentences([np.zeros((1, 1), dtype=np.int64)], "query")[0].shape[1]

    def sentences(self, batches: Sequence[NDArray[np.int64]], purpose: Purpose) -> list[Vector]:
        """For each batch, one unit vector per row of ids."""
        made = [output for (output,) in self.model(list(map(_inputs, batches)), question=purpose == "query")]
        return [_unit(rows.mean(axis=1) if self.per_token else rows) for rows in made]


def _load(folder: ModelFolder) -> _Loaded:
    graph = folder.open_graph()
    sentence, token = _outputs(folder, graph)
    output = sentence if sentence is not None else token
    assert output is not None
    model = BatchedModel(partial(graph.run_all, (output,)), folder.manifest.tokens_per_batch, "embedder")
    loaded = _Loaded(model, folder.open_tokenizer(), per_token=sentence is None)
    try:
        width = loaded.width()
    except Exception as error:  # the exceptions of ONNX Runtime have no public base class
        raise folder.unusable(f"it does not run: {error}") from error
    if folder.manifest.dim not in (None, width):
        raise folder.unusable(f"its vectors have {width} numbers, its manifest says {folder.manifest.dim}")
    return loaded


def _outputs(folder: ModelFolder, graph: OnnxGraph) -> tuple[str | None, str | None]:
    """The sentence and token outputs: those that the manifest declares, else those with common names."""
    declared = folder.manifest.outputs
    if missing := sorted(set(declared.values()) - set(graph.outputs)):
        raise folder.unusable(f"it has no output {missing[0]}, only {', '.join(graph.outputs)}")
    if declared:
        sentence, token = declared.get("embedding"), declared.get("tokens")
    else:
        sentence, token = (_first(names, graph.outputs) for names in (SENTENCE_OUTPUTS, TOKEN_OUTPUTS))
    if sentence is None and token is None:
        wanted = ", ".join((*SENTENCE_OUTPUTS, *TOKEN_OUTPUTS))
        raise folder.unusable(f"it gives {', '.join(graph.outputs)}, none of which is {wanted}")
    return sentence, token


def _first(names: Sequence[str], among: Sequence[str]) -> str | None:
    return next((name for name in names if name in among), None)


def _inputs(ids: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    return dict(zip(INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))


def _unit(rows: Vector) -> Vector:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), np.float32(1e-12))
